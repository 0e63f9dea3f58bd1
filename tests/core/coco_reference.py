"""Cases as plain columns, for the core and for pycocotools alike."""

import contextlib
import copy
import io
from dataclasses import dataclass, field

import numpy as np
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

from mmdet_cppe5.core import Detections, GroundTruths


@dataclass
class Case:
    """Ground truths ``(image, label, box, extras)`` and detections.

    Detections are ``(image, label, score, box)``; extras may hold ``area``
    and ``iscrowd``.
    """

    gts: list
    dts: list
    images: int = 1
    classes: int = 1
    first_category: int = 1
    sigmas: list = field(default_factory=list)

    def core(self):
        def column(rows, index):
            return [row[index] for row in rows]

        def extra(name):
            return [row[3].get(name) for row in self.gts]

        world = {'num_images': self.images, 'num_classes': self.classes}
        area = [
            box[2] * box[3] if area is None else area
            for area, box in zip(extra('area'), column(self.gts, 2))
        ]
        gt = GroundTruths(
            np.array(column(self.gts, 0), int),
            np.array(column(self.gts, 1), int),
            np.array(column(self.gts, 2), float).reshape(-1, 4),
            area=area,
            crowd=[bool(flag) for flag in extra('iscrowd')],
            **world,
        )
        dt = Detections(
            np.array(column(self.dts, 0), int),
            np.array(column(self.dts, 1), int),
            np.array(column(self.dts, 3), float).reshape(-1, 4),
            column(self.dts, 2),
            **world,
        )
        return gt, dt

    def coco(self, **params):
        """pycocotools' evaluation of the case, run."""
        images = [{'id': image + 1} for image in range(self.images)]
        first = self.first_category
        annotations = [
            {
                'id': row + 1,
                'image_id': image + 1,
                'category_id': label + first,
                'bbox': [float(value) for value in box],
                'area': float(extras.get('area', box[2] * box[3])),
                'iscrowd': int(extras.get('iscrowd', 0)),
            }
            for row, (image, label, box, extras) in enumerate(self.gts)
        ]
        results = [
            {
                'image_id': image + 1,
                'category_id': label + first,
                'bbox': [float(value) for value in box],
                'score': float(score),
            }
            for image, label, score, box in self.dts
        ]
        categories = [{'id': k + first} for k in range(self.classes)]
        return evaluate_coco(
            images, categories, annotations, results, **params
        )


def evaluate_coco(images, categories, annotations, results, **params):
    """Run pycocotools on plain lists; returns the COCOeval."""
    with contextlib.redirect_stdout(io.StringIO()):
        gt = COCO()
        gt.dataset = {
            'images': images,
            'categories': categories,
            'annotations': copy.deepcopy(annotations),
        }
        gt.createIndex()
        if results:
            dt = gt.loadRes(copy.deepcopy(results))
        else:  # loadRes([]) raises IndexError
            dt = COCO()
            dt.dataset = {**gt.dataset, 'annotations': []}
            dt.createIndex()
        run = COCOeval(gt, dt, 'bbox')
        for name, value in params.items():
            setattr(run.params, name, value)
        run.evaluate()
        run.accumulate()
        if len(run.params.maxDets) >= 3:
            run.summarize()
    return run


def random_case(
    seed,
    images=40,
    classes=4,
    detections=30,
    *,
    decimals=None,
    crowd=0.0,
    absent_class=False,
    no_gt=0.0,
    no_dt=0.0,
    first_category=1,
):
    """A drawn data set with hits, near misses, duplicates and confusions."""
    rng = np.random.default_rng(seed)
    gts, dts = [], []
    for image in range(images):
        boxes = _draw_boxes(rng, rng.integers(1, 9))
        labels = rng.integers(0, classes - absent_class, len(boxes))
        if rng.random() >= no_gt:
            flags = rng.random(len(boxes)) < crowd
            gts += [
                (image, int(label), box.tolist(), {'iscrowd': int(flag)})
                for label, box, flag in zip(labels, boxes, flags)
            ]
        if rng.random() < no_dt:
            continue
        for rank in range(detections):
            source = rank % (2 * len(boxes))
            if source < len(boxes) and rank < 4 * len(boxes):
                jitter = rng.choice([0.03, 0.1, 0.3])
                box = _jitter(rng, boxes[source], jitter)
                wrong = rng.random() < 0.2
                label = rng.integers(classes) if wrong else labels[source]
                score = rng.beta(3, 2)
            else:
                box = _draw_boxes(rng, 1)[0]
                label, score = rng.integers(classes), rng.beta(1, 4)
            dts.append((image, int(label), float(score), box.tolist()))
    if decimals is not None:
        dts = [(i, k, round(s, decimals), b) for i, k, s, b in dts]
    return Case(gts, dts, images, classes, first_category)


def _draw_boxes(rng, count):
    size = np.exp(rng.normal(4, 0.9, count))[:, None]
    stretch = np.exp(rng.normal(0, 0.3, count))[:, None]
    extent = np.hstack([size * stretch, size / stretch])
    return np.hstack([rng.random((count, 2)) * [500, 400], extent])


def _jitter(rng, box, amount):
    moved = box + rng.normal(0, amount, 4) * np.tile(box[2:], 2)
    moved[2:] = np.abs(moved[2:]) + 1
    return moved


def with_sentinels(array):
    """The core's NaN as pycocotools' -1."""
    return np.nan_to_num(array, nan=-1.0)
