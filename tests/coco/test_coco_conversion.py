"""Boxes, masks and keypoints from files, judged by pycocotools."""

import contextlib
import copy
import io
import json

import numpy as np
import pytest
from builders import annotation, coco_dataset, entry
from pycocotools import mask as mask_api
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

from mmdet_cppe5.coco import parse_ground_truth, parse_results
from mmdet_cppe5.coco.conversion import default_settings, to_core
from mmdet_cppe5.coco.pycocotools_engine import evaluate_with_pycocotools
from mmdet_cppe5.core import evaluate

SIZE = 160


def ours(data, entries, iou_type, **options):
    truth = parse_ground_truth(data, 'gt.json')
    results = parse_results(entries, 'results.json', truth)
    problem = to_core(truth, results, iou_type, **options)
    area_ranges, max_dets = default_settings(iou_type)
    return evaluate(
        problem.ground_truths,
        problem.detections,
        similarity=problem.similarity,
        area_ranges=area_ranges,
        max_dets=max_dets,
    )


def theirs(data, entries, iou_type):
    """COCOeval as its users call it, on copies since it writes into both."""
    with contextlib.redirect_stdout(io.StringIO()):
        coco = COCO()
        coco.dataset = copy.deepcopy(data)
        coco.createIndex()
        found = coco.loadRes(copy.deepcopy(entries))
        evaluator = COCOeval(coco, found, iou_type)
        evaluator.evaluate()
        evaluator.accumulate()
        evaluator.summarize()
    return evaluator


def same(evaluation, evaluator):
    """Compare whole arrays; -1 is pycocotools' undefined."""
    for name in ('precision', 'recall'):
        expected = evaluator.eval[name]
        got = np.nan_to_num(getattr(evaluation, name), nan=-1)
        assert np.abs(got - expected).max() <= 1e-12
    assert (expected > 0).any()


def star(rng, centre, radius):
    """A random polygon of eight corners around a centre, clipped."""
    angle = np.sort(rng.uniform(0, 2 * np.pi, 8))
    reach = radius * rng.uniform(0.5, 1, 8)
    points = (
        centre + np.stack([np.cos(angle), np.sin(angle)], 1) * (reach[:, None])
    )
    return np.clip(points, 0, SIZE).ravel().round(2).tolist()


def encoded(polygons):
    rle = mask_api.merge(mask_api.frPyObjects(polygons, SIZE, SIZE))
    return rle | {'counts': rle['counts'].decode()}


def segmented(seed):
    """20 images of objects as polygons, run lengths, and crowd regions."""
    rng = np.random.default_rng(seed)
    annotations, entries = [], []
    for image_id in range(1, 21):
        for _ in range(rng.integers(0, 5)):
            centre, radius = rng.uniform(30, 130, 2), rng.uniform(8, 70)
            category = int(rng.integers(1, 3))
            polygon = [star(rng, centre, radius)]
            rle = encoded(polygon)
            crowd = int(rng.random() < 0.15)
            kind = rng.integers(0, 2)
            item = annotation(
                image_id,
                category,
                mask_api.toBbox(rle).tolist(),
                segmentation=rle if crowd or kind else polygon,
                iscrowd=crowd,
                area=float(mask_api.area(rle)),
            )
            annotations.append(item)
            for _ in range(rng.integers(0, 3)):
                near = centre + rng.normal(0, radius / 8, 2)
                entries.append(
                    {
                        'image_id': image_id,
                        'category_id': category,
                        'segmentation': encoded([star(rng, near, radius)]),
                        'score': round(float(rng.random()), 1),
                    }
                )
    data = coco_dataset(annotations, image_ids=range(1, 21))
    for image in data['images']:
        image['width'] = image['height'] = SIZE
    return data, entries


@pytest.mark.parametrize('seed', [0, 1])
def test_masks_equal_pycocotools(seed):
    data, entries = segmented(seed)
    same(ours(data, entries, 'segm'), theirs(data, entries, 'segm'))


