"""The report in a real browser: nothing foreign, nothing broken, all works."""

import csv
import io
import json

import pytest
from builders import annotation, coco_dataset, entry, write
from PIL import Image
from report_builders import jittered

from mmdet_cppe5.cli.main import main

EVIL = '<script>alert("x")</script>'
AMPERSAND = 'a&b \'c\' "d" </script><!-- $x$'


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    """A drawn data set with hostile names, and two detectors' results."""
    folder = tmp_path_factory.mktemp('report')
    (folder / 'images').mkdir()
    boxes = []
    for image_id in range(1, 9):
        for k in range(3):
            corner = [40 + 150 * k, 30 + 35 * image_id]
            boxes.append(
                annotation(image_id, 1 + (image_id + k) % 3, [*corner, 90, 70])
            )
    names = {1: EVIL, 2: AMPERSAND, 3: 'plain'}
    truth = coco_dataset(boxes, range(1, 9), names)
    truth['images'][0]['file_name'] = '<img src=x onerror=alert(1)>.png'
    write(folder / 'truth.json', truth)
    for image in truth['images']:
        picture = Image.new('RGB', (640, 480), (40, 90, 30 * image['id']))
        picture.save(folder / 'images' / image['file_name'])
    write(folder / f'{"x" * 40} & <b>.json', jittered(truth, 1))
    write(folder / 'other.json', jittered(truth, 2, miss=0.5))
    return folder


@pytest.fixture(scope='module')
def report(folder):
    """The report's path, made by the command line."""
    code = main(
        [
            'report',
            str(folder / 'truth.json'),
            str(folder / f'{"x" * 40} & <b>.json'),
            str(folder / 'other.json'),
            '--images',
            str(folder / 'images'),
            '--out',
            str(folder / 'report.html'),
            '--resamples',
            '50',
            '--figures',
            str(folder / 'figures'),
            '--tables',
            str(folder / 'tables'),
        ]
    )
    assert code == 0
    return folder / 'report.html'


@pytest.fixture(scope='module')
def opened(report, open_page):
    """The report in a browser, and the list of what must not happen."""
    return open_page(report)


def test_opens_from_disk_without_errors_or_requests(opened):
    page, faults = opened
    assert page.title().startswith('How good is xxxx')
    assert page.locator('main > section').count() == 12
    assert faults == []


def test_hostile_names_stay_text(opened):
    page, faults = opened
    table = page.locator('#class-table tbody th')
    assert table.all_inner_texts() == [EVIL, AMPERSAND, 'plain']
    assert page.locator('script:not([type])').count() == 1
    assert page.locator('img').count() == 0
    assert '<img src=x onerror=alert(1)>.png' in (
        page.locator('#image-table tbody th').all_inner_texts()
    )
    assert 'xx & <b>' in page.locator('h1').inner_text()
    assert faults == []


def test_tables_sort_both_ways(opened):
    page, _ = opened
    column = page.locator('#image-table tbody tr td:nth-child(4)')
    head = page.locator('#image-table thead th').nth(3)
    assert head.inner_text().startswith('FP')
    for direction in ('descending', 'ascending'):
        head.locator('button').click()
        assert head.get_attribute('aria-sort') == direction
        values = [int(text) for text in column.all_inner_texts()]
        reverse = direction == 'descending'
        assert values == sorted(values, reverse=reverse)
        assert len(set(values)) > 1
    names = page.locator('#image-table thead th').first.locator('button')
    names.press('Enter')
    shown = page.locator('#image-table tbody th').all_inner_texts()
    assert shown[-1] == '8.png'


def test_images_can_be_found_by_name(opened):
    page, _ = opened
    field = page.locator('input[data-table=image-table]')
    field.fill('ONERROR')
    visible = page.locator('#image-table tbody tr:visible')
    assert visible.count() == 1
    counted = page.locator('output[data-count=image-table]')
    assert counted.inner_text() == '1 of 8 rows'
    field.fill('')
    assert visible.count() == 8


def test_gallery_filters(opened):
    page, faults = opened
    visible = page.locator('.card:visible')
    everything = visible.count()
    output = page.locator('#gallery-filters output.count')
    assert output.inner_text() == f'{everything} of {everything} examples'

    boxes = page.locator('#gallery-filters input[name=error]')
    for index in range(boxes.count()):
        if boxes.nth(index).get_attribute('value') != 'Miss':
            boxes.nth(index).press('Space')
    assert set(_values(visible, 'data-error')) == {'Miss'}
    assert page.locator('.group:visible').count() == 1

    page.get_by_role('button', name='Show all').click()
    page.locator('.card[hidden]').first.wait_for(state='detached')
    assert visible.count() == everything

    page.locator('#gallery-filters select').select_option(EVIL)
    classes = [json.loads(text) for text in _values(visible, 'data-classes')]
    assert classes
    assert all(EVIL in each for each in classes)
    assert len(classes) < everything

    page.locator('#gallery-filters input[name=image]').fill('no such image')
    assert visible.count() == 0
    assert page.locator('.nothing').is_visible()
    page.get_by_role('button', name='Show all').click()
    page.locator('.card[hidden]').first.wait_for(state='detached')
    assert visible.count() == everything
    assert faults == []


