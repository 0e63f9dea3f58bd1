"""``verify`` names what evaluation stumbles over; ``--fix`` never guesses."""

import json

import numpy as np
import pytest
from mask_faults import FAULTS
from pycocotools import mask as mask_api
from world import HEIGHT, WIDTH, compressed, counted, outlines, truth

from mmdet_cppe5.data.verify.fix import fix
from mmdet_cppe5.data.verify.verification import verify


@pytest.fixture
def check(folder):
    """The findings about data sets: code -> where."""

    def run(*datasets):
        paths = [
            folder.write(f'{k}.json', data) for k, data in enumerate(datasets)
        ]
        return {f.code: f.where for f in verify(paths).report.findings}

    return run


@pytest.mark.parametrize('masks', [None, outlines, counted, compressed])
def test_right_masks_are_right(check, masks):
    assert check(truth(masks)) == {}


@pytest.mark.parametrize(
    'name', [name for name in FAULTS if name != 'width before height']
)
def test_every_mask_fault_is_named(check, name):
    data = truth(outlines)
    data['annotations'][4]['segmentation'] = FAULTS[name][0]
    assert check(data)['mask-malformed'] == [5]


@pytest.mark.parametrize('masks', [counted, compressed])
def test_run_lengths_of_another_size_than_the_image(check, masks):
    data = truth(masks)
    code = data['annotations'][4]['segmentation']
    data['annotations'][4]['segmentation'] = {
        **code,
        'size': code['size'][::-1],
    }
    assert check(data)['mask-size-differs'] == [5]


def test_compressed_masks_are_measured_many_at_once(check):
    data = truth(compressed)
    data['annotations'] = [
        {**item, 'id': 10 * turn + k, 'bbox': [*item['bbox'][:3], 1 + turn]}
        for turn in range(300)
        for k, item in enumerate(data['annotations'])
    ]
    for place, area in ((7, 5), (1500, 10**5), (2999, 9 * 14 * 14)):
        data['annotations'][place]['area'] = area
    data['annotations'][777]['segmentation'] = {
        **data['annotations'][777]['segmentation'],
        'counts': 'oo',
    }
    found = check(data)
    assert found['mask-area-differs'] == [7, 1500, 2999]
    assert found['mask-malformed'] == [777]


def test_an_empty_compressed_mask_has_no_area(check):
    data = truth(compressed)
    text = mask_api.encode(np.zeros((240, 320), np.uint8, 'F'))['counts']
    data['annotations'][2]['segmentation']['counts'] = text.decode()
    assert check(data) == {'mask-area-differs': [3]}


def test_masks_off_the_image_and_of_another_area(check):
    data = truth(outlines)
    data['annotations'][0]['segmentation'] = outlines(400, 20, 40, 30)
    data['annotations'][1]['area'] *= 3
    data['annotations'][2]['segmentation'] = counted(180, 30, 90, 40)
    data['annotations'][3]['segmentation'] = compressed(20, 24, 9, 10)
    found = check(data)
    assert found['mask-off-image'] == [1]
    assert found['mask-area-differs'] == [2, 3, 4]


@pytest.mark.parametrize(
    ('points', 'number', 'code'),
    [
        ([1, 2, 2, 3, 4, 0], 1, None),
        ([1, 2, 2, 3, 4, 0], 2, 'keypoints-malformed'),
        ([1, 2, 2, 3], None, 'keypoints-malformed'),
        ([1, 2, 2, 3, 4, None], None, 'keypoints-malformed'),
        ([1, 2, 2, 3, 4, float('nan')], None, 'keypoints-malformed'),
        ('nose', None, 'keypoints-malformed'),
        ([1, 2, 2], None, 'keypoints-misnumbered'),
    ],
)
def test_keypoints(check, points, number, code):
    data = truth()
    data['categories'][0]['keypoints'] = ['left', 'right']
    data['annotations'][0]['keypoints'] = points
    if number is not None:
        data['annotations'][0]['num_keypoints'] = number
    assert check(data) == ({} if code is None else {code: [1]})


def test_records_of_another_kind(check):
    data = truth()
    data['annotations'][1]['score'] = 0.5
    data['annotations'][2]['file_name'] = 'a.jpg'
    data['images'][3]['bbox'] = [1, 2, 3, 4]
    assert check(data) == {
        'score-in-truth': [2],
        'annotation-stray-keys': [3],
        'image-stray-keys': [4],
    }


