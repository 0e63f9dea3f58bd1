"""Every kind of fault is found, by its name and at its place."""

import json
import math
from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_release import annotations

from mmdet_cppe5.cli.main import main
from mmdet_cppe5.coco import parse_ground_truth
from mmdet_cppe5.data.verify.verification import verify
from mmdet_cppe5.data.verify.boxes import paired_iou, pairs_within
from mmdet_cppe5.data.verify.columns import NO_BOX, read_columns
from mmdet_cppe5.data.verify.catalogue import CATALOGUE
from mmdet_cppe5.data.verify.fix import fix

# Six images of 40 x 30 pixels with ids 1..6 and one box 5 x 10 each, of the
# classes 2, 3, 4, 5, 1, 2.
CLEAN = annotations(1, 6)


@pytest.fixture
def check(tmp_path):
    """Write a data set and return code -> cases."""

    def run(dataset, **options):
        path = tmp_path / 'gt.json'
        path.write_text(json.dumps(dataset))
        report = verify([path], **options).report
        return {item.code: item.where for item in report.findings}

    return run


def edit(change):
    dataset = deepcopy(CLEAN)
    change(dataset['images'], dataset['annotations'], dataset['categories'])
    return dataset


def test_a_clean_file_has_no_findings(check):
    assert check(CLEAN) == {}


