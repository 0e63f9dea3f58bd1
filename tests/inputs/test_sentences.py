"""What is said of files that cannot be used is true, and one sentence."""

import gzip
import json

import pytest
from world import found, judged, truth

COMMANDS = {
    'evaluate': ('evaluate', 'gt.json', 'dt.json'),
    'compare': ('compare', 'gt.json', 'dt.json', 'dt.json'),
    'report': ('report', 'gt.json', 'dt.json', '--out', 'r.html'),
    'stats': ('stats', 'gt.json'),
    'split': ('split', 'gt.json', '--out-dir', 'parts'),
    'verify': ('verify', 'gt.json'),
    'to-yolo': ('convert', 'to-yolo', 'gt.json', 'y', '--split', 'val'),
    'from-ultralytics': (
        'convert', 'from-ultralytics', 'dt.json', 'gt.json', '--out', 'o.json'
    ),
}  # fmt: skip
TWO = ('evaluate', 'compare', 'report')


@pytest.fixture
def here(folder, monkeypatch):
    """The folder of inputs, as the one that commands are run in."""
    monkeypatch.chdir(folder.path)
    folder.write('gt.json', truth())
    folder.write('dt.json', found())
    return folder


@pytest.mark.parametrize('command', TWO)
def test_swapped_arguments_are_told_where_both_are(here, command):
    here.write('gt.json', found())
    here.write('dt.json', truth())
    assert 'arguments are swapped' in here.sentence(*COMMANDS[command])
    # Not where only one is what it should not be.
    here.write('dt.json', found())
    said = here.sentence(*COMMANDS[command])
    assert 'the file holds detections' in said
    assert 'swapped' not in said
    here.write('gt.json', truth())
    here.write('dt.json', truth())
    said = here.sentence(*COMMANDS[command])
    assert 'the file holds ground truth' in said
    assert 'swapped' not in said


@pytest.mark.parametrize('command', COMMANDS)
def test_one_file_is_never_swapped_with_another(here, command):
    here.write('gt.json', found())
    said = here.sentence(*COMMANDS[command])
    assert 'holds detections' in said
    assert 'swapped' not in said


@pytest.mark.parametrize('command', COMMANDS)
def test_missing_categories_are_named(here, command):
    data = truth()
    del data['categories']
    here.write('gt.json', data)
    said = here.sentence(*COMMANDS[command])
    assert "gt.json, but the file has no 'categories'" in said
    assert 'swapped' not in said


@pytest.mark.parametrize('command', COMMANDS)
@pytest.mark.parametrize(
    ('text', 'expected'),
    [
        ('[' * 100_000, 'too deep to be read'),
        ('{"images": [{"id": 1' + '0' * 5000 + '}]}', 'a number that cannot'),
        ('', 'the file is empty'),
        ('\x1f\x8bnot gzip', 'gzip data is damaged'),
    ],
)
def test_text_that_is_no_usable_json(here, command, text, expected):
    (here.path / 'gt.json').write_bytes(text.encode('latin-1'))
    assert expected in here.sentence(*COMMANDS[command])


def test_gzip_that_grows_without_end_is_not_unpacked(here):
    bomb = gzip.compress(b' ' * (80 << 20))
    (here.path / 'gt.json').write_bytes(bomb)
    assert 'it unpacks to over 64 MiB' in here.sentence('stats', 'gt.json')


@pytest.mark.parametrize('command', COMMANDS)
def test_gzip_and_a_byte_order_mark_are_read(here, command, capsys):
    text = '\ufeff' + json.dumps(truth())
    (here.path / 'gt.json').write_bytes(gzip.compress(text.encode()))
    items = found()
    if command == 'from-ultralytics':
        for item in items:
            item['image_id'] = f'shot_{item["image_id"]}'
    (here.path / 'dt.json').write_bytes(
        gzip.compress(json.dumps(items).encode())
    )
    code, _, complaint = here.run(*COMMANDS[command])
    assert code == 0, complaint


def test_ids_of_two_types_are_named_with_both(here):
    items = found()
    for item in items:
        item['image_id'] = str(item['image_id'])
    here.write('dt.json', items)
    said = here.sentence(*COMMANDS['evaluate'])
    assert 'has the image id 1 as int, here it is str' in said


