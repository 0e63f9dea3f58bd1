"""MMDetection's data samples -> plain arrays and COCO objects.

Used by every metric here that reads detectors' output.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Optional, TypeVar

import numpy as np
import torch
from mmdet.structures.mask import encode_mask_results

from mmdet_cppe5.coco import CocoGroundTruth
from mmdet_cppe5.coco.ids import explain_unknown
from mmdet_cppe5.coco.records import listed
from mmdet_cppe5.core import Detections


@dataclass(frozen=True)
class SampleDetections:
    """What one data sample carries, on the CPU.

    Attributes:
        image_id: the image's id in the annotation file.
        size: height and width of the original image in pixels.
        boxes: x, y, width, height in pixels of the original image,
            float64 ``(n, 4)``.
        scores: float64 ``(n,)``.
        labels: positions of the classes, int64 ``(n,)``.
        instances: the annotations of the sample, None where not kept.
        masks: one run-length code for each detection, None where not kept.
        mask_scores: score of each mask, float64 ``(n,)``, None likewise.
    """

    image_id: Any
    size: tuple[int, int]
    boxes: np.ndarray
    scores: np.ndarray
    labels: np.ndarray
    instances: Optional[list[dict[str, Any]]] = None
    masks: Optional[list[dict[str, Any]]] = None
    mask_scores: Optional[np.ndarray] = None


def read_sample(
    sample: Mapping[str, Any],
    classes: Sequence[str],
    keep_instances: bool = False,
    keep_masks: bool = False,
) -> SampleDetections:
    """Take the predictions out of a data sample and check them.

    Args:
        sample: a ``DetDataSample`` as a dict, as an evaluator passes it.
        classes: the names that labels stand for.
        keep_instances: keep the sample's annotations too.
        keep_masks: keep the predicted masks too.

    Raises:
        KeyError: if the sample has no predictions, or no annotations or
            masks where they are to be kept.
        ValueError: naming the image of a score or box that is not finite, a
            box with negative size, or a label out of range.
    """
    image_id = sample['img_id']
    for key in ('pred_instances', 'instances'):
        if key not in sample and (key != 'instances' or keep_instances):
            raise KeyError(
                f'Expected {key!r} in the data sample of image id '
                f'{image_id!r}, but it has only {listed(sorted(sample), 20)}.'
            )
    predicted = sample['pred_instances']
    corners = to_array(predicted['bboxes'], torch.float64).reshape(-1, 4)
    found = SampleDetections(
        image_id=image_id,
        size=tuple(sample['ori_shape'][:2]),
        boxes=corners_to_sizes(corners),
        scores=to_array(predicted['scores'], torch.float64),
        labels=to_array(predicted['labels'], torch.int64),
        instances=list(sample['instances']) if keep_instances else None,
    )
    if keep_masks:
        scores = predicted.get('mask_scores', predicted['scores'])
        found = replace(
            found,
            masks=_codes(predictions(sample, 'masks')),
            mask_scores=to_array(scores, torch.float64),
        )
    _check(found, classes)
    return found


def predictions(sample: Mapping[str, Any], key: str) -> Any:
    """Return one field of a data sample's predictions.

    Raises:
        KeyError: if the detector does not predict it.
    """
    predicted = sample['pred_instances']
    if key not in predicted:
        raise KeyError(
            f'Expected {key!r} in the predictions of image id '
            f'{sample["img_id"]!r}, but they have only '
            f'{listed(sorted(predicted.keys()), 20)}.'
        )
    return predicted[key]


def to_array(values: Any, dtype: torch.dtype) -> np.ndarray:
    """Return a tensor, box structure or array as a numpy array."""
    tensor = torch.as_tensor(getattr(values, 'tensor', values))
    return tensor.detach().to('cpu', dtype).numpy()


def corners_to_sizes(boxes: np.ndarray) -> np.ndarray:
    """Turn x1, y1, x2, y2 into x, y, width, height; ``(n, 4)`` each."""
    return np.concatenate([boxes[:, :2], boxes[:, 2:] - boxes[:, :2]], axis=1)


_Record = TypeVar('_Record', bound=SampleDetections)


def first_per_image(results: Iterable[_Record]) -> list[_Record]:
    """Drop all but the first result of every image.

    Distributed samplers pad the last batch with images that other processes
    have evaluated too.
    """
    first: dict[Any, _Record] = {}
    for result in results:
        first.setdefault(result.image_id, result)
    return list(first.values())


def columns_of_results(
    results: Sequence[SampleDetections],
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Put the detections of all results in columns, one row each.

    Returns:
        The place in ``results`` that a detection comes from, int64 ``(n,)``;
        its box, x, y, width, height in pixels, float64 ``(n, 4)``; its
        score, float64 ``(n,)``; its label, int64 ``(n,)``.
    """
    sizes = [len(result.scores) for result in results]
    places = np.arange(len(results), dtype=np.int64)
    none = np.zeros((0, 4))
    no_label = np.zeros(0, dtype=np.int64)
    return (
        np.repeat(places, sizes),
        np.concatenate([none, *(r.boxes for r in results)]),
        np.concatenate([none[:, 0], *(r.scores for r in results)]),
        np.concatenate([no_label, *(r.labels for r in results)]),
    )