# Each change and exactly what must be found.
FAULTS = [
    (lambda i, a, c: i.append(7), {'image-malformed': ['7']}),
    (
        lambda i, a, c: i[0].pop('id'),
        {
            'image-id-missing': ['1.png'],
            'image-unknown': [1],
            'image-empty': ['1.png'],
        },
    ),
    (
        lambda i, a, c: i[0].update(id='x') or a[0].update(image_id='x'),
        {'image-id-text': ['x']},
    ),
    (
        lambda i, a, c: i.append({**i[2], 'file_name': 'new.png'}),
        {'image-id-repeated': [3], 'image-empty': [3]},
    ),
    (lambda i, a, c: i[0].pop('file_name'), {'image-name-missing': [1]}),
    (
        lambda i, a, c: i[1].update(file_name='1.png'),
        {'image-name-repeated': [2]},
    ),
    (
        lambda i, a, c: i[1].update(file_name='../1.png'),
        {'image-name-outside': [2]},
    ),
    (
        lambda i, a, c: i[1].update(file_name='C:\\1.png'),
        {'image-name-outside': [2]},
    ),
    (lambda i, a, c: i[1].pop('width'), {'image-size-missing': [2]}),
    (lambda i, a, c: i[1].update(height=0), {'image-size-missing': [2]}),
    (lambda i, a, c: i[1].update(height='30'), {'image-size-missing': [2]}),
    (lambda i, a, c: a.pop(3), {'image-empty': [4], 'category-unused': [
        'Mask']}),
    (
        lambda i, a, c: c.append({'id': 6}),
        {'category-malformed': ["{'id': 6}"], 'category-unused': [None]},
    ),
    (
        lambda i, a, c: c.append({'id': 1, 'name': 'x'}),
        {'category-id-repeated': [1], 'category-unused': ['x']},
    ),
    (
        lambda i, a, c: c.append({'id': 6, 'name': 'Mask'}),
        {'category-name-repeated': ['Mask'], 'category-unused': ['Mask']},
    ),
    (lambda i, a, c: a.append({}), {'annotation-malformed': ['{}']}),
    (lambda i, a, c: a.append(5), {'annotation-malformed': ['5']}),
    (
        lambda i, a, c: a[2].pop('id'),
        {'annotation-id-missing': ['number 2']},
    ),
    (
        lambda i, a, c: a[2].update(id='z'),
        {'annotation-id-text': ['z']},
    ),
    (
        lambda i, a, c: a[2].update(id=[1]),
        {'annotation-id-text': ['number 2']},
    ),
    (lambda i, a, c: a[2].update(id=1), {'annotation-id-repeated': [1]}),
    (lambda i, a, c: a[0].update(id=0), {'annotation-id-zero': [0]}),
    (
        lambda i, a, c: a[0].update(image_id=77),
        {'image-unknown': [1], 'image-empty': [1]},
    ),
    (
        lambda i, a, c: a[0].update(image_id=None),
        {'image-unknown': [1], 'image-empty': [1]},
    ),
    (lambda i, a, c: a[0].update(image_id='1'), {'image-id-type': [1]}),
    (lambda i, a, c: a[0].update(category_id=9), {'category-unknown': [1]}),
    (lambda i, a, c: a[0].update(category_id='2'), {'category-id-type': [1]}),
    (lambda i, a, c: a[0].pop('bbox'), {'box-missing': [1]}),
    (lambda i, a, c: a[0].update(bbox=[1, 2, 3]), {'box-missing': [1]}),
    (lambda i, a, c: a[0].update(bbox=[1, 2, 3, 'x']), {'box-missing': [1]}),
    (
        lambda i, a, c: a[0].update(bbox=[1, 2, 3, math.nan]),
        {'box-missing': [1]},
    ),
    (
        lambda i, a, c: a[0].update(bbox=[1, 2, 3, math.inf]),
        {'box-missing': [1]},
    ),
    (lambda i, a, c: a[0].update(bbox=[1, 2, 0, 4]), {'box-empty': [1]}),
    (lambda i, a, c: a[0].update(bbox=[1, 2, 3, -4]), {'box-empty': [1]}),
    (
        lambda i, a, c: a[0].update(bbox=[1, 2, 0.5, 10], area=5),
        {'box-tiny': [1]},
    ),
    (
        lambda i, a, c: a[0].update(bbox=[40, 2, 5, 10]),
        {'box-off-image': [1]},
    ),
    (
        lambda i, a, c: a[0].update(bbox=[36, 2, 5, 10]),
        {'box-beyond': [1]},
    ),
    (
        lambda i, a, c: a[0].update(bbox=[-1, 2, 5, 10]),
        {'box-beyond': [1]},
    ),
    # Rounding to half a pixel is no fault.
    (lambda i, a, c: a[0].update(bbox=[35.4, 2, 5, 10]), {}),
    (
        lambda i, a, c: a.append({**a[0], 'id': 7}),
        {'box-repeated': [7]},
    ),
    (
        lambda i, a, c: a.append({**a[0], 'id': 7, 'category_id': 4}),
        {'box-two-classes': [7]},
    ),
    (
        # Shifted by 0.2 in height 10: IoU 9.8 / 10.2 = 0.96.
        lambda i, a, c: a.append({**a[0], 'id': 7, 'bbox': [1, 3.2, 5, 10]}),
        {'box-nearly-repeated': [7]},
    ),
    # Shifted by 1: IoU 9 / 11 = 0.82, another object.
    (
        lambda i, a, c: a.append({**a[0], 'id': 7, 'bbox': [1, 4, 5, 10]}),
        {},
    ),
    # A crowd region may lie on a box.
    (
        lambda i, a, c: a.append({**a[0], 'id': 7, 'iscrowd': 1}),
        {},
    ),
    (lambda i, a, c: a[0].pop('area'), {'area-missing': [1]}),
    (lambda i, a, c: a[0].update(area=-50), {'area-invalid': [1]}),
    (lambda i, a, c: a[0].update(area='50'), {'area-invalid': [1]}),
    (lambda i, a, c: a[0].update(area=40), {'area-differs': [1]}),
    # With a mask the area is the mask's.
    (
        lambda i, a, c: a[0].update(
            area=40, segmentation=[[1, 3, 6, 3, 6, 13]]
        ),
        {},
    ),
    (lambda i, a, c: a[0].pop('iscrowd'), {'crowd-missing': [1]}),
    (lambda i, a, c: a[0].update(iscrowd=2), {'crowd-invalid': [1]}),
    (
        lambda i, a, c: [item.update(iscrowd=1) for item in a],
        {'crowd-all': [1, 2, 3, 4, 5, 6]},
    ),
]  # fmt: skip


