"""Subsets and files of unusual form, on drawn annotations."""

import json

import pytest

from mmdet_cppe5.coco import parse_results, read_results
from mmdet_cppe5.deepfashion2.categories import CATEGORIES
from mmdet_cppe5.deepfashion2.evaluation import (
    assess_task,
    read_truth,
    task_problem,
)

SKIRT = 9


def item(number, box, image=1, category=SKIRT, **more):
    width, height = box[2:]
    return {
        'id': number,
        'image_id': image,
        'category_id': category,
        'bbox': box,
        'area': width * height,
        'iscrowd': 0,
        **more,
    }


def truth_file(tmp_path, items, images=(1,), names='name', size=(200, 100)):
    content = {
        'images': [
            {'id': n, 'width': size[0], 'height': size[1]} for n in images
        ],
        'annotations': items,
        'categories': [
            {'id': c.id, 'name': getattr(c, names)} for c in CATEGORIES
        ],
    }
    file = tmp_path / 'truth.json'
    file.write_text(json.dumps(content))
    return file


def found(box, score, image=1, category=SKIRT):
    return {
        'image_id': image,
        'category_id': category,
        'bbox': box,
        'score': score,
    }


def scores_of(truth, entries, subsets=()):
    results = parse_results(entries, 'results.json', truth)
    problem = task_problem(truth, results, 'bbox')
    return assess_task(truth, problem, 'bbox', subsets=subsets)[0]


SMALL, LARGE, NOWHERE = [0, 0, 40, 40], [60, 0, 90, 90], [0, 60, 20, 20]


@pytest.fixture
def truth(tmp_path):
    items = [
        item(1, SMALL, scale=1, occlusion=3),
        item(2, LARGE, scale=3, occlusion=3),
    ]
    return read_truth(truth_file(tmp_path, items))


def test_detections_on_other_items_are_ignored(truth):
    entries = [found(SMALL, 0.9), found(LARGE, 0.8), found(NOWHERE, 0.7)]
    summary = scores_of(truth, entries, subsets=['scale', 'occlusion'])
    # Without the rule the better detection would be a false positive: 1 / 2.
    scale = summary['subsets']['scale']
    assert scale['small'] == _all_equal(100, items=1)
    assert scale['moderate'] == _all_equal(None, items=0)
    assert scale['large'] == _all_equal(100, items=1)
    assert summary['subsets']['occlusion'] == {
        'slight': _all_equal(None, items=0),
        'medium': _all_equal(None, items=0),
        'heavy': _all_equal(100, items=2),
    }


def test_detections_on_nothing_count_in_every_subset(truth):
    entries = [found(NOWHERE, 0.9), found(SMALL, 0.8), found(LARGE, 0.7)]
    scale = scores_of(truth, entries, subsets=['scale'])['subsets']['scale']
    assert scale['small']['AP'] == pytest.approx(100 / 2)
    assert scale['large']['AP'] == pytest.approx(100 / 2)


def test_an_ignored_item_takes_one_detection_by_ordinary_iou(truth):
    # A part of the item that covers 4 / 9 of it would be inside a crowd.
    part = [60, 0, 60, 60]
    for before in ([found(LARGE, 0.95), found(LARGE, 0.9)], [found(part, 1)]):
        entries = [*before, found(SMALL, 0.5)]
        scale = scores_of(truth, entries, subsets=['scale'])['subsets']
        assert scale['scale']['small']['AP'] == pytest.approx(100 / 2)


@pytest.mark.parametrize(
    ('attribute', 'names'),
    [
        ('scale', ('small', 'moderate', 'large')),
        ('occlusion', ('slight', 'medium', 'heavy')),
        ('zoom_in', ('no', 'medium', 'large')),
        ('viewpoint', ('no_wear', 'frontal', 'side_or_back')),
    ],
)
def test_scores_of_each_attribute_by_hand(tmp_path, attribute, names):
    """One item of value 1, two of value 2, one of value 3.

    The best detection lies on nothing, so every precision is 1/2 at most.
    The item of value 3 is found 9 pixels aside: IoU 31 / 49 = 0.633, enough
    for three of the ten thresholds.
    """
    same = dict.fromkeys(('scale', 'occlusion', 'zoom_in', 'viewpoint'), 1)
    boxes = [[x, 0, 40, 40] for x in (0, 50, 100, 150)]
    items = [
        item(number, box, **{**same, attribute: value})
        for number, (box, value) in enumerate(zip(boxes, (1, 2, 2, 3)), 1)
    ]
    truth = read_truth(truth_file(tmp_path, items))
    entries = [
        found(NOWHERE, 0.95),
        found(boxes[0], 0.9),
        found(boxes[1], 0.8),
        found([141, 0, 40, 40], 0.7),
    ]
    table = scores_of(truth, entries, subsets=[attribute])['subsets']
    first, second, third = (table[attribute][name] for name in names)
    assert first == _all_equal(100 / 2, items=1)
    # One of two is found: 51 of the 101 recall levels.
    assert second == _all_equal(100 / 2 * 51 / 101, items=2)
    assert third == {
        'items': 1,
        'AP': pytest.approx(100 / 2 * 3 / 10),
        'AP50': pytest.approx(100 / 2),
        'AP75': 0,
    }