def detections_of_results(
    results: Sequence[SampleDetections], truth: CocoGroundTruth
) -> Detections:
    """Return the detections as the evaluation core takes them.

    Args:
        results: at most one per image.
        truth: the ground truth, whose positions are used.

    Raises:
        ValueError: if an image is not in the ground truth.
    """
    position = truth.image_position
    unknown = [r.image_id for r in results if r.image_id not in position]
    if unknown:
        explanation = explain_unknown(
            unknown,
            truth.image_ids,
            'image',
            truth.source,
            'the tested data set',
        )
        raise ValueError(
            'Expected every tested image to be in the ground truth '
            f'(`ann_file` of the evaluator), but image id {unknown[0]!r} is '
            f'not: {explanation}'
        )
    rows, boxes, scores, labels = columns_of_results(results)
    images = np.array([position[r.image_id] for r in results], dtype=np.int64)
    return Detections(
        images[rows],
        labels,
        boxes,
        scores,
        num_images=len(truth.image_ids),
        num_classes=len(truth.class_names),
    )


def result_entries(
    results: Iterable[SampleDetections], category_ids: Sequence[Any]
) -> list[dict[str, Any]]:
    """Return the detections as the objects of a COCO result file.

    Args:
        results: at most one per image.
        category_ids: the category id of each label.
    """
    return [
        {
            'image_id': result.image_id,
            'category_id': category_ids[label],
            'bbox': box,
            'score': score,
        }
        for result in results
        for box, score, label in zip(
            result.boxes.tolist(),
            result.scores.tolist(),
            result.labels.tolist(),
        )
    ]


def segm_entries(
    results: Sequence[SampleDetections], category_ids: Sequence[Any]
) -> list[dict[str, Any]]:
    """Return detected masks as the objects of a COCO result file.

    Args:
        results: at most one per image, with masks.
        category_ids: the category id of each label.
    """
    entries = result_entries(results, category_ids)
    masks = [mask for result in results for mask in result.masks or ()]
    scores = np.concatenate([r.mask_scores for r in results] or [[]])
    for entry, mask, score in zip(entries, masks, scores.tolist()):
        # With a box, its area would decide a detection's size range.
        del entry['bbox']
        entry.update(segmentation=mask, score=score)
    return entries


def instances_to_coco(
    results: Iterable[SampleDetections],
    classes: Sequence[str],
    need_area: bool = True,
) -> dict[str, Any]:
    """Return the annotations that the samples carry as a COCO file's dict.

    Category ids count from 1 in the order of ``classes``. ``area`` and
    ``iscrowd`` are the instances' own; without ``iscrowd``, MMDetection's
    ``ignore_flag`` stands in, which is what it means there.

    Args:
        results: at most one per image, with instances.
        classes: the names that labels stand for.
        need_area: refuse instances that do not state their ``area``.

    Raises:
        ValueError: if an instance has no ``area`` and it is needed.
    """
    images, annotations = [], []
    for result in results:
        height, width = result.size
        images.append(
            {'id': result.image_id, 'height': height, 'width': width}
        )
        for instance in result.instances or ():
            if need_area and 'area' not in instance:
                raise ValueError(
                    "Expected an 'area' in every instance of image id "
                    f'{result.image_id!r}, but one has only '
                    f'{listed(sorted(instance), 20)}: use CPPE5Dataset, give '
                    "the metric an `ann_file`, or set area_source='bbox'."
                )
            annotations.append(_annotation(result.image_id, instance))
    categories = [
        {'id': number, 'name': name} for number, name in enumerate(classes, 1)
    ]
    return {
        'images': images,
        'annotations': annotations,
        'categories': categories,
    }


def _annotation(image_id: Any, instance: Mapping[str, Any]) -> dict[str, Any]:
    x1, y1, x2, y2 = map(float, instance['bbox'])
    annotation = {
        'id': instance.get('ann_id'),
        'image_id': image_id,
        'category_id': int(instance['bbox_label']) + 1,
        'bbox': [x1, y1, x2 - x1, y2 - y1],
        'iscrowd': instance.get('iscrowd', instance.get('ignore_flag', 0)),
    }
    if 'area' in instance:
        annotation['area'] = float(instance['area'])
    if 'mask' in instance:
        annotation['segmentation'] = instance['mask']
    return annotation


def _codes(masks: Any) -> list[dict[str, Any]]:
    """Return bitmaps ``(n, height, width)`` as run-length codes."""
    if not isinstance(masks, torch.Tensor):
        codes = list(masks)
    else:
        codes = encode_mask_results(masks.detach().cpu().numpy())
    return [
        {**code, 'counts': code['counts'].decode()}
        if isinstance(code['counts'], bytes)
        else code
        for code in codes
    ]


def _check(found: SampleDetections, classes: Sequence[str]) -> None:
    """Raise ValueError at the first detection that cannot be judged."""
    checks = (
        ('score', found.scores, ~np.isfinite(found.scores), 'be finite'),
        (
            'box (x, y, width, height)',
            found.boxes,
            ~np.isfinite(found.boxes).all(axis=1),
            'be finite',
        ),
        (
            'box (x, y, width, height)',
            found.boxes,
            (found.boxes[:, 2:] < 0).any(axis=1),
            'have no negative size',
        ),
        (
            'label',
            found.labels,
            (found.labels < 0) | (found.labels >= len(classes)),
            f'be in 0..{len(classes) - 1} for the classes {listed(classes)}',
        ),
    )
    for what, values, wrong, expected in checks:
        if wrong.any():
            row = int(np.argmax(wrong))
            raise ValueError(
                f'Expected the {what} of every detection to {expected}, but '
                f'detection {row} of image id {found.image_id!r} has '
                f'{values[row].tolist()}.'
            )
