"""AP and AR of the core, bit for bit against pycocotools."""

import json

import numpy as np
import pytest
from coco_reference import Case, evaluate_coco, random_case, with_sentinels
from hypothesis import given, settings
from hypothesis import strategies as st

from mmdet_cppe5.core import Detections, GroundTruths, evaluate

B = [10, 10, 50, 50]
FAR = [400, 400, 20, 20]


def assert_equals_coco(case, **params):
    """The whole arrays are equal, to the last bit."""
    gt, dt = case.core()
    run = case.coco(**params)
    ours = evaluate(
        gt,
        dt,
        iou_thrs=params.get('iouThrs', run.params.iouThrs),
        max_dets=params.get('maxDets', run.params.maxDets),
    )
    for name in ('precision', 'recall', 'scores'):
        np.testing.assert_array_equal(
            with_sentinels(getattr(ours, name)), run.eval[name], err_msg=name
        )
    return ours, run


KINDS = {
    'plain': {},
    'sparse': {'detections': 4},
    'crowd': {'crowd': 0.05},
    'scores of 2 decimals': {'decimals': 2},
    'scores of 1 decimal': {'decimals': 1},
    'class without ground truth': {'absent_class': True},
    'images without either': {'no_gt': 0.3, 'no_dt': 0.2},
    'category ids from 0': {'first_category': 0},
    '200 detections per image': {'detections': 200, 'classes': 1},
    'crowd, ties, 200': {'detections': 200, 'crowd': 0.3, 'decimals': 1},
}


@pytest.mark.parametrize('kind', KINDS)
def test_arrays_equal_pycocotools(kind):
    case = random_case(sum(map(ord, kind)), images=25, **KINDS[kind])
    ours, run = assert_equals_coco(case)
    assert list(ours.summary().values()) == run.stats.tolist()


def coco_columns(dataset, results):
    """(ground truths, detections) of COCO lists, by ascending image id."""
    images = {
        key: n
        for n, key in enumerate(sorted(i['id'] for i in dataset['images']))
    }
    labels = {
        key: n
        for n, key in enumerate(sorted(c['id'] for c in dataset['categories']))
    }
    world = {'num_images': len(images), 'num_classes': len(labels)}

    def columns(rows):
        return (
            [images[row['image_id']] for row in rows],
            [labels[row['category_id']] for row in rows],
            [row['bbox'] for row in rows],
        )

    rows = dataset['annotations']
    gt = GroundTruths(
        *columns(rows),
        area=[row['area'] for row in rows],
        crowd=[row['iscrowd'] for row in rows],
        **world,
    )
    scores = [row['score'] for row in results]
    return gt, Detections(*columns(results), scores, **world)


def test_real_coco_images_give_cocos_published_numbers(test_data):
    folder = test_data / 'coco_val2014_100'
    found = {path.name: path for path in folder.rglob('*.json')}
    dataset = json.loads(found['instances_val2014_100.json'].read_text())
    results = json.loads(
        found['instances_val2014_fakebbox100_results.json'].read_text()
    )
    ours = evaluate(*coco_columns(dataset, results)).summary()
    assert ours['AP'] == 0.5045806987249628
    # val2014_fake_eval_res.txt, as COCO publishes it
    published = '.505 .697 .573 .586 .519 .501 .387 .594 .595 .640 .566 .564'
    assert [f'{value:.3f}'[1:] for value in ours.values()] == published.split()
    run = evaluate_coco(
        dataset['images'],
        dataset['categories'],
        dataset['annotations'],
        results,
    )
    assert list(ours.values()) == run.stats.tolist()


def gt_box(box, label=0, image=0, **extras):
    return (image, label, box, extras)


def dt_box(score, box, label=0, image=0):
    return (image, label, score, box)