def _all_equal(score, items):
    if score is not None:
        score = pytest.approx(score)
    return {'items': items, 'AP': score, 'AP50': score, 'AP75': score}


def test_subsets_need_the_attribute(truth):
    with pytest.raises(ValueError, match="'zoom_in' of annotation id 1"):
        scores_of(truth, [found(SMALL, 1)], subsets=['zoom_in'])
    with pytest.raises(ValueError, match=r"among scale, .* got 'size'"):
        scores_of(truth, [found(SMALL, 1)], subsets=['size'])


def test_raw_names_are_read_by_id(tmp_path):
    file = truth_file(tmp_path, [item(1, SMALL)], names='raw_name')
    truth = read_truth(file)
    assert truth.class_names == tuple(c.name for c in CATEGORIES)
    assert scores_of(truth, [found(SMALL, 1)])['classes']['skirt'][
        'AP'
    ] == pytest.approx(100)


def test_no_detection_scores_zero(truth):
    assert scores_of(truth, [])['overall']['AP'] == 0


BAD_RESULTS = {
    'unknown image': (
        [found(SMALL, 1, image=7)],
        r'image ids 1, .* not among them \(7\)',
    ),
    'unknown category': ([found(SMALL, 1, category=14)], 'got 14'),
    'score missing': ([{**found(SMALL, 1), 'score': None}], 'finite'),
}


@pytest.mark.parametrize('name', BAD_RESULTS)
def test_bad_results_are_explained(truth, name):
    entries, message = BAD_RESULTS[name]
    with pytest.raises(ValueError, match=message):
        scores_of(truth, entries)


def test_landmarks_need_294_of_them(tmp_path):
    file = truth_file(tmp_path, [item(1, SMALL, keypoints=[0] * 882)])
    truth = read_truth(file)
    entry = {**found(SMALL, 1), 'keypoints': [0] * 51}
    results = parse_results([entry], 'results.json', truth)
    with pytest.raises(ValueError, match='entry number 0 .* 882 finite'):
        task_problem(truth, results, 'keypoints')


@pytest.mark.parametrize(
    ('length', 'message'),
    [
        # Trousers come after 168 landmarks of the categories before them.
        (42, r'got 42, as the landmarks of trousers alone .* 168 to 181,'),
        (51, r"got 51, as COCO's 17 landmarks of a person"),
        (588, r'got 588; is v missing\?'),
        (879, r'all 294 landmarks, but got 879\.$'),
    ],
)
def test_wrong_numbers_of_landmarks_are_explained(tmp_path, length, message):
    file = truth_file(tmp_path, [item(1, SMALL, keypoints=[0] * 882)])
    truth = read_truth(file)
    good = {**found(SMALL, 1, category=8), 'keypoints': [0] * 882}
    entries = [good, {**good, 'keypoints': [0] * length}]
    results = parse_results(entries, 'results.json', truth)
    message = f'entry number 1 .*{message}'
    with pytest.raises(ValueError, match=message):
        task_problem(truth, results, 'keypoints')


def test_visible_landmarks_need_landmarks(tmp_path):
    file = truth_file(tmp_path, [item(1, SMALL)])
    with pytest.raises(ValueError, match="'keypoints' in annotation id 1"):
        read_truth(file, only_visible=True)


@pytest.mark.parametrize('task', ['bbox', 'segm', 'keypoints'])
def test_published_example_results(tmp_path, test_data, task):
    """The four published examples have no ground truth: make it of them.

    All have one item of category 1 in each of the images 1 to 5.
    """
    folder = test_data / 'deepfashion2'
    name = 'keys' if task == 'keypoints' else task
    file = folder / f'example_{name}_results.json'
    sizes = [(468, 624), (468, 624), (640, 883), (640, 892), (640, 487)]
    items = []
    for number, entry in enumerate(json.loads(file.read_text()), 1):
        keypoints = entry.get('keypoints', [0] * 882)
        more = {
            'keypoints': keypoints,
            'num_keypoints': 294,
            'segmentation': entry.get('segmentation', []),
        }
        box = entry.get('bbox', [0, 0, 100, 100])
        items.append(item(number, box, number, 1, **more))
    content = json.loads(truth_file(tmp_path, items, range(1, 6)).read_text())
    for image, (width, height) in zip(content['images'], sizes):
        image.update(width=width, height=height)
    (tmp_path / 'truth.json').write_text(json.dumps(content))
    truth = read_truth(tmp_path / 'truth.json')
    results = read_results(file, truth)
    problem = task_problem(truth, results, task)
    summary, _ = assess_task(truth, problem, task)
    assert summary['overall']['AP'] == pytest.approx(100)
    assert summary['counts']['short_sleeved_shirt'] == {
        'ground_truths': 5,
        'ignored': 0,
        'detections': 5,
    }
    if task == 'segm':
        areas = problem.detections.area.tolist()
        assert areas == [4965, 7484, 16639, 23061, 9349]
