"""Examples, photos, exports and the report's input, one by one."""

import base64
import csv
import io
import json
import shlex

import numpy as np
import pytest
from builders import annotation, coco_dataset, entry, speed_record, write
from PIL import Image

from mmdet_cppe5 import figures
from mmdet_cppe5.cli.main import main
from mmdet_cppe5.coco import parse_ground_truth, parse_results
from mmdet_cppe5.coco.conversion import to_core
from mmdet_cppe5.reports.cells import points
from mmdet_cppe5.reports.exports import save_drawing, to_latex, to_markdown
from mmdet_cppe5.reports.framing import box_iou, crop
from mmdet_cppe5.reports.from_files import ReportFiles, write_report
from mmdet_cppe5.reports.gallery import galleries, photo_boxes
from mmdet_cppe5.reports.object_pairs import object_pair
from mmdet_cppe5.reports.page import Cell, Column, Row, Table
from mmdet_cppe5.reports.photos import (
    embed_photos,
    encode_photo,
    find_photo,
)
from mmdet_cppe5.reports.section_slices import slice_section
from mmdet_cppe5.reports.sections_scores import at_thresholds
from mmdet_cppe5.reports.slices import slices
from mmdet_cppe5.reports.study import data_set, study
from mmdet_cppe5.reports.worklist import work_items


def judge(annotations, detections, images=(1,), names=None):
    """A data set and a study of it, from plain COCO objects."""
    truth = parse_ground_truth(
        coco_dataset(annotations, images, names), 'truth.json'
    )
    results = parse_results(detections, 'found.json', truth)
    data = data_set(truth, 'truth.json')
    found = to_core(truth, results).detections
    return data, study('detector', data, found, resamples=0)


BOX = [100, 100, 80, 60]


def test_each_kind_of_error_has_its_example():
    """One error of each kind, each on an image of its own."""
    half = [100, 100, 80, 24]  # IoU 0.4
    far = [400, 300, 50, 50]
    data, judged = judge(
        [annotation(k, 1, BOX) for k in range(1, 7)],
        [
            entry(1, 2, BOX, 0.9),
            entry(2, 1, half, 0.8),
            entry(3, 2, half, 0.7),
            *(entry(4, 1, BOX, score) for score in (0.9, 0.6)),
            *(entry(5, 1, *pair) for pair in ((BOX, 0.9), (far, 0.5))),
        ],
        images=range(1, 7),
    )
    groups = {group.id: group for group in galleries(data, judged)}
    said = {
        key: [(c.image, c.heading, c.text) for c in group.cards]
        for key, group in groups.items()
    }
    assert said['Cls'] == [
        ('1.png', 'A detected as B', 'score 0.90 · IoU 1.00')
    ]
    assert said['Loc'] == [
        ('2.png', 'A poorly localised', 'score 0.80 · IoU 0.40')
    ]
    assert said['Both'] == [
        ('3.png', 'A detected as B', 'score 0.70 · IoU 0.40')
    ]
    assert said['Dupe'] == [
        ('4.png', 'A found twice', 'score 0.60 · IoU 1.00')
    ]
    assert said['Bkg'] == [('5.png', 'A on background', 'score 0.50')]
    assert {c[0] for c in said['Miss']} <= {'3.png', '6.png'}
    assert ('6.png', 'A missed', '80 × 60 pixels') in said['Miss']


def test_galleries_are_capped_and_spread_over_images():
    """Twenty false alarms on image 1 leave room for those of image 2."""
    far = [[300 + 20 * k, 400, 10, 10] for k in range(10)]
    alarms = [entry(1, 1, box, 0.9) for box in far for _ in range(2)]
    alarms += [entry(2, 1, box, 0.1) for box in far]
    data, judged = judge([annotation(1, 1, BOX)], alarms, images=(1, 2))
    (group,) = (g for g in galleries(data, judged) if g.id == 'Bkg')
    assert group.total == 30
    assert len(group.cards) == 12
    assert {card.image for card in group.cards} == {'1.png', '2.png'}
    assert 'Shown: 12 of 30.' in group.text