def test_mask_areas_decide_where_a_box_is_given_too():
    """Boxes beside masks do not change the result, as they do in loadRes."""
    data, entries = segmented(2)
    with_boxes = [
        item | {'bbox': mask_api.toBbox(item['segmentation']).tolist()}
        for item in entries
    ]
    same(ours(data, with_boxes, 'segm'), theirs(data, entries, 'segm'))


def test_mask_area_stands_in_for_a_missing_area():
    data, entries = segmented(3)
    expected = theirs(data, entries, 'segm')
    for item in data['annotations']:
        del item['area']
    same(ours(data, entries, 'segm'), expected)


def test_uncompressed_run_lengths():
    """A 2 x 2 square at x 1, y 1 of a 4 x 4 image, columns first."""
    counts = [5, 2, 2, 2, 5]
    square = {'size': [4, 4], 'counts': counts}
    data = coco_dataset([annotation(1, 1, [1, 1, 2, 2], segmentation=square)])
    data['images'][0].update(width=4, height=4)
    found = entry(1, 1, [0, 0, 1, 1], 0.5) | {'segmentation': square}
    assert ours(data, [found], 'segm').ap(0.5) == pytest.approx(1, abs=1e-12)
    assert square['counts'] is counts


@pytest.mark.parametrize(
    ('segmentation', 'message'),
    [
        ([], r"'segmentation' of annotation id 1 \(image id 1\) of gt.json "
         r'to be polygons or a run-length code, but got \[\]'),
        ([[1, 2, 3, 4]], 'at least three points'),
        ({'size': [9, 9], 'counts': [81]}, "its image's height and width, "
         '480 and 640, but got 9 and 9'),
    ],
)  # fmt: skip
def test_wrong_mask_is_named(segmentation, message):
    data = coco_dataset(
        [annotation(1, 1, [1, 1, 2, 2], segmentation=segmentation)]
    )
    with pytest.raises(ValueError, match=message):
        ours(data, [], 'segm')


def test_mask_needs_the_size_of_its_image():
    data = coco_dataset([annotation(1, 1, [1, 1, 2, 2], segmentation=[[1]])])
    del data['images'][0]['height']
    with pytest.raises(ValueError, match="Expected a 'height' in image id 1"):
        ours(data, [], 'segm')


def people(seed):
    """Persons with 17 keypoints; some unlabelled, some crowds."""
    rng = np.random.default_rng(seed)
    annotations, entries = [], []
    for image_id in range(1, 16):
        for _ in range(rng.integers(0, 4)):
            corner, size = rng.uniform(0, 200, 2), rng.uniform(30, 180, 2)
            points = corner + rng.uniform(0, 1, (17, 2)) * size
            seen = rng.integers(0, 3, 17)
            if rng.random() < 0.2:
                seen[:] = 0
            annotations.append(
                annotation(
                    image_id,
                    1,
                    [*corner.tolist(), *size.tolist()],
                    keypoints=np.column_stack([points, seen]).ravel().tolist(),
                    num_keypoints=int((seen > 0).sum()),
                    area=float(size.prod() * 0.6),
                    iscrowd=int(rng.random() < 0.1),
                )
            )
            for _ in range(rng.integers(0, 3)):
                near = points + rng.normal(0, size.mean() / 12, (17, 2))
                values = np.column_stack([near, np.ones(17)])
                entries.append(
                    {
                        'image_id': image_id,
                        'category_id': 1,
                        'keypoints': values.ravel().tolist(),
                        'score': round(float(rng.random()), 1),
                    }
                )
    data = coco_dataset(
        annotations, image_ids=range(1, 16), categories={1: 'person'}
    )
    return data, entries


@pytest.mark.parametrize('seed', [0, 1])
def test_keypoints_equal_pycocotools(seed):
    data, entries = people(seed)
    same(ours(data, entries, 'keypoints'), theirs(data, entries, 'keypoints'))


def test_number_of_keypoints_is_counted_where_missing():
    data, entries = people(2)
    expected = theirs(data, entries, 'keypoints')
    for item in data['annotations']:
        del item['num_keypoints']
    same(ours(data, entries, 'keypoints'), expected)