def corners(data, rows=range(10)):
    for row in rows:
        item = data['annotations'][row]
        x, y, w, h = item['bbox']
        item['bbox'] = [x, y, x + w, y + h]
    return data


def test_corners_proven_by_every_area_are_converted(check, folder):
    data = corners(truth())
    assert check(data)['box-corners'] == list(range(1, 11))
    fixed = fix(folder.write('a.json', data))
    assert fixed.dataset == truth()
    assert {change.code for change in fixed.changes} == {'box-corners'}


def test_corners_proven_by_some_are_left_and_said(check, folder):
    data = corners(truth(), range(4))
    assert check(data)['box-corners'] == [1, 2, 3, 4]
    fixed = fix(folder.write('a.json', data))
    assert fixed.dataset == data
    assert fixed.changes == []
    assert 'look like corners' in fixed.unresolved[0]


def test_corners_without_areas_are_proven_by_the_images(check, folder):
    data = corners(truth())
    for item in data['annotations']:
        del item['area']
    assert 'box-corners' in check(data)
    fixed = fix(folder.write('a.json', data))
    boxes = [item['bbox'] for item in fixed.dataset['annotations']]
    assert boxes == [item['bbox'] for item in truth()['annotations']]


@pytest.mark.parametrize('form', ['fractions', 'centres'])
def test_other_forms_are_said_and_left(check, folder, form):
    data = truth()
    for item in data['annotations']:
        x, y, w, h = item['bbox']
        if form == 'fractions':
            item['bbox'] = [x / WIDTH, y / HEIGHT, w / WIDTH, h / HEIGHT]
        else:
            item['bbox'] = [x + w / 2, y + h / 2, w, h]
    assert f'box-{form}' in check(data)
    fixed = fix(folder.write('a.json', data))
    assert fixed.dataset == data
    assert f'look like {form}' in fixed.unresolved[0]


def test_files_that_disagree_on_categories(check):
    other = truth()
    for image in other['images']:
        image['file_name'] = f'v{image["file_name"]}'
    assert check(truth(), other) == {}
    for item in other['categories']:
        item['id'] = 4 - item['id']
    assert check(truth(), other) == {
        'split-categories-differ': ['mask', 'goggles']
    }
    other['categories'][1]['name'] = 'Gloves'
    assert sorted(check(truth(), other)['split-categories-missing']) == [
        'Gloves',
        'gloves',
    ]


def test_files_that_list_the_same_pictures(check):
    assert check(truth(), truth()) == {
        'split-name-shared': [f'shot_{k}.jpg' for k in (1, 2, 3, 4)]
    }


@pytest.mark.parametrize('allow', [False, True])
def test_a_fix_that_leaves_nothing_is_no_success(folder, allow):
    data = truth()
    for item in data['annotations']:
        item['category_id'] = 99
    gt, out = folder.write('a.json', data), folder.path / 'out.json'
    words = ['verify', gt, '--fix', out] + ['--allow-empty'] * allow
    if allow:
        assert folder.run(*words)[0] == 1
        assert json.loads(out.read_text())['annotations'] == []
    else:
        said = folder.sentence(*words)
        assert '10 of 10 would be dropped, 10 of them for: box of a' in said
        assert not out.exists()


@pytest.mark.parametrize('box', [None, [], [1, 2, 3], ['1', 2, 3, 4]])
def test_a_box_that_is_none_is_not_shown_as_numbers(folder, box):
    data = truth()
    data['annotations'][0]['bbox'] = box
    _, said, _ = folder.run('verify', str(folder.write('gt.json', data)))
    assert 'bbox is not four finite numbers' in said
    assert 'annotation 1 of image 1: no such box' in said
    assert 'nan' not in said


def test_an_id_that_cannot_be_printed_is_escaped(folder):
    data = truth()
    data['annotations'][0]['id'] = 'half \ud800'
    gt = folder.write('gt.json', data)
    code, said, _ = folder.run('verify', gt)
    assert code == 1
    assert r'half \ud800' in said
    said.encode()


def test_one_is_written_in_the_singular(folder):
    data = truth()
    del data['images'][1:], data['annotations'][1:], data['categories'][1:]
    gt = folder.write('gt.json', data)
    _, said, _ = folder.run('verify', gt)
    assert f'{gt}: 1 image, 1 box, 1 class, 0 image files read' in said