def test_sure_errors_are_suspected_label_errors():
    """Surer than nine in ten hits: 0.95 of 0.5, 0.6, 0.7, but not 0.55."""
    data, judged = judge(
        [annotation(k, 1, BOX) for k in (1, 2, 3)],
        [
            *(entry(k, 1, BOX, 0.4 + k / 10) for k in (1, 2, 3)),
            entry(1, 2, [400, 300, 50, 50], 0.95),
            entry(2, 2, [400, 300, 50, 50], 0.55),
        ],
        images=(1, 2, 3),
    )
    (group,) = (g for g in galleries(data, judged) if g.id == 'Label')
    assert [card.text for card in group.cards] == ['score 0.95']


@pytest.mark.parametrize(
    ('box', 'size'),
    [
        ([100, 100, 10, 10], (640, 480)),
        ([0, 0, 640, 480], (640, 480)),
        ([600, 440, 40, 40], (640, 480)),
        ([5, 300, 10, 400], (20, 1000)),
        ([-30, -30, 900, 20], (640, 480)),
    ],
)
def test_crops_show_the_box_in_the_shape_of_a_card(box, size):
    x, y, w, h = crop(np.array([box], float), np.array(size, float))
    assert w / h == pytest.approx(4 / 3, rel=0.01)
    seen_left, seen_top = max(box[0], 0), max(box[1], 0)
    assert x <= seen_left + 0.1
    assert y <= seen_top + 0.1
    assert x + w >= min(box[0] + box[2], size[0]) - 0.1
    assert y + h >= min(box[1] + box[3], size[1]) - 0.1


def test_box_iou_by_hand():
    """Overlap 5 x 10 of two 10 x 10 boxes: 50 / 150; nothing of nothing."""
    others = np.array([[5, 0, 10, 10], [20, 0, 10, 10], [0, 0, 0, 0.0]])
    got = box_iou(np.array([0, 0, 10, 10.0]), others)
    assert got.tolist() == [50 / 150, 0, 0]


def test_a_photo_shows_every_box_with_its_fate():
    data, judged = judge(
        [annotation(1, 1, BOX), annotation(1, 2, [300, 300, 40, 40])],
        [entry(1, 1, BOX, 0.9), entry(1, 1, [400, 9, 9, 9], 0.2)],
    )
    drawn = [(box[0], box[5]) for box in photo_boxes(data, judged, 0)]
    assert drawn == [
        ('gt', 'A'),
        ('missed', 'B'),
        ('det', 'A 0.20 Bkg'),
        ('good', 'A 0.90'),
    ]
    drawn = [box[0] for box in photo_boxes(data, judged, 0, limit=1)]
    assert drawn == ['gt', 'missed', 'good']


def test_photos_are_found_below_their_folder_only(tmp_path):
    (tmp_path / 'in' / 'sub').mkdir(parents=True)
    for name in ('secret.png', 'in/a.png', 'in/sub/b.png'):
        (tmp_path / name).touch()
    folder = tmp_path / 'in'
    assert find_photo(folder, 'a.png').name == 'a.png'
    assert find_photo(folder, 'train2017/a.png').name == 'a.png'
    assert find_photo(folder, 'sub/b.png').name == 'b.png'
    assert find_photo(folder, '../secret.png') is None
    assert find_photo(folder, str(tmp_path / 'secret.png')) is None
    assert find_photo(folder, 'none.png') is None


def test_photos_are_turned_as_the_annotations_have_them(tmp_path):
    """EXIF orientation 6: stored 40 x 20, meant to be seen as 20 x 40."""
    exif = Image.Exif()
    exif[0x0112] = 6
    path = tmp_path / 'turned.jpg'
    Image.new('RGB', (40, 20)).save(path, exif=exif)
    for size in ((20, 40), (40, 20)):
        with Image.open(io.BytesIO(encode_photo(path, size))) as photo:
            assert photo.size == size