@pytest.mark.parametrize(
    ('keypoints', 'options', 'message'),
    [
        (None, {}, r"'keypoints' of annotation id 1 .* but got None"),
        ([1, 2, 2], {}, r'visibility of 17 keypoints \(51 numbers\), but got'),
        ([1, 2, 2], {'sigmas': [0]}, '`sigmas` to be positive'),
        ([1, 2, 'x'], {'sigmas': [0.1]}, '3 finite numbers'),
    ],
)
def test_wrong_keypoints_are_named(keypoints, options, message):
    item = annotation(1, 1, [1, 1, 2, 2], keypoints=keypoints)
    with pytest.raises(ValueError, match=message):
        ours(coco_dataset([item]), [], 'keypoints', **options)


def test_real_coco_images(test_data):
    """COCO's published numbers for its own results on 100 images."""
    folder = test_data / 'coco_val2014_100'
    data = json.loads((folder / 'instances_val2014_100.json').read_text())
    entries = json.loads(
        (folder / 'instances_val2014_fakebbox100_results.json').read_text()
    )
    evaluation = ours(data, entries, 'bbox')
    # val2014_fake_eval_res.txt beside the results
    published = [0.505, 0.697, 0.573, 0.586, 0.519, 0.501]
    got = [
        evaluation.ap(),
        evaluation.ap(0.5),
        evaluation.ap(0.75),
        *(evaluation.ap(area=name) for name in ('small', 'medium', 'large')),
    ]
    assert [round(value, 3) for value in got] == published
    same(evaluation, theirs(data, entries, 'bbox'))


def test_area_source_bbox():
    """An annotation of area 500 in a 50 x 50 box: small, or medium."""
    data = coco_dataset([annotation(1, 1, [10, 10, 50, 50], area=500)])
    found = [entry(1, 1, [10, 10, 50, 50], 0.5)]
    by_annotation = ours(data, found, 'bbox')
    by_box = ours(data, found, 'bbox', area_source='bbox')
    assert by_annotation.ap(area='small') == pytest.approx(1, abs=1e-12)
    assert np.isnan(by_annotation.ap(area='medium'))
    assert by_box.ap(area='medium') == pytest.approx(1, abs=1e-12)
    assert np.isnan(by_box.ap(area='small'))


@pytest.mark.parametrize('option', ['iou_type', 'area_source'])
def test_unknown_setting(option):
    truth = parse_ground_truth(coco_dataset([]), 'gt.json')
    results = parse_results([], 'results.json', truth)
    with pytest.raises(ValueError, match=f'`{option}` to be one of'):
        to_core(truth, results, **{option: 'x'})


def test_pycocotools_engine_has_cocoevals_own_numbers():
    """The audit engine's arrays come from COCOeval, unchanged."""
    rng = np.random.default_rng(5)
    boxes = rng.uniform(0, 100, (60, 4)).round(1)
    annotations = [
        annotation(
            int(k) % 10 + 1, int(k) % 2 + 1, box, iscrowd=int(k % 9 == 0)
        )
        for k, box in enumerate(boxes.tolist())
    ]
    data = coco_dataset(annotations, image_ids=range(1, 11))
    entries = [
        entry(item['image_id'], item['category_id'], box, score)
        for item, box, score in zip(
            data['annotations'],
            (boxes + rng.normal(0, 2, boxes.shape)).clip(1).tolist(),
            rng.random(60).round(1).tolist(),
        )
    ]
    truth = parse_ground_truth(data, 'gt.json')
    problem = to_core(truth, parse_results(entries, 'r.json', truth))
    scores = evaluate_with_pycocotools(
        problem.ground_truths, problem.detections
    )
    stats = theirs(data, entries, 'bbox').stats
    got = [scores.ap(), scores.ap(0.5), scores.ap(0.75)]
    got += [scores.ap(area=name) for name in ('small', 'medium', 'large')]
    got += [scores.ar(cap) for cap in (1, 10, 100)]
    got += [scores.ar(area=name) for name in ('small', 'medium', 'large')]
    assert np.nan_to_num(got, nan=-1).tolist() == stats.tolist()