@pytest.mark.parametrize(('change', 'expected'), FAULTS)
def test_each_fault_is_found_and_nothing_else(check, change, expected):
    assert check(edit(change)) == expected


def test_the_list_above_leaves_nothing_out():
    tested = {code for _, expected in FAULTS for code in expected}
    others = {
        code
        for code in CATALOGUE
        if code.split('-')[0] in ('file', 'size', 'split', 'mask', 'keypoints')
        or code.endswith(('-stray-keys', '-in-truth'))
    } | {
        'image-repeated', 'image-near', 'boxes-disagree', 'box-corners',
        'box-fractions', 'box-centres',
    }  # fmt: skip
    assert tested | others == set(CATALOGUE)
    assert not tested & others


def test_the_real_annotations_are_clean(check, test_data):
    for name in ('test.json', 'train_excerpt.json'):
        path = test_data / 'cppe5/annotations' / name
        assert check(json.loads(path.read_text())) == {}


def test_columns_are_those_of_the_evaluation_reader(test_data):
    path = test_data / 'cppe5/annotations/test.json'
    columns = read_columns(path)
    truth = parse_ground_truth(json.loads(path.read_text()), 'x')
    np.testing.assert_array_equal(columns.boxes, truth.boxes)
    np.testing.assert_array_equal(columns.areas, truth.areas)
    assert columns.ids == [item['id'] for item in truth.records.items]


def test_objects_inside_others_are_not_taken_for_annotations(tmp_path):
    dataset = deepcopy(CLEAN)
    dataset['info'] = {'bbox': [1, 1, 1, 1]}
    dataset['annotations'][3]['attributes'] = {'image_id': 5, 'bbox': 'x'}
    path = tmp_path / 'gt.json'
    path.write_text(json.dumps(dataset))
    columns = read_columns(path)
    assert columns.ids == [1, 2, 3, 4, 5, 6]
    assert columns.image_ids == [1, 2, 3, 4, 5, 6]
    assert not (columns.flags & NO_BOX).any()


@pytest.mark.parametrize(
    ('text', 'message'),
    [
        ('[]', 'an empty list'),
        ('{"images": [], "categories": 3}', 'categories'),
        ('[{"image_id": 1, "score": 1, "bbox": [1, 2, 3, 4]}]', 'detections'),
        ('{', 'not valid JSON'),
    ],
)
def test_what_is_no_annotation_file(tmp_path, capsys, text, message):
    path = tmp_path / 'x.json'
    path.write_text(text)
    assert main(['verify', str(path)]) == 2
    assert message in capsys.readouterr().err


def test_images_without_annotations_are_a_test_set(check):
    dataset = deepcopy(CLEAN)
    del dataset['annotations']
    assert check(dataset) == {}


@given(st.lists(st.integers(0, 5), max_size=30))
@settings(max_examples=50, deadline=None)
def test_pairs_within_groups(groups):
    groups = np.array(sorted(groups), dtype=np.intp)
    found = [
        (int(a), int(b))
        for first, second in pairs_within(groups)
        for a, b in zip(first, second)
    ]
    expected = [
        (a, b)
        for a in range(len(groups))
        for b in range(a + 1, len(groups))
        if groups[a] == groups[b]
    ]
    assert found == expected


def test_paired_iou():
    one = np.array([[0.0, 0, 10, 10]])
    two = np.array([[5.0, 0, 10, 10], [10, 0, 5, 5], [0, 0, 10, 10]])
    assert paired_iou(one, two).tolist() == [50 / 150, 0, 1]


# -- fixing -----------------------------------------------------------------


@pytest.fixture
def mended(tmp_path):
    def run(dataset, facts=None):
        path = tmp_path / 'gt.json'
        path.write_text(json.dumps(dataset))
        return fix(path, facts)

    return run


