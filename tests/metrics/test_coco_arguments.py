"""CPPE5Metric in the place of CocoMetric: its arguments, and its masks."""

import json

import numpy as np
import pytest
import torch
from builders import annotation, coco_dataset, write
from metric_builders import (
    ann_file,
    approx,
    data_sample,
    random_samples,
    run,
)
from mmdet.evaluation import CocoMetric
from mmdet.registry import METRICS
from mmengine.config import Config
from pycocotools import mask as mask_api

from mmdet_cppe5.metrics.cppe5_metric import CPPE5Metric

CLASSES = ('A', 'B')
SIZE = (120, 160)


# -- arguments --------------------------------------------------------------


def test_an_evaluator_merged_into_that_of_coco_works(tmp_path):
    """The usual mistake, `_delete_=True` forgotten, changes nothing."""
    samples = random_samples(0)
    path = tmp_path / 'merged.py'
    path.write_text(
        "_base_ = 'mmdet::_base_/datasets/coco_detection.py'\n"
        "val_evaluator = dict(type='CPPE5Metric', ann_file=None)\n"
    )
    evaluator = Config.fromfile(path).val_evaluator
    assert set(evaluator) > {'type', 'ann_file', 'metric', 'format_only'}
    metric = METRICS.build(evaluator)
    metric.dataset_meta = {'classes': CLASSES}
    metric.process({}, samples)
    assert metric.evaluate(len(samples)) == run(samples)


@pytest.mark.parametrize(
    'argument',
    [{'classwise': True}, {'sort_categories': True}, {'use_mp_eval': True}],
)
def test_arguments_that_change_nothing(argument):
    samples = random_samples(1)
    assert run(samples, **argument) == run(samples)


def test_proposal_nums_are_the_caps():
    samples = random_samples(2)
    got = run(samples, proposal_nums=(1, 3))
    assert got == run(samples, max_dets=(1, 3))
    assert 'cppe5/AR3' in got
    with pytest.raises(ValueError, match='two names for the same caps'):
        CPPE5Metric(proposal_nums=(1, 3), max_dets=(1, 2))


@pytest.mark.parametrize(
    'argument', [{'metric_items': ['mAP']}, {'file_client_args': {}}]
)
def test_other_arguments_name_cause_and_cure(argument):
    (name,) = argument
    with pytest.raises(TypeError, match=f'no argument {name}.*_delete_=True'):
        CPPE5Metric(**argument)


@pytest.mark.parametrize('metric', ['proposal', [], ['bbox', 'boxes']])
def test_other_metrics(metric):
    with pytest.raises(ValueError, match="`metric` to be 'bbox', 'segm'"):
        CPPE5Metric(metric=metric)


def test_pycocotools_does_not_audit_masks():
    with pytest.raises(ValueError, match="engine='core' for masks"):
        CPPE5Metric(metric='segm', engine='pycocotools')


# -- masks ------------------------------------------------------------------


def box_mask(x, y, w, h):
    mask = np.zeros(SIZE, dtype=bool)
    mask[y : y + h, x : x + w] = True
    return mask


def masks_and_truth(seed):
    """Data samples with masks, and the annotations they are judged by."""
    rng = np.random.default_rng(seed)
    samples, annotations = [], []
    for image_id in range(1, 9):
        found, masks = [], []
        for _ in range(rng.integers(1, 5)):
            x, y = rng.integers(0, (100, 60))
            w, h = rng.integers(6, (60, 60))
            label = int(rng.integers(2))
            mask = box_mask(x, y, w, h) & (rng.random(SIZE) < 0.9)
            code = mask_api.encode(np.asfortranarray(mask))
            annotations.append(
                annotation(
                    image_id,
                    label + 1,
                    [int(x), int(y), int(w), int(h)],
                    area=int(mask.sum()),
                    segmentation={**code, 'counts': code['counts'].decode()},
                )
            )
            for _ in range(rng.integers(0, 3)):
                box = np.maximum(
                    np.array([x, y, w, h]) + rng.integers(-2, 3, 4), 1
                )
                wrong = int(rng.random() < 0.2)
                score = round(float(rng.random()), 2)
                found.append(((label + wrong) % 2, box.tolist(), score))
                masks.append(box_mask(*box))
        sample = data_sample(image_id, found, size=SIZE)
        stack = np.array(masks).reshape(-1, *SIZE)
        sample['pred_instances']['masks'] = torch.from_numpy(stack)
        # Scores of masks of their own, as Mask Scoring R-CNN has.
        own = sample['pred_instances']['scores'].flip(0)
        sample['pred_instances']['mask_scores'] = own
        samples.append(sample)
    data = coco_dataset(annotations, image_ids=range(1, 9))
    for image in data['images']:
        image.update(height=SIZE[0], width=SIZE[1])
    return samples, data


@pytest.mark.parametrize('seed', [0, 1])
def test_boxes_and_masks_equal_coco_metric(tmp_path, seed):
    samples, data = masks_and_truth(seed)
    path = write(tmp_path / 'gt.json', data)
    ours = run(
        samples, CLASSES, path, metric=['bbox', 'segm'],
        outfile_prefix=str(tmp_path / 'run'),
    )  # fmt: skip
    coco = CocoMetric(
        path, metric=['bbox', 'segm'], proposal_nums=(1, 10, 100)
    )
    coco.dataset_meta = {'classes': CLASSES}
    coco.process({}, samples)
    theirs = coco.evaluate(len(samples))
    names = {'mAP': 'AP', 'mAP_50': 'AP50', 'mAP_75': 'AP75', 'mAP_s': 'APs',
             'mAP_m': 'APm'}  # fmt: skip
    for iou_type, start in (('bbox', ''), ('segm', 'segm_')):
        for their, our in names.items():
            # CocoMetric rounds to three digits.
            value = ours[f'cppe5/{start}{our}']
            assert round(value / 100, 3) == theirs[f'coco/{iou_type}_{their}']
    assert 0 < ours['cppe5/segm_AP'] != ours['cppe5/AP']
    entries = json.loads((tmp_path / 'run.segm.json').read_text())
    assert {'segmentation', 'score'} <= set(entries[0])
    scores = json.loads((tmp_path / 'run.segm.scores.json').read_text())
    assert scores['overall']['AP'] == approx(ours['cppe5/segm_AP'])


def test_masks_of_the_data_samples_are_ground_truth_too(tmp_path):
    samples, data = masks_and_truth(2)
    path = write(tmp_path / 'gt.json', data)
    expected = run(samples, CLASSES, path, metric='segm')
    for sample in samples:
        sample['instances'] = [
            {
                'bbox': [x, y, x + w, y + h],
                'bbox_label': item['category_id'] - 1,
                'ignore_flag': 0,
                'area': item['area'],
                'mask': item['segmentation'],
            }
            for item in data['annotations']
            if item['image_id'] == sample['img_id']
            for x, y, w, h in [item['bbox']]
        ]
    assert run(samples, CLASSES, metric='segm') == expected


def test_a_detector_without_masks(tmp_path):
    path = ann_file(tmp_path, [annotation(1, 1, [1, 1, 9, 9])])
    sample = data_sample(1, [(0, [1, 1, 9, 9], 0.5)])
    with pytest.raises(KeyError, match="'masks' in the predictions of image"):
        run([sample], CLASSES, path, metric='segm')