EDGES = {
    'area exactly 1024': (
        [gt_box([0, 0, 32, 32])],
        [dt_box(0.9, [0, 0, 32, 32])],
    ),
    'area exactly 9216': (
        [gt_box([0, 0, 96, 96])],
        [dt_box(0.9, [0, 0, 96, 96])],
    ),
    'bin by annotation area': ([gt_box(B, area=500)], [dt_box(0.9, B)]),
    'area 0': ([gt_box(B, area=0)], [dt_box(0.9, B)]),
    'area beyond all': ([gt_box(B, area=2e10)], [dt_box(0.9, B)]),
    'equal IoU': (
        [gt_box([0, 0, 10, 10]), gt_box([4, 0, 10, 10])],
        [dt_box(0.9, [2, 0, 10, 10]), dt_box(0.8, [0, 0, 10, 10])],
    ),
    'tie, hit first': ([gt_box(B)], [dt_box(0.5, B), dt_box(0.5, FAR)]),
    'tie, false alarm first': (
        [gt_box(B)],
        [dt_box(0.5, FAR), dt_box(0.5, B)],
    ),
    'tie over images': (
        [gt_box(B)],
        [dt_box(0.5, FAR, image=1), dt_box(0.5, B)],
    ),
    'negative width': (
        [gt_box(B)],
        [dt_box(0.9, [60, 10, -50, 50]), dt_box(0.8, B)],
    ),
    'zero-area box': (
        [gt_box([10, 10, 0, 50])],
        [dt_box(0.9, [10, 10, 0, 50])],
    ),
    'duplicates': ([gt_box(B), gt_box(B)], [dt_box(0.9, B), dt_box(0.8, B)]),
    'only crowd': ([gt_box(B, iscrowd=1)], [dt_box(0.9, B)]),
    'crowd takes any number': (
        [gt_box([100, 100, 10, 10], iscrowd=1), gt_box(B)],
        [dt_box(0.9, [105, 100, 10, 10])] * 3 + [dt_box(0.5, B)],
    ),
    'no ground truth': ([], [dt_box(0.9, B)]),
    'no detection': ([gt_box(B)], []),
    'class without detection': ([gt_box(B), gt_box(B, 1)], [dt_box(0.9, B)]),
    'unmatched of another size': (
        [gt_box(B)],
        [dt_box(0.95, [0, 300, 100, 100]), dt_box(0.9, B)],
    ),
    '120 perfect boxes': (
        [gt_box([20 * i, 0, 10, 10]) for i in range(120)],
        [dt_box(0.9, [20 * i, 0, 10, 10]) for i in range(120)],
    ),
    'negative scores': ([gt_box(B)], [dt_box(-2, FAR), dt_box(-3, B)]),
}


@pytest.mark.parametrize('name', EDGES)
def test_edge_cases_equal_pycocotools(name):
    gts, dts = EDGES[name]
    assert_equals_coco(Case(gts, dts, images=2, classes=2))


def test_sizes_count_at_both_ends():
    for side, names in ((32, 'small medium'), (96, 'medium large')):
        box = [0, 0, side, side]
        gt, dt = Case([gt_box(box)], [dt_box(0.9, box)]).core()
        ours = evaluate(gt, dt)
        for area in ('small', 'medium', 'large'):
            assert np.isnan(ours.ap(area=area)) != (area in names)


def test_recall_of_exactly_035_misses_its_level():
    boxes = [[30 * i, 0, 20, 20] for i in range(20)]
    hits = [dt_box(0.9 - i / 100, box) for i, box in enumerate(boxes[:14])]
    hits.insert(7, dt_box(0.835, FAR))
    ours, _ = assert_equals_coco(Case(list(map(gt_box, boxes)), hits))
    # 7 of 20 hits are under linspace's 0.35: levels 0 to .34 have precision
    # 1, those to .70 (linspace's is over 14/20) end one early too.
    assert ours.ap(0.5) == pytest.approx((35 + 35 * 14 / 15) / 101, abs=1e-12)


