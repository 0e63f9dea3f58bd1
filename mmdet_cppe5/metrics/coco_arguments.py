"""Arguments of MMDetection's CocoMetric, as a config may bring them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Union

from mmdet_cppe5.core import MAX_DETS
from mmdet_cppe5.core.settings import listed

IOU_TYPES = ('bbox', 'segm')
# Every class is always scored, labels follow the names of the categories,
# and one process is faster than CocoMetric's many.
WITHOUT_EFFECT = frozenset({'classwise', 'sort_categories', 'use_mp_eval'})
_CURE = (
    'Most likely a config inherits it from an evaluator of type CocoMetric: '
    'write val_evaluator = dict(_delete_=True, type="CPPE5Metric", ...) so '
    'that nothing is merged, and test_evaluator likewise.'
)


def iou_types(metric: Union[str, Sequence[str]]) -> tuple[str, ...]:
    """Return which overlaps are evaluated: of boxes, of masks.

    Args:
        metric: as for CocoMetric, ``'bbox'``, ``'segm'`` or both.

    Raises:
        ValueError: if it is something else, such as ``'proposal'``.
    """
    asked = (metric,) if isinstance(metric, str) else tuple(metric)
    if not asked or not set(asked) <= set(IOU_TYPES):
        raise ValueError(
            "Expected `metric` to be 'bbox', 'segm' or a list of both, but "
            f'got {metric!r}; class-agnostic proposals are for '
            "MMDetection's CocoMetric, as a second evaluator in a list."
        )
    return tuple(dict.fromkeys(asked))


def caps(max_dets: Sequence[int], given: Mapping[str, Any]) -> Sequence[int]:
    """Return the caps on detections, by whichever name they are given.

    Args:
        max_dets: our own argument.
        given: further arguments; ``proposal_nums`` is CocoMetric's name for
            the caps, :data:`WITHOUT_EFFECT` lists those that are accepted
            because they change nothing here.

    Raises:
        TypeError: if an argument is known by neither metric, or cannot be
            honoured; the sentence says where it may come from.
        ValueError: if both names are given and disagree.
    """
    unknown = sorted(set(given) - WITHOUT_EFFECT - {'proposal_nums'})
    if unknown:
        raise TypeError(
            f'CPPE5Metric has no argument {" and no argument ".join(unknown)}'
            f'. {_CURE}'
        )
    asked = given.get('proposal_nums')
    if asked is None or tuple(asked) == tuple(max_dets):
        return max_dets
    if tuple(max_dets) != MAX_DETS:
        raise ValueError(
            'Expected one of `max_dets` and `proposal_nums`, two names for '
            f'the same caps, but got {listed(max_dets)} '
            f'and {listed(asked)}.'
        )
    return tuple(asked)