def test_photos_fit_their_budget(tmp_path):
    """Noise compresses badly: one such photo alone exceeds 60 kB."""
    rng = np.random.default_rng(0)
    paths = []
    for k in range(3):
        paths.append(tmp_path / f'{k}.png')
        noise = rng.integers(0, 255, (400, 600, 3), dtype=np.uint8)
        Image.fromarray(noise).save(paths[-1])
    paths[2].write_bytes(b'no picture')
    sizes = [(600, 400)] * 4
    addresses, problems = embed_photos([*paths, None], sizes, 60_000)
    total = sum(
        len(base64.b64decode(address.split(',')[1]))
        for address in addresses[:2]
    )
    assert total <= 60_000
    assert addresses[2:] == [None, None]
    assert len(problems) == 1
    assert problems[0].startswith('2.png: ')


def test_figures_become_files(tmp_path):
    drawing = figures.class_ap(['A'], np.array([0.5]))
    paths = save_drawing(drawing, tmp_path / 'new')
    assert [path.name for path in paths] == ['class-ap.png', 'class-ap.svg']
    assert paths[0].read_bytes().startswith(b'\x89PNG')
    with pytest.raises(ValueError, match='png, svg, but got pdf'):
        save_drawing(drawing, tmp_path, ['pdf'])


def test_tables_are_escaped_for_papers():
    table = Table(
        'x',
        'X',
        [Column('Class', False), Column('AP')],
        [
            Row([Cell('a_b & 50 %'), points(0.5, (0.4, 0.6))]),
            Row([Cell('p|q'), points(float('nan'))]),
        ],
    )
    assert to_markdown(table).splitlines() == [
        '| Class | AP |',
        '| :--- | ---: |',
        '| a\\_b & 50 % | 50.0 40.0–60.0 |',
        '| p\\|q | – |',
    ]
    latex = to_latex(table)
    assert r'a\_b \& 50 \% & 50.0 40.0--60.0 \\' in latex
    assert r'\begin{tabular}{lr}' in latex


def test_score_curve_between_its_points():
    """At 0.5 what has 0.8 is kept; nothing reaches 0.9."""

    class Curve:
        score = np.array([0.8, 0.4])

    grid = np.array([0.0, 0.4, 0.5, 0.8, 0.9])
    got = at_thresholds(Curve, np.array([1.0, 0.5]), grid)
    assert got[:4].tolist() == [0.5, 0.5, 1.0, 1.0]
    assert np.isnan(got[4])


@pytest.fixture
def files(tmp_path):
    """A ground truth and the results of two detectors."""
    truth = coco_dataset([annotation(1, 1, BOX), annotation(1, 2, BOX)])
    write(tmp_path / 'gt.json', truth)
    write(tmp_path / 'a.bbox.json', [entry(1, 1, BOX, 0.9)])
    write(tmp_path / 'b.json', [entry(1, 2, BOX, 0.9)])
    return tmp_path


def options(files, **more):
    return ReportFiles(
        ground_truth=files / 'gt.json',
        results=(files / 'a.bbox.json', files / 'b.json'),
        out=files / 'report.html',
        **{'resamples': 20, **more},
    )


def test_numbers_can_be_traced(files):
    """The page names its files with their digests, settings and names."""
    import hashlib

    page = write_report(options(files))
    facts = dict(page.sections[-1].facts)
    digest = hashlib.sha256((files / 'a.bbox.json').read_bytes()).hexdigest()
    assert digest in facts['Detections of a']
    assert 'Detections of b' in facts
    assert '20 resamples, seed 0' in facts['Intervals']
    assert [item.value for item in page.headline][:3] == ['50.0'] * 3


def test_speed_comes_from_benchmark_records(files):
    record = files / 'speed.json'
    record.write_text(json.dumps(speed_record(fps=80.0)))
    page = write_report(options(files, speed=(f'a={record}',)))
    (table,) = (t for t in page.tables() if t.id == 'model-table')
    by_name = {row.cells[0].text: row.cells[-1].text for row in table.rows}
    assert by_name == {'a': '12.5', 'b': '–'}
    assert 'speed-accuracy' in {d.name for d in page.drawings()}
    with pytest.raises(ValueError, match=r"one of a, b, but got 'x'"):
        write_report(options(files, speed=('x',)))
    other = files / 'other.json'
    other.write_text(json.dumps(speed_record('b', 80.0, batch_size=8)))
    with pytest.raises(ValueError, match='batch size: a 1, b 8'):
        write_report(options(files, speed=(f'a={record}', f'b={other}')))
    record.write_text('{}')
    with pytest.raises(ValueError, match='Expected a benchmark record'):
        write_report(options(files, speed=(f'a={record}',)))


