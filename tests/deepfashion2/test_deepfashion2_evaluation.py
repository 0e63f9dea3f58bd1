"""Boxes, masks and landmarks, against pycocotools and measured figures."""

import contextlib
import io
import json

import numpy as np
import pytest
from pycocotools import mask
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

from mmdet_cppe5.coco import parse_results
from mmdet_cppe5.deepfashion2.categories import CATEGORIES
from mmdet_cppe5.deepfashion2.evaluation import (
    assess_task,
    read_truth,
    task_problem,
    task_settings,
)
from mmdet_cppe5.deepfashion2.landmarks import visible_only

SHIFTS = (0, 0.02, 0.03, 0.05, 0.1)
KEYPOINT_NAMES = (
    *('AP', 'AP50', 'AP75', 'APm', 'APl'),
    *('AR20', 'AR50', 'AR75', 'ARm', 'ARl'),
)
BOX_NAMES = (
    *('AP', 'AP50', 'AP75', 'APs', 'APm', 'APl'),
    *('AR1', 'AR10', 'AR100', 'ARs', 'ARm', 'ARl'),
)


@pytest.fixture(scope='module')
def demo(test_data):
    """The content of a real annotation file of 32 images and 55 items."""
    file = test_data / 'deepfashion2' / 'demo32.json'
    return json.loads(file.read_text())


def own_landmarks(item):
    category = CATEGORIES[item['category_id'] - 1]
    points = np.reshape(item['keypoints'], (294, 3)).astype(float)
    return category.slots, points[category.slots]


def shifted_landmarks(coco, shift, placed=()):
    """Move each item's labelled landmarks right by shift · sqrt(area).

    ``placed`` names landmarks that lie at the middle of the item's box:
    'own' for the category's that are not labelled, 'foreign' for those of
    other categories. Else they are (0, 0), the own ones shifted.
    """
    entries = []
    for number, item in enumerate(coco['annotations']):
        x, y, width, height = item['bbox']
        middle = x + width / 2, y + height / 2, 0
        points = np.zeros((294, 3))
        if 'foreign' in placed:
            points[:] = middle
        slots, own = own_landmarks(item)
        moved = own.copy()
        moved[:, 0] += shift * np.sqrt(item['area'])
        if 'own' in placed:
            moved[own[:, 2] == 0] = middle
        points[slots] = moved
        entries.append(
            {
                'image_id': item['image_id'],
                'category_id': item['category_id'],
                'score': round(1 - 0.01 * number, 4),
                'keypoints': np.round(points, 4).ravel().tolist(),
            }
        )
    return entries


def written(tmp_path, content):
    file = tmp_path / 'truth.json'
    file.write_text(json.dumps(content))
    return file


def summary_of(truth, entries, task, as_reference=False, settings=None):
    results = parse_results(entries, 'results.json', truth)
    problem = task_problem(truth, results, task, as_reference)
    return assess_task(truth, problem, task, settings)[0]


def ours(truth, entries, task, names, as_reference=False):
    """Our numbers as fractions, -1 where undefined."""
    overall = summary_of(truth, entries, task, as_reference)['overall']
    return [
        -1 if overall[name] is None else overall[name] / 100 for name in names
    ]


def pycocotools_stats(coco, entries, task, sigmas=None):
    """pycocotools' numbers."""
    with contextlib.redirect_stdout(io.StringIO()):
        truth = COCO()
        truth.dataset = json.loads(json.dumps(coco))
        truth.createIndex()
        found = truth.loadRes(json.loads(json.dumps(entries)))
        evaluator = COCOeval(truth, found, task)
        if sigmas is not None:
            evaluator.params.kpt_oks_sigmas = np.array(sigmas)
        evaluator.evaluate()
        evaluator.accumulate()
        evaluator.summarize()
    return evaluator.stats


# Measured with pycocotools 2.0.11 and kpt_oks_sigmas: AP, AP50, AP75, AR.
PUBLISHED = {
    ('all', 0): (1, 1, 1, 1),
    ('all', 0.02): (0.9560, 1, 1, 0.9627),
    ('all', 0.03): (0.7881, 1, 1, 0.7996),
    ('all', 0.05): (0.5139, 1, 0.6039, 0.5355),
    ('all', 0.1): (0.0016, 0.0116, 0, 0.0054),
    ('visible', 0): (0.9900, 0.9900, 0.9900, 1),
    ('visible', 0.02): (0.9379, 0.9900, 0.9900, 0.9580),
    ('visible', 0.03): (0.8078, 0.9900, 0.9152, 0.8434),
    ('visible', 0.05): (0.5071, 0.9152, 0.6298, 0.5584),
    ('visible', 0.1): (0.0283, 0.1748, 0, 0.0428),
}


