"""Data samples and metrics for the tests of this folder."""

import numpy as np
import pytest
import torch
from builders import coco_dataset, write

from mmdet_cppe5.metrics.cppe5_metric import CPPE5Metric


def data_sample(image_id, found=(), truth=None, size=(480, 640)):
    """A data sample as an evaluator hands it over.

    ``found`` holds (label, [x, y, w, h], score); ``truth`` holds (label,
    [x, y, w, h]) with optional further fields in a dict.
    """
    corners = [[x, y, x + w, y + h] for _, (x, y, w, h), _ in found]
    sample = {
        'img_id': image_id,
        'ori_shape': size,
        'pred_instances': {
            'bboxes': torch.tensor(corners).double().reshape(-1, 4),
            'scores': torch.tensor([score for *_, score in found]).double(),
            'labels': torch.tensor([label for label, *_ in found]).long(),
        },
    }
    if truth is not None:
        sample['instances'] = [instance(*item) for item in truth]
    return sample


def instance(label, box, fields=None):
    """One annotation as CPPE5Dataset puts it into a sample."""
    x, y, w, h = box
    return {
        'bbox': [x, y, x + w, y + h],
        'bbox_label': label,
        'ignore_flag': 0,
        'iscrowd': 0,
        'area': w * h,
        **(fields or {}),
    }


def run(samples, classes=('A', 'B'), ann_file=None, **options):
    """Build a metric, give it the samples, and return its dict."""
    metric = CPPE5Metric(ann_file, **options)
    metric.dataset_meta = {'classes': classes}
    metric.process({}, samples)
    return metric.evaluate(len(samples))


def random_samples(seed, images=12, classes=2):
    """Samples with ground truth: hits, near misses, wrong classes, noise."""
    rng = np.random.default_rng(seed)
    samples = []
    for image_id in range(1, images + 1):
        truth, found = [], []
        for _ in range(rng.integers(0, 5)):
            label = int(rng.integers(classes))
            box = [*rng.uniform(0, 300, 2), *rng.uniform(8, 150, 2)]
            truth.append((label, box))
            for _ in range(rng.integers(0, 3)):
                near = np.array(box) + rng.normal(0, 0.1 * box[2], 4)
                wrong = int(rng.random() < 0.2)
                found.append(
                    (
                        (label + wrong) % classes,
                        np.maximum(near, 1).tolist(),
                        round(float(rng.random()), 2),
                    )
                )
        samples.append(data_sample(image_id, found, truth))
    return samples


def approx(points):
    """pycocotools adds 2.2e-16 to a denominator; nothing else may differ."""
    return pytest.approx(points, abs=1e-11)


def ann_file(tmp_path, annotations, **options):
    return write(tmp_path / 'gt.json', coco_dataset(annotations, **options))