def test_worklist_holds_every_error(files):
    """Detector a finds one object and misses the other of image 1."""
    for name in ('list.csv', 'list.json'):
        write_report(options(files, worklist=files / name))
    (row,) = csv.DictReader((files / 'list.csv').open())
    assert row['error'] == 'Miss'
    assert (row['image_id'], row['annotation_id']) == ('1', '2')
    assert row['detection'] == row['score'] == ''
    coco = json.loads((files / 'list.json').read_text())
    assert parse_ground_truth(coco, 'list.json').class_names == ('A', 'B')
    (made,) = coco['annotations']
    assert made['category_id'] == 2
    assert made['bbox'] == BOX
    assert made['attributes']['error'] == 'Miss'
    with pytest.raises(ValueError, match=r'ends in .csv or .json'):
        write_report(options(files, worklist=files / 'list.txt'))


def test_two_detectors_object_by_object():
    """Image 1 is fixed, 2 broken, 3 found by both, 4 by neither.

    Both have the false positive at ``far``; only A has the one at ``lone``.
    """
    far, lone = [400, 300, 50, 50], [300, 10, 40, 40]
    objects = [annotation(k, 1, BOX) for k in (1, 2, 3, 4)]
    data, a = judge(
        objects,
        [entry(k, 1, BOX, 0.9) for k in (2, 3)]
        + [entry(1, 1, far, 0.95), entry(1, 2, lone, 0.95)],
        images=(1, 2, 3, 4),
    )
    _, b = judge(
        objects,
        [entry(k, 1, BOX, 0.9) for k in (1, 3)]
        + [entry(1, 1, [402, 300, 50, 50], 0.95)],
        images=(1, 2, 3, 4),
    )
    pair = object_pair(data, a, b)
    assert pair.scores == (0.9, 0.9)
    assert {name: rows.tolist() for name, rows in pair.objects.items()} == {
        'fixed': [0],
        'broken': [1],
        'found by both': [2],
        'missed by both': [3],
    }
    assert {name: rows.tolist() for name, rows in pair.alarms.items()} == {
        'gone': [3],
        'new': [],
        'in both': [2],
    }


def rows_of(data, studies, keys):
    (table,) = slice_section(data, studies, slices(data, keys)).tables
    return {
        row.cells[0].text: [cell.text for cell in row.cells[1:]]
        for row in table.rows
    }


def test_slices_by_a_users_column():
    """Two sites of 12 images with one object each: all found, none found.

    Image records have the site; a false positive costs its own site only.
    """
    images = range(1, 25)
    truth_file = coco_dataset(
        [annotation(k, 1, BOX, light='day') for k in images], images, {1: 'A'}
    )
    for image in truth_file['images']:
        image['site'] = 'east' if image['id'] <= 12 else 'west'
    found = [entry(k, 1, BOX, 0.9) for k in images if k <= 12]
    truth = parse_ground_truth(truth_file, 'truth.json')
    results = parse_results(found, 'found.json', truth)
    data = data_set(truth, 'truth.json')
    judged = study(
        'detector', data, to_core(truth, results).detections, resamples=0
    )
    got = rows_of(data, [judged, judged], ['site', 'light'])
    assert got['site: east'] == ['12', '100.0', '100.0', '+0.0']
    assert got['site: west'] == ['12', '0.0', '0.0', '+0.0']
    assert got['light: day'][0] == '24'
    # BOX is 80 x 60; none is as flat or as tall, so none is scored.
    assert got['Width / height: 1/2 to 2'][0] == '24'
    assert got['Width / height: above 2'] == ['0', '–', '–', '–']
    assert got['Border of the image: touched'][0] == '0'
    assert got['Objects in the image: 1 to 3'][0] == '24'
    with pytest.raises(ValueError, match="none has 'weather'"):
        slices(data, ['weather'])
    with pytest.raises(ValueError, match='at most 20 values'):
        slices(data, ['file_name'])