@pytest.mark.parametrize('shift', SHIFTS)
@pytest.mark.parametrize('landmarks', ['all', 'visible'])
def test_shifted_landmarks_as_the_reference(
    demo, test_data, tmp_path, landmarks, shift
):
    only_visible = landmarks == 'visible'
    truth = read_truth(written(tmp_path, demo), only_visible=only_visible)
    entries = shifted_landmarks(demo, shift)
    got = ours(truth, entries, 'keypoints', KEYPOINT_NAMES, True)
    coco = visible_only(demo, 'demo') if only_visible else demo
    sigmas = json.loads(
        (test_data / 'deepfashion2' / 'sigmas_294.json').read_text()
    )
    expected = pycocotools_stats(coco, entries, 'keypoints', sigmas)
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-12)
    some = [got[KEYPOINT_NAMES.index(n)] for n in KEYPOINT_NAMES[:3]]
    some.append(got[KEYPOINT_NAMES.index('AR20')])
    expected = PUBLISHED[landmarks, shift]
    np.testing.assert_allclose(some, expected, rtol=0, atol=6e-5)


# The same for visible landmarks, the unused slots at the boxes' middles: AP.
FILLED = {0: 1, 0.02: 0.9479, 0.03: 0.8168, 0.05: 0.5141, 0.1: 0.0286}


@pytest.mark.parametrize('shift', SHIFTS)
@pytest.mark.parametrize(
    ('placed', 'as_reference'), [(('foreign',), True), (('own',), False)]
)
def test_item_without_landmarks_is_ignored(
    demo, tmp_path, shift, placed, as_reference
):
    """One item has occluded landmarks only.

    In the reference it needs foreign landmarks near it, by default its own.
    """
    truth = read_truth(written(tmp_path, demo), only_visible=True)
    entries = shifted_landmarks(demo, shift, placed)
    got = ours(truth, entries, 'keypoints', ['AP'], as_reference)
    assert got == pytest.approx([FILLED[shift]], abs=6e-5)


def test_default_equals_reference_where_all_items_have_landmarks(
    demo, tmp_path
):
    truth = read_truth(written(tmp_path, demo))
    entries = shifted_landmarks(demo, 0.03)
    by_default = summary_of(truth, entries, 'keypoints')
    reference = summary_of(truth, entries, 'keypoints', True)
    assert by_default == reference


def test_stale_num_keypoints_counts_in_the_reference_only(demo, tmp_path):
    """Hiding landmarks without counting again: .9811 in the reference."""
    hidden = visible_only(demo, 'demo')
    for item, before in zip(hidden['annotations'], demo['annotations']):
        item['num_keypoints'] = before['num_keypoints']
    truth = read_truth(written(tmp_path, hidden))
    entries = shifted_landmarks(demo, 0)
    reference = ours(truth, entries, 'keypoints', ['AP'], True)
    assert reference == pytest.approx([0.9811], abs=6e-5)
    entries = shifted_landmarks(demo, 0, ['own'])
    assert ours(truth, entries, 'keypoints', ['AP']) == [pytest.approx(1)]


def test_size_of_a_detection(demo, tmp_path):
    """Foreign (0, 0) landmarks stretch a detection in the reference only."""
    truth = read_truth(written(tmp_path, demo))
    entries = shifted_landmarks(demo, 0, ['own'])
    for as_reference in (False, True):
        results = parse_results(entries, 'results.json', truth)
        problem = task_problem(truth, results, 'keypoints', as_reference)
        points = np.reshape(entries[0]['keypoints'], (294, 3))[:, :2]
        if not as_reference:
            points = points[CATEGORIES[7].slots]
        size = points.max(axis=0) - points.min(axis=0)
        assert problem.detections.area[0] == pytest.approx(size.prod())
    entries[0]['bbox'] = [0, 0, 7, 3]
    for entry in entries[1:]:
        entry['bbox'] = [0, 0, 1, 1]
    results = parse_results(entries, 'results.json', truth)
    problem = task_problem(truth, results, 'keypoints')
    assert problem.detections.area.tolist() == [21] + [1] * 54


