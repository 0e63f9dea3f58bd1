"""The landmarks of a training image, packed beside its boxes."""

from __future__ import annotations

from typing import Any

import numpy as np
from mmdet.datasets.transforms import PackDetInputs
from mmdet.registry import TRANSFORMS

from mmdet_cppe5.deepfashion2.categories import NUM_LANDMARKS


@TRANSFORMS.register_module()
class PackLandmarks(PackDetInputs):
    """Pack as ``PackDetInputs``, with the items' landmarks.

    ``gt_instances.landmarks``, float32 ``(n, 294, 3)``, are x, y in pixels of
    the packed image and v: 2 visible, 1 occluded, 0 not labelled. The data
    set must load them (``with_landmarks=True``). Images may have been
    resized and padded before, but not flipped or cropped: a mirrored garment
    has other landmarks on its left, and no table of pairs is published.

    Args:
        **kwargs: arguments of ``PackDetInputs``.

    Raises:
        ValueError: if the image was flipped or cropped, or the data set did
            not load landmarks.
    """

    mapping_table = {  # noqa: RUF012
        **PackDetInputs.mapping_table,
        'gt_landmarks': 'landmarks',
    }

    def transform(self, results: dict[str, Any]) -> dict[str, Any]:
        """Pack the image and its annotations."""
        _check(results)
        landmarks = np.zeros(
            (len(results['instances']), NUM_LANDMARKS, 3), dtype=np.float32
        )
        for row, instance in zip(landmarks, results['instances']):
            own = np.array(instance['landmarks']['values']).reshape(-1, 3)
            first = instance['landmarks']['first']
            row[first : first + len(own)] = own
        landmarks[:, :, :2] *= results.get('scale_factor', (1, 1))
        return super().transform({**results, 'gt_landmarks': landmarks})


def _check(results: dict[str, Any]) -> None:
    where = f'image id {results.get("img_id")!r}'
    if results.get('flip'):
        raise ValueError(
            f'Expected {where} not to be flipped before PackLandmarks; take '
            'RandomFlip out of the pipeline.'
        )
    instances = results['instances']
    if len(results['gt_bboxes']) != len(instances):
        raise ValueError(
            f'Expected as many boxes as items in {where}, but got '
            f'{len(results["gt_bboxes"])} and {len(instances)}; a transform '
            'before PackLandmarks leaves items out.'
        )
    if any('landmarks' not in instance for instance in instances):
        raise ValueError(
            f'Expected landmarks in the items of {where}, but there are '
            'none; set with_landmarks=True of DeepFashion2Dataset.'
        )