FIXABLE = {
    'image-malformed', 'annotation-malformed', 'annotation-id-missing',
    'annotation-id-text', 'annotation-id-repeated', 'annotation-id-zero',
    'image-unknown', 'image-id-type', 'category-unknown', 'category-id-type',
    'box-missing', 'box-empty', 'box-off-image', 'box-beyond', 'box-repeated',
    'area-missing', 'area-invalid', 'area-differs', 'crowd-missing',
}  # fmt: skip


@pytest.mark.parametrize(
    ('change', 'expected'),
    [case for case in FAULTS if set(case[1]) & FIXABLE],
)
def test_what_can_be_fixed_is_fixed(check, mended, change, expected):
    fixed = mended(edit(change))
    assert not set(check(fixed.dataset)) & FIXABLE
    assert {item.code for item in fixed.changes} == set(expected) & FIXABLE
    again = mended(fixed.dataset)
    assert again.changes == []
    assert again.dataset == fixed.dataset


def test_a_clean_file_is_not_changed(mended):
    fixed = mended(CLEAN)
    assert fixed.dataset == CLEAN
    assert fixed.changes == []


def test_each_change_is_listed_with_before_and_after(mended):
    def change(images, boxes, categories):
        boxes[0].update(bbox=[36, 2, 5, 10])
        boxes[1]['image_id'] = '2'
        boxes[2]['bbox'] = [1, 2, 3, math.nan]

    changes = [item.as_json() for item in mended(edit(change)).changes]
    assert [
        (c['kind'], c['record'], c['what'], c['before'], c['after'], c['code'])
        for c in changes[:3]
    ] == [
        ('annotation', 1, 'bbox', [36, 2, 5, 10], [36, 2, 4, 10],
         'box-beyond'),
        ('annotation', 1, 'area', 50, 40, 'box-beyond'),
        ('annotation', 2, 'image_id', '2', 2, 'image-id-type'),
    ]  # fmt: skip
    assert changes[3]['what'] == 'dropped'
    assert changes[3]['before']['bbox'] == [1, 2, 3, 'nan']


def test_repeated_ids_become_new_ones(mended):
    def change(images, boxes, categories):
        boxes[1]['id'] = 1
        boxes[2]['id'] = 0
        del boxes[3]['id']

    fixed = mended(edit(change))
    ids = [item['id'] for item in fixed.dataset['annotations']]
    assert ids == [1, 7, 8, 9, 5, 6]


def test_exit_codes_and_files(tmp_path, capsys):
    good, bad = tmp_path / 'good.json', tmp_path / 'bad.json'
    good.write_text(json.dumps(CLEAN))
    dataset = edit(lambda i, a, c: a[0].update(bbox=[36, 2, 5, 10]))
    bad.write_text(json.dumps(dataset))
    assert main(['verify', str(good)]) == 0
    assert main(['verify', str(bad)]) == 0
    assert main(['verify', str(bad), '--strict']) == 1
    dataset['annotations'][1]['image_id'] = 99
    bad.write_text(json.dumps(dataset))
    out = tmp_path / 'out.json'
    code = main(
        ['verify', str(bad), '--json', str(tmp_path / 'r.json'), '--fix',
         str(out)]
    )  # fmt: skip
    assert code == 1
    report = json.loads((tmp_path / 'r.json').read_text())
    assert (report['errors'], report['warnings']) == (1, 1)
    assert report['findings'][0] == {
        'code': 'image-unknown',
        'severity': 'error',
        'file': str(bad),
        'text': 'box of an image not listed',
        'count': 1,
        'kind': 'annotation',
        'where': [2],
        'details': ['annotation 2: image_id 99'],
    }
    changes = json.loads((tmp_path / 'out.json.changes.json').read_text())
    assert [c['code'] for c in changes] == [
        'box-beyond', 'box-beyond', 'image-unknown',
    ]  # fmt: skip
    assert main(['verify', str(out), '--strict']) == 0
    code = main(['verify', str(good), str(bad), '--fix', str(out)])
    assert code == 2
    assert 'Expected one annotation file' in capsys.readouterr().err