def test_landmarks_of_each_category(demo, tmp_path):
    truth = read_truth(written(tmp_path, demo))
    entries = shifted_landmarks(demo, 0.03)
    classes = summary_of(truth, entries, 'keypoints')['classes']
    got = {
        name: scores['AP'] / 100
        for name, scores in classes.items()
        if scores['AP'] is not None
    }
    # Measured with pycocotools 2.0.11.
    ids = (1, 2, 4, 5, 7, 8, 9, 10, 12, 13)
    values = (
        *(0.7128, 0.7906, 0.8069, 0.7252, 0.9),
        *(0.8452, 0.8, 0.8, 0.7, 0.8),
    )
    names = [CATEGORIES[identity - 1].name for identity in ids]
    assert got == pytest.approx(dict(zip(names, values)), abs=6e-5)


def moved_boxes(demo):
    """Every item's box, a tenth of its width too far right."""
    for number, item in enumerate(demo['annotations']):
        x, y, width, height = item['bbox']
        yield {
            'image_id': item['image_id'],
            'category_id': item['category_id'],
            'score': round(1 - 0.01 * number, 4),
            'bbox': [x + 0.1 * width, y, width, height],
        }


def moved_masks(demo):
    """Every item's mask, int(a tenth of its width) pixels too far right."""
    sizes = {image['id']: image for image in demo['images']}
    for entry, item in zip(moved_boxes(demo), demo['annotations']):
        image = sizes[item['image_id']]
        height, width = image['height'], image['width']
        polygons = mask.frPyObjects(item['segmentation'], height, width)
        pixels = mask.decode(mask.merge(polygons))
        shift = int(0.1 * item['bbox'][2])
        moved = np.zeros_like(pixels)
        moved[:, shift:] = pixels[:, :-shift]
        code = mask.encode(np.asfortranarray(moved))
        code['counts'] = code['counts'].decode()
        del entry['bbox']
        yield {**entry, 'segmentation': code}


# Measured with pycocotools 2.0.11.
MOVED = {
    'bbox': {'AP': 0.7, 'AP50': 1, 'AP75': 1, 'AR1': 0.665, 'AR100': 0.7},
    'segm': {
        'AP': 0.4210, 'AP50': 0.9203, 'AP75': 0.1194, 'AR100': 0.4427,
    },
}  # fmt: skip


@pytest.mark.parametrize('task', ['bbox', 'segm'])
@pytest.mark.filterwarnings('ignore:__array__ implementation')
def test_moved_boxes_and_masks(demo, tmp_path, task):
    entries = list({'bbox': moved_boxes, 'segm': moved_masks}[task](demo))
    truth = read_truth(written(tmp_path, demo))
    got = ours(truth, entries, task, BOX_NAMES)
    expected = pycocotools_stats(demo, entries, task)
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-12)
    numbers = dict(zip(BOX_NAMES, got))
    some = {name: numbers[name] for name in MOVED[task]}
    assert some == pytest.approx(MOVED[task], abs=6e-5)


@pytest.mark.parametrize('task', ['bbox', 'segm'])
@pytest.mark.filterwarnings('ignore:__array__ implementation')
def test_errors_and_intervals_work(demo, tmp_path, task):
    """Every error of the moved masks and boxes is one of place."""
    entries = list({'bbox': moved_boxes, 'segm': moved_masks}[task](demo))
    truth = read_truth(written(tmp_path, demo))
    settings = task_settings(
        task, {'pos_thr': 0.95}, {'num_resamples': 50, 'seed': 1}
    )
    summary = summary_of(truth, entries, task, settings=settings)
    delta = summary['tide']['delta_ap']
    at_95 = summary['tide']['ap']
    assert delta['Loc'] == pytest.approx(100 - at_95)
    assert delta['Bkg'] == delta['Cls'] == delta['Miss'] == 0
    interval = summary['intervals']['overall']['AP']
    # Sums in another order: equal to the last digits only.
    ap = pytest.approx(summary['overall']['AP'], abs=1e-9)
    assert interval['estimate'] == ap
    if task == 'bbox':  # every box is moved alike, so nothing varies
        assert interval['low'] is interval['high'] is None
        assert interval['reason'] == 'leaving out any image changes nothing'
    else:
        assert interval['low'] < interval['estimate'] < interval['high']