@pytest.mark.parametrize('caps', [(1, 10, 100), (300,), (50, 300, 500), (5,)])
def test_any_caps(caps):
    case = random_case(5, images=6, classes=2, detections=120)
    ours, run = assert_equals_coco(case, maxDets=list(caps))
    assert [f'AR{cap}' for cap in caps] == [
        name
        for name in ours.summary()
        if name[2:].isdigit() and name.startswith('AR')
    ]
    largest = run.eval['precision'][:, :, :, 0, -1]
    assert ours.summary()['AP'] == largest[largest > -1].mean()


@pytest.mark.parametrize(
    ('thresholds', 'has_ap50'),
    [([0.5, 0.75], True), ([0.8], False), ([0.5], True)],
)
def test_own_thresholds(thresholds, has_ap50):
    case = random_case(6, images=6)
    ours, _ = assert_equals_coco(case, iouThrs=np.array(thresholds))
    assert ('AP50' in ours.summary()) == has_ap50


def test_thresholds_are_looked_up_to_within_rounding():
    gt, dt = random_case(7, images=6).core()
    ours = evaluate(gt, dt, iou_thrs=np.arange(0.5, 1, 0.05))
    assert ours.summary()['AP75'] == ours.ap(0.75) > 0


def test_no_detection_is_zero_not_nothing():
    gt, dt = Case([gt_box(B), gt_box(B, image=1)], [], images=2).core()
    summary = evaluate(gt, dt).summary()
    assert summary['AP'] == summary['AP50'] == summary['AR100'] == 0
    assert np.isnan(summary['APs'])


def test_class_without_ground_truth_is_left_out():
    gt, dt = Case(
        [gt_box(B)], [dt_box(0.9, B), dt_box(0.95, FAR, label=1)], classes=2
    ).core()
    ours = evaluate(gt, dt)
    assert ours.ap() == pytest.approx(1, abs=1e-12)
    np.testing.assert_array_equal(np.isnan(ours.ap_per_class()), [False, True])


def test_no_image_is_undefined():
    gt, dt = Case([], [], images=0).core()
    assert all(np.isnan(list(evaluate(gt, dt).summary().values())))


def test_ignored_objects_excuse_what_finds_them_once():
    """Ignored but no crowd, as keypoint objects without keypoints are."""
    world = {'num_images': 1, 'num_classes': 1}
    gt = GroundTruths([0, 0], [0, 0], [B, FAR], ignore=[0, 1], **world)
    dt = Detections([0] * 3, [0] * 3, [FAR, FAR, B], [0.9, 0.8, 0.7], **world)
    decisions = evaluate(gt, dt).decisions(0.5)
    assert decisions.ignored.tolist() == [True, False, False]
    assert decisions.false_positive.tolist() == [False, True, False]
    assert decisions.true_positive.tolist() == [False, False, True]


def test_row_order_matters_only_among_ties():
    case = random_case(8, images=10)
    order = np.random.default_rng(0).permutation(len(case.dts))
    shuffled = Case(
        case.gts, [case.dts[row] for row in order], case.images, case.classes
    )
    np.testing.assert_array_equal(
        evaluate(*case.core()).precision, evaluate(*shuffled.core()).precision
    )


SMALL_BOX = st.tuples(
    *[st.integers(0, 4)] * 2, *[st.sampled_from([-2, 0, 1, 2, 3])] * 2
).map(list)
EXTRAS = st.fixed_dictionaries(
    {'iscrowd': st.sampled_from([0, 0, 0, 1])},
    optional={'area': st.sampled_from([0, 1024, 5000, 9216, 20000])},
)
WHERE = (st.integers(0, 2), st.integers(0, 1))


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.tuples(*WHERE, SMALL_BOX, EXTRAS), max_size=8),
    st.lists(
        st.tuples(*WHERE, st.sampled_from([0.1, 0.5, 0.9]), SMALL_BOX),
        max_size=12,
    ),
    st.sampled_from([[1, 2, 3], [1, 10, 100], [2]]),
)
def test_small_cases_full_of_ties(gts, dts, caps):
    case = Case(gts, dts, images=3, classes=2)
    assert_equals_coco(case, maxDets=caps, iouThrs=np.array([0.1, 0.5, 1.0]))