def _values(locator, attribute):
    return locator.evaluate_all(
        f'cards => cards.map(card => card.getAttribute("{attribute}"))'
    )


def test_lightbox_by_mouse_and_keyboard(opened):
    page, faults = opened
    dialog = page.locator('#lightbox')
    page.locator('#image-table button.link', has_text='onerror').click()
    assert dialog.is_visible()
    title = page.locator('#lightbox-title')
    assert title.inner_text() == '<img src=x onerror=alert(1)>.png'
    # Three objects, found or missed; ground truth goes and comes with G.
    truths = page.locator('.stage rect.gt, .stage rect.missed')
    assert truths.count() == 3
    page.keyboard.press('g')
    assert truths.count() == 0
    page.keyboard.press('g')
    assert truths.count() == 3
    page.keyboard.press('ArrowRight')
    assert title.inner_text() == '2.png'
    page.keyboard.press('ArrowLeft')
    page.keyboard.press('ArrowLeft')
    assert title.inner_text() == '8.png'
    slider = page.locator('#lightbox input[type=range]')
    found = page.locator('.stage rect.good, .stage rect.det')
    slider.fill('0')
    all_found = found.count()
    slider.fill('1')
    assert found.count() == 0 < all_found
    page.keyboard.press('Escape')
    assert not dialog.is_visible()
    page.locator('.card button').first.press('Enter')
    assert dialog.is_visible()
    page.keyboard.press('Escape')
    assert faults == []


def test_what_to_fix_leads_to_examples(opened):
    page, faults = opened
    visible = page.locator('.card:visible')
    everything = visible.count()
    link = page.locator('#fix-table button', has_text='Missed object')
    link.click()
    page.locator('.card[hidden]').first.wait_for(state='attached')
    assert set(_values(visible, 'data-error')) == {'Miss'}
    # A bar of the TIDE figure, from the keyboard.
    bar = page.locator('#figure-tide [data-show]').first
    bar.press('Enter')
    page.wait_for_function(
        "() => !document.querySelector('.card[data-error=Miss]:not([hidden])')"
    )
    assert set(_values(visible, 'data-error')) <= {'Cls'}
    # A cell off the diagonal: only examples with both of its classes.
    cell = page.locator('#figure-confusion [data-show*="Both"]').first
    wanted = json.loads(cell.get_attribute('data-show'))['classes']
    cell.dispatch_event('click')
    page.wait_for_function(
        """() => document.querySelector('#gallery-filters .count')
            .textContent.includes(' with ')"""
    )
    for text in _values(visible, 'data-classes'):
        assert set(wanted) <= set(json.loads(text))
    page.get_by_role('button', name='Show all').click()
    page.locator('.card[hidden]').first.wait_for(state='detached')
    assert visible.count() == everything
    assert faults == []


def test_worklist_of_ticked_examples(opened, report):
    page, faults = opened

    def download(kind):
        with page.expect_download() as waiting:
            page.locator(f'[data-download={kind}]').click()
        return waiting.value.path().read_text()

    shown = page.locator('.card:visible').count()
    assert len(list(csv.DictReader(io.StringIO(download('csv'))))) == shown
    card = page.locator('.card[data-error=Cls]').first
    card.locator('input').check()
    item = json.loads(card.get_attribute('data-work'))
    (row,) = csv.DictReader(io.StringIO(download('csv')))
    assert row['error'] == 'Cls'
    assert float(row['score']) == item['score']
    assert [float(row[k]) for k in ('x', 'y', 'width', 'height')] == (
        item['bbox']
    )
    coco = json.loads(download('json'))
    truth = json.loads((report.parent / 'truth.json').read_text())
    (made,) = coco['annotations']
    assert made['bbox'] == item['bbox']
    assert made['attributes']['detection'] == item['detection']
    (image,) = coco['images']
    assert image in truth['images']
    assert coco['categories'] == truth['categories']
    card.locator('input').uncheck()
    assert faults == []


def test_score_slider_and_lightbox_follow_the_filter(opened):
    page, faults = opened
    slider = page.locator('#gallery-filters input[name=score]')
    slider.fill('0.6')
    shown = page.locator('.card:visible')
    scores = [float(text) for text in _values(shown, 'data-score')]
    assert scores
    assert min(scores) >= 0.6
    names = set(_values(shown, 'data-image'))
    shown.first.locator('button').click()
    assert page.locator('.stage rect.focus').count() == 1
    facts = page.locator('#lightbox .facts').inner_text()
    assert f'1 of {len(names)} ·' in facts
    page.keyboard.press('Escape')
    page.get_by_role('button', name='Show all').click()
    page.locator('.card[hidden]').first.wait_for(state='detached')
    assert faults == []