@pytest.mark.parametrize(
    'value', [10**400, 10**4000, 1e308, -1e308, 3_000_000_000]
)
@pytest.mark.parametrize('place', range(4))
def test_huge_boxes_are_named_and_echoed_short(here, value, place):
    data = truth()
    data['annotations'][3]['bbox'][place] = value
    here.write('gt.json', data)
    said = here.sentence(*COMMANDS['evaluate'])
    assert "'bbox' of annotation id 4" in said
    assert len(said) < 300


@pytest.mark.parametrize('value', [1e308, 10**400, -1, 'big', [1]])
def test_an_impossible_area_is_named(here, value):
    data = truth()
    data['annotations'][3]['area'] = value
    here.write('gt.json', data)
    said = here.sentence(*COMMANDS['evaluate'])
    assert "'area' of annotation id 4" in said
    assert len(said) < 300


@pytest.mark.parametrize('images', [0, 2])
@pytest.mark.parametrize('what', ['categories', 'annotations', 'detections'])
@pytest.mark.parametrize('command', TWO)
def test_empty_worlds_give_no_words_of_numpy(here, command, what, images):
    data, items = truth(), found()
    data['images'] = data['images'][:images]
    data['annotations'] = [
        item for item in data['annotations'] if item['image_id'] <= images
    ]
    items = [item for item in items if item['image_id'] <= images]
    if what == 'categories':
        data['categories'] = []
        data['annotations'], items = [], []
    elif what == 'annotations':
        data['annotations'] = []
    else:
        items = []
    here.write('gt.json', data)
    here.write('dt.json', items)
    code, _, complaint = here.run(*COMMANDS[command])
    assert code in (0, 2)
    for word in ('Traceback', 'numpy', 'zero-size', 'RuntimeWarning', 'array'):
        assert word not in complaint
    if code == 2:
        assert 'Expected' in complaint


def test_corners_and_fractions_get_a_notice_and_pycocotools_number(folder):
    for change, words in (
        (lambda x, y, w, h: [x, y, x + w, y + h], 'look like corners'),
        (lambda *box: [v / 1000 for v in box], 'look like fractions'),
    ):
        items = [{**i, 'bbox': change(*i['bbox'])} for i in found()]
        scores, complaint = folder.scores(truth(), items)
        assert words in complaint
        assert scores['AP'] == pytest.approx(
            judged(truth(), items)[0], abs=1e-9
        )
    _, complaint = folder.scores(truth(), found())
    assert 'look like' not in complaint


@pytest.mark.parametrize('key', ['images', 'annotations', 'categories'])
@pytest.mark.parametrize(
    ('value', 'word'),
    [
        (None, 'null'),
        ({}, 'an empty object'),
        ({'1': {'id': 1}}, "an object with the keys '1'"),
        ('x', 'a single str'),
    ],
)
def test_a_list_that_is_none_is_not_called_missing(here, key, value, word):
    here.write('gt.json', {**truth(), key: value})
    for command in ('evaluate', 'verify'):
        said = here.sentence(*COMMANDS[command])
        assert f"Expected '{key}' of gt.json to be a list" in said
        assert f'but it is {word}' in said
        assert 'missing' not in said


@pytest.mark.parametrize(
    ('content', 'word'),
    [
        (b'PK\x03\x04\x14\x00', 'a ZIP archive'),
        (b'version https://git-lfs.github.com/spec/v1\noid', 'Git LFS'),
        (b'\n<!DOCTYPE html><html>', 'a web page'),
        (b'<?xml version="1.0"?><annotation/>', 'XML'),
        (b'{"image_id": 1}\n{"image_id": 2}\n', 'detections with one JSON'),
        (b'{"loss": 1}\n{"loss": 2}\n', 'a log with one JSON'),
    ],
)
def test_files_that_are_no_json_are_recognised(here, content, word):
    for name in ('gt.json', 'dt.json'):
        here.write('gt.json', truth())
        (here.path / name).write_bytes(content)
        assert f'looks like {word}' in here.sentence(*COMMANDS['evaluate'])
