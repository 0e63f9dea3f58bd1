"""Other libraries' objects as COCO ground truth and results.

Each function returns ``(ground_truth, detections)`` for
:func:`mmdet_cppe5.evaluate`: ``evaluate(*from_mmdet(samples, classes))``.
Images are numbered from 1 in the order given, unless they have ids; category
ids are label + 1. No library is imported: what has the attributes will do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Optional

import numpy as np

CocoPair = tuple[dict[str, Any], list[dict[str, Any]]]


def from_mmdet(samples: Iterable[Any], classes: Sequence[str]) -> CocoPair:
    """Read MMDetection's ``DetDataSample`` with both sides.

    Args:
        samples: with ``pred_instances`` and ``gt_instances`` (and
            ``ignored_instances``, which become crowd regions) in pixels of
            the original image; scale factors are undone by MMDetection for
            predictions only, so load annotations without resizing.
        classes: the names that labels stand for.

    Raises:
        ValueError: if a sample lacks one side.
    """
    pair = _Pair(classes)
    for sample in samples:
        for side in ('gt_instances', 'pred_instances'):
            if side not in sample:
                raise ValueError(
                    f'Expected {side} in every data sample, but the one of '
                    f'image id {sample.get("img_id")!r} has none.'
                )
        height, width = sample.ori_shape[:2]
        image = pair.image(width, height, sample.get('img_id'))
        truth, found = sample.gt_instances, sample.pred_instances
        pair.objects(image, truth.bboxes, truth.labels)
        ignored = sample.get('ignored_instances')
        if ignored is not None and len(ignored):
            crowd = np.ones(len(ignored), bool)
            pair.objects(image, ignored.bboxes, ignored.labels, crowd)
        pair.detections(image, found.bboxes, found.scores, found.labels)
    return pair.coco()


def from_torchmetrics(
    preds: Sequence[Mapping[str, Any]],
    target: Sequence[Mapping[str, Any]],
    classes: Optional[Sequence[str]] = None,
    box_format: str = 'xyxy',
) -> CocoPair:
    """Read the dictionaries of torchmetrics' ``MeanAveragePrecision``.

    Args:
        preds: ``boxes`` ``(n, 4)``, ``scores``, ``labels`` of each image.
        target: ``boxes``, ``labels``, and ``iscrowd``, ``area`` where given,
            of each image.
        classes: names of the labels 0, 1, ...; None numbers them.
        box_format: ``'xyxy'``, ``'xywh'`` or ``'cxcywh'``.

    Raises:
        ValueError: if the sides have different lengths, or the format is
            unknown.
    """
    if len(preds) != len(target):
        raise ValueError(
            f'Expected as many predictions as targets, but got {len(preds)} '
            f'and {len(target)}.'
        )
    pair = _Pair(classes, box_format)
    for found, truth in zip(preds, target):
        image = pair.image()
        pair.objects(
            image,
            truth['boxes'],
            truth['labels'],
            truth.get('iscrowd'),
            truth.get('area'),
        )
        pair.detections(
            image, found['boxes'], found['scores'], found['labels']
        )
    return pair.coco()


def from_supervision(
    predictions: Sequence[Any],
    targets: Sequence[Any],
    classes: Optional[Sequence[str]] = None,
) -> CocoPair:
    """Read lists of ``supervision.Detections``, one per image each.

    Args:
        predictions: with ``xyxy``, ``confidence``, ``class_id``.
        targets: with ``xyxy``, ``class_id``.
        classes: names of the class ids 0, 1, ...; None numbers them.

    Raises:
        ValueError: if the sides have different lengths.
    """
    return from_torchmetrics(
        [
            {
                'boxes': each.xyxy,
                'scores': _or_empty(each.confidence),
                'labels': _or_empty(each.class_id),
            }
            for each in predictions
        ],
        [
            {'boxes': each.xyxy, 'labels': _or_empty(each.class_id)}
            for each in targets
        ],
        classes,
    )


class _Pair:
    """Gathers both sides, image by image."""

    def __init__(
        self, classes: Optional[Sequence[str]], box_format: str = 'xyxy'
    ) -> None:
        if box_format not in ('xyxy', 'xywh', 'cxcywh'):
            raise ValueError(
                'Expected `box_format` to be one of xyxy, xywh, cxcywh, but '
                f'got {box_format!r}.'
            )
        self._classes = classes
        self._format = box_format
        self._images: list[dict[str, Any]] = []
        self._objects: list[dict[str, Any]] = []
        self._found: list[dict[str, Any]] = []

    def image(
        self,
        width: Optional[int] = None,
        height: Optional[int] = None,
        key: Any = None,
    ) -> Any:
        """Begin an image and return its id."""
        key = len(self._images) + 1 if key is None else key
        size = {} if width is None else {'width': width, 'height': height}
        self._images.append({'id': key, **size})
        return key

    def objects(
        self,
        image: Any,
        boxes: Any,
        labels: Any,
        crowd: Any = None,
        area: Any = None,
    ) -> None:
        """Add the objects of an image."""
        sizes = self._sizes(boxes)
        crowd = np.zeros(len(sizes)) if crowd is None else _array(crowd)
        area = sizes[:, 2] * sizes[:, 3] if area is None else _array(area)
        for box, label, is_crowd, each in zip(
            sizes.tolist(),
            _array(labels).tolist(),
            crowd.tolist(),
            area.tolist(),
        ):
            self._objects.append(
                {
                    'id': len(self._objects) + 1,
                    'image_id': image,
                    'category_id': int(label) + 1,
                    'bbox': box,
                    'area': each,
                    'iscrowd': int(is_crowd),
                }
            )

    def detections(
        self, image: Any, boxes: Any, scores: Any, labels: Any
    ) -> None:
        """Add the detections of an image."""
        for box, score, label in zip(
            self._sizes(boxes).tolist(),
            _array(scores).tolist(),
            _array(labels).tolist(),
        ):
            self._found.append(
                {
                    'image_id': image,
                    'category_id': int(label) + 1,
                    'bbox': box,
                    'score': score,
                }
            )

    def coco(self) -> CocoPair:
        """Return the ground truth's content and the results."""
        names = self._classes
        if names is None:
            used = [each['category_id'] for each in self._objects]
            used += [each['category_id'] for each in self._found]
            names = [str(label) for label in range(max(used, default=0))]
        categories = [
            {'id': number, 'name': name}
            for number, name in enumerate(names, 1)
        ]
        truth = {
            'images': self._images,
            'annotations': self._objects,
            'categories': categories,
        }
        return truth, self._found

    def _sizes(self, boxes: Any) -> np.ndarray:
        """Return boxes as x, y, width, height, ``(n, 4)``."""
        boxes = _array(getattr(boxes, 'tensor', boxes)).reshape(-1, 4)
        first, second = boxes[:, :2], boxes[:, 2:]
        if self._format == 'xyxy':
            second = second - first
        elif self._format == 'cxcywh':
            first = first - second / 2
        return np.concatenate([first, second], axis=1)


def _array(values: Any) -> np.ndarray:
    """Return an array, a tensor on any device, or a list as float64."""
    if hasattr(values, 'detach'):
        values = values.detach().cpu()
    return np.asarray(values, dtype=np.float64)


def _or_empty(values: Any) -> Any:
    return [] if values is None else values