def test_detectors_object_by_object(opened):
    page, faults = opened
    pair = page.locator('#objects details')
    assert pair.count() == 1
    pair.locator('summary').click()
    numbers = pair.locator('tbody tr').first.locator('td').all_inner_texts()
    # 8 images of 3 objects: fixed, broken, missed by both, found by both.
    assert sum(map(int, numbers[:4])) == 24
    pair.locator('.card button').first.click()
    chosen = page.locator('#detector')
    found = page.locator('.stage rect.good, .stage rect.det')
    page.locator('#lightbox input[type=range]').fill('0')
    mine = found.count()
    page.keyboard.press('Escape')
    pair.locator('.card button').first.click()
    chosen.select_option('other')
    assert found.count() != mine
    chosen.select_option('')
    assert found.count() == mine
    page.keyboard.press('Escape')
    pair.locator('summary').click()
    assert faults == []


def test_photos_are_kept_once_and_drawn(opened):
    page, _ = opened
    assert page.locator('.store image').count() == 8
    first = page.locator('.card use').first
    target = first.get_attribute('href')
    assert page.locator(f'.store {target}').count() == 1


@pytest.mark.parametrize('theme', ['light', 'dark'])
def test_themes_follow_the_system_and_the_button(opened, theme):
    page, _ = opened
    page.emulate_media(color_scheme=theme)
    button = page.locator('#theme')
    other = {'light': 'dark', 'dark': 'light'}[theme]

    def lightness(selector, which):
        colour = page.locator(selector).first.evaluate(
            f'element => getComputedStyle(element).{which}'
        )
        return sum(int(v) for v in colour[4:-1].split(',')) / 3

    def is_dark():
        paper = lightness('.drawing', 'backgroundColor')
        ink = lightness('.drawing svg text', 'fill')
        assert abs(paper - ink) > 120  # figures can be read
        assert abs(lightness('body', 'color') - paper) > 120
        return paper < ink

    assert is_dark() == (theme == 'dark')
    assert button.inner_text().lower() == other
    button.click()
    assert is_dark() == (theme == 'light')
    button.click()
    page.evaluate('delete document.documentElement.dataset.theme')
    page.emulate_media(color_scheme='light')


def test_fits_a_phone(opened):
    page, _ = opened
    page.set_viewport_size({'width': 390, 'height': 800})
    width = page.evaluate('document.documentElement.scrollWidth')
    page.set_viewport_size({'width': 1280, 'height': 900})
    assert width == 390


def columns(page, width, media='screen'):
    page.set_viewport_size({'width': width, 'height': 800})
    page.emulate_media(media=media)
    grid = page.locator('#accuracy .drawings').evaluate(
        'element => getComputedStyle(element).gridTemplateColumns'
    )
    page.emulate_media(media='screen')
    page.set_viewport_size({'width': 1280, 'height': 900})
    return len(grid.split())


def test_figures_stand_beside_each_other_where_there_is_room(opened):
    page, _ = opened
    assert columns(page, 1024) == 2
    assert columns(page, 768) == 1
    assert columns(page, 700, 'print') == 2  # as wide as A4


def test_works_by_keyboard_and_says_what_it_shows(opened):
    page, _ = opened
    figures = page.locator('.drawing .canvas')
    labels = figures.evaluate_all(
        'all => all.map(each => each.getAttribute("aria-label"))'
    )
    assert len(labels) > 12
    assert all(len(label) > 15 for label in labels)
    unnamed = page.evaluate(
        """() => [...document.querySelectorAll('button, input, select')]
            .filter(each => !(each.textContent.trim() || each.ariaLabel
                || each.labels?.length)).length"""
    )
    assert unnamed == 0
    page.locator('body').press('Tab')
    skip = page.locator('.skip:focus')
    assert skip.count() <= 1


def test_figures_and_tables_are_written(report):
    folder = report.parent
    figures = {path.name for path in (folder / 'figures').iterdir()}
    assert {'tide.png', 'tide.svg', 'model-differences.svg'} <= figures
    markdown = (folder / 'tables' / 'class-table.md').read_text()
    assert markdown.startswith('| Class | Objects | Detections | AP |')
    assert '\\<script\\>' in markdown
    latex = (folder / 'tables' / 'model-table.tex').read_text()
    assert '\\toprule' in latex
    assert r'\&' in latex


def test_one_image_without_anything_to_say(tmp_path, open_page):
    """One object, one hit, no photo, no resampling: still a page."""
    truth = coco_dataset([annotation(1, 1, [0, 0, 9, 9])], (1,), {1: 'A'})
    write(tmp_path / 'gt.json', truth)
    write(tmp_path / 'dt.json', [entry(1, 1, [0, 0, 9, 9], 0.5)])
    out = tmp_path / 'page.html'
    arguments = [str(tmp_path / name) for name in ('gt.json', 'dt.json')]
    assert (
        main(['report', *arguments, '--out', str(out), '--resamples', '0'])
        == 0
    )
    page, faults = open_page(out)
    assert page.locator('dd').first.inner_text() == '100.0'
    assert page.locator('.card').count() == 0
    assert 'There is no error to show.' in page.inner_text('#examples')
    assert faults == []