def test_slices_by_overlap_and_border():
    """Boxes 0 and 1 share 50 of 150; box 2 is alone, at the edge."""
    boxes = [[100, 100, 10, 10], [105, 100, 10, 10], [0, 300, 9, 9]]
    data, _ = judge([annotation(1, 1, box) for box in boxes], [])
    parts = {f'{s.kind}: {s.value}': s for s in slices(data)}
    touched = parts['Border of the image: touched']
    assert touched.objects.tolist() == [False, False, True]
    overlapping = parts['Overlap with another object: IoU 0.1 or more']
    assert overlapping.objects.tolist() == [True, True, False]


def test_slices_by_light(tmp_path):
    """Grey photos of three brightnesses; only the brightest has a pattern."""
    for k, grey in ((1, 20), (2, 120), (3, 200)):
        pixels = np.full((48, 64), grey, np.uint8)
        pixels[::2] += 20 if k == 3 else 0
        Image.fromarray(pixels).save(tmp_path / f'{k}.png')
    data, _ = judge([annotation(1, 1, BOX)], [], images=(1, 2, 3))
    parts = {f'{s.kind}: {s.value}': s for s in slices(data, (), tmp_path)}
    dark = parts['Brightness of the image: darkest third']
    assert dark.images.tolist() == [True, False, False]
    sharp = parts['Sharpness of the image: most third']
    assert sharp.images.tolist() == [False, False, True]


def test_worklist_counts_as_tide_does():
    data, judged = judge(
        [annotation(k, 1, BOX) for k in (1, 2, 3)],
        [entry(1, 2, BOX, 0.9), entry(2, 1, [100, 100, 80, 24], 0.8)],
        images=(1, 2, 3),
    )
    items = work_items(data, judged)
    for name in ('Cls', 'Loc', 'Both', 'Dupe', 'Bkg', 'Miss'):
        number = sum(item.error == name for item in items)
        assert number == judged.tide.counts[name]
    first = items[0]
    assert (first.error, first.detection, first.iou) == ('Cls', 0, 1.0)
    assert first.annotation_id == 1


def test_the_page_says_how_to_repeat_it(files):
    page = write_report(options(files, seed=3, names=('x', 'y z')))
    command = dict(page.sections[-1].facts)['Command']
    assert shlex.split(command) == [
        'mmdet-cppe5',
        'report',
        *(str(files / name) for name in ('gt.json', 'a.bbox.json', 'b.json')),
        *('--out', str(files / 'report.html')),
        *('--names', 'x', 'y z', '--resamples', '20', '--seed', '3'),
    ]


def test_likely_label_errors_are_not_shown_twice():
    far = [400, 300, 50, 50]
    data, judged = judge(
        [annotation(1, 1, BOX)],
        [entry(1, 1, BOX, 0.5), entry(1, 2, far, 0.9), entry(1, 2, far, 0.1)],
    )
    groups = {group.id: group for group in galleries(data, judged)}
    shown = [groups[kind].cards for kind in ('Label', 'Bkg')]
    assert [[c.text for c in cards] for cards in shown] == [
        ['score 0.90'],
        ['score 0.10'],
    ]
    assert groups['Bkg'].total == 2


def test_wrong_input_is_named(files, capsys):
    with pytest.raises(ValueError, match='1 names for 2 files'):
        write_report(options(files, names=('one',)))
    with pytest.raises(FileNotFoundError, match='folder of the photos'):
        write_report(options(files, images=files / 'none'))
    arguments = [str(files / 'gt.json'), str(files / 'absent.json')]
    assert main(['report', *arguments]) == 2
    assert 'absent.json' in capsys.readouterr().err


def test_photos_are_limited_and_the_page_says_so():
    from mmdet_cppe5.reports.report import Extras, report_page

    images = range(1, 21)
    data, judged = judge(
        [annotation(k, 1, BOX) for k in images],
        [entry(k, 1, BOX, 0.5) for k in images if k > 3],
        images,
    )
    page = report_page(data, [judged], Extras(photo_limit=5))
    assert len(page.photos) == 5
    # The three images with a missed object come before any other.
    assert {photo.name for photo in page.photos} >= {
        '1.png',
        '2.png',
        '3.png',
    }
    text = ' '.join(page.sections[-1].texts)
    assert 'Photos are limited to 5 of 20 images' in text
