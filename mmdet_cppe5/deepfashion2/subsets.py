"""Scores on a part of the items: by scale, occlusion, zoom-in, viewpoint.

The data set's authors publish such scores but no rule. The rule here: the
objects are the items that have the attribute's value; all other items become
ignore regions. An ignore region is matched by its ordinary similarity, one
detection each, and neither it nor the detection on it is counted. Detections
on no item at all are false positives in every subset.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from mmdet_cppe5.coco import CocoGroundTruth
from mmdet_cppe5.core import GroundTruths
from mmdet_cppe5.core.settings import listed
from mmdet_cppe5.scores.formats import Table
from mmdet_cppe5.scores.tables import number

#: Attribute of an annotation -> names of its values 1, 2, 3.
SUBSETS = {
    'scale': ('small', 'moderate', 'large'),
    'occlusion': ('slight', 'medium', 'heavy'),
    'zoom_in': ('no', 'medium', 'large'),
    'viewpoint': ('no_wear', 'frontal', 'side_or_back'),
}


def attribute_values(truth: CocoGroundTruth, attribute: str) -> np.ndarray:
    """Return an attribute of every annotation, int64 ``(n,)``, 1..3.

    Raises:
        ValueError: if there is no such attribute, or an annotation lacks it
            or has another value; it names the annotation.
    """
    if attribute not in SUBSETS:
        raise ValueError(
            f'Expected a subset attribute among {listed(SUBSETS)}, but got '
            f'{attribute!r}.'
        )
    values = [item.get(attribute) for item in truth.records.items]
    for row, value in enumerate(values):
        if value not in (1, 2, 3):
            raise ValueError(
                f'Expected {attribute!r} of {truth.records.where(row)} to be '
                f"1, 2 or 3, but got {value!r}; the data set authors' "
                'converter drops it, so convert the raw files with this one.'
            )
    return np.array(values, dtype=np.int64)


def restrict(objects: GroundTruths, inside: np.ndarray) -> GroundTruths:
    """Turn all objects but some into ignore regions.

    Args:
        objects: G objects.
        inside: bool ``(G,)``, the objects that stay.
    """
    return dataclasses.replace(objects, ignore=objects.ignore | ~inside)


def flat_subsets(summary: Mapping[str, Any]) -> dict[str, float]:
    """Name a summary's subset scores, undefined ones left out.

    Returns:
        Such as ``{'AP_scale_small': 63.4, 'AP50_scale_small': 78.1}``.
    """
    return {
        f'{score}_{attribute}_{value}': number
        for attribute, values in summary.get('subsets', {}).items()
        for value, scores in values.items()
        for score, number in scores.items()
        if number is not None
    }


def subset_table(summary: Mapping[str, Any]) -> Table:
    """Return a summary's subset scores."""
    rows = [
        [
            f'{attribute}: {value}',
            str(scores['items']),
            *(number(scores[name]) for name in ('AP', 'AP50', 'AP75')),
        ]
        for attribute, values in summary['subsets'].items()
        for value, scores in values.items()
    ]
    return Table(['subset', 'items', 'AP', 'AP50', 'AP75'], rows)
