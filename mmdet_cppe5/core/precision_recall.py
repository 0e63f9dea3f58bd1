"""From hits in ranking order to precision and recall, as COCO has them.

The detections of one class, threshold and size range form a *curve*. Many
curves are computed at once: their hits stand one after the other.

Precision is looked up at 101 recall levels, after it has been made
non-increasing from the right. It only rises at hits, so nothing but the hits
needs to be looked at.
"""

from typing import Union

import numpy as np

from mmdet_cppe5.core.arrays import BoolArray, FloatArray, IntArray

#: COCO's recall levels; linspace, not i/100: ten of them differ by one ulp.
RECALL_LEVELS: FloatArray = np.linspace(0, 1, 101)
# Few enough that adding their number to a precision costs no 1e-13.
_CURVES_AT_ONCE = 256


def precision_at_recall(
    hits: IntArray, counted: IntArray, positives: IntArray
) -> FloatArray:
    """Interpolated precision of many curves at the 101 recall levels.

    Args:
        hits: (S,) number of hits of each curve.
        counted: (H,) for each hit, curve by curve in ranking order, the
            number of detections that count (hits and false positives) up to
            and with it.
        positives: (S,) counted ground truths of each curve.

    Returns:
        (S, 101) precision, 0 beyond the largest recall, NaN where a curve has
        no positives.
    """
    start = np.cumsum(hits) - hits  # (S,)
    found = np.arange(1, len(counted) + 1) - np.repeat(start, hits)  # (H,)
    # The spacing keeps pycocotools' last bit; the 0 ends the last curve.
    precision = np.append(found / (counted + np.spacing(1)), 0)  # (H + 1,)
    index, reached = hit_at_recall(hits, positives)  # (S, 101) each
    best = np.maximum.reduceat(precision, index.ravel()).reshape(index.shape)
    best *= reached
    best = np.maximum.accumulate(best[:, ::-1], axis=1)[:, ::-1]
    best[positives == 0] = np.nan
    return best


def average_precision(
    hits: IntArray, counted: IntArray, positives: IntArray
) -> FloatArray:
    """Mean of :func:`precision_at_recall`, to within 1e-13, but faster.

    Each hit is weighted with the number of levels that it is the first to
    reach; curves of few hits need far fewer numbers than 101.

    Args:
        hits: (S,) number of hits of each curve.
        counted: (H,) as in :func:`precision_at_recall`.
        positives: (S,) counted ground truths of each curve.

    Returns:
        (S,) average precision, NaN where a curve has no positives.
    """
    curve = np.repeat(np.arange(len(hits)), hits)  # (H,)
    start = np.cumsum(hits) - hits
    found = np.arange(1, len(counted) + 1) - start[curve]  # (H,)
    best = largest_from_here(found / (counted + np.spacing(1)), curve, hits)
    totals, kind = np.unique(positives, return_inverse=True)
    width = int(totals.max(initial=0)) + 2
    first = np.maximum(hits_needed(totals), 1)  # (U, 101), U distinct totals
    first += np.arange(len(totals))[:, None] * width
    levels = np.bincount(first.ravel(), minlength=len(totals) * width)
    best *= levels[(kind * width)[curve] + found]
    area = np.bincount(curve, best, minlength=len(hits))  # (S,)
    mean: FloatArray = np.where(positives > 0, area, np.nan) / 101
    return mean


def largest_from_here(
    values: FloatArray, curve: IntArray, hits: IntArray
) -> FloatArray:
    """Largest of each value in 0..1 and those after it in its curve."""
    end = np.cumsum(hits)
    for begin in range(0, len(hits), _CURVES_AT_ONCE):
        last = min(begin + _CURVES_AT_ONCE, len(hits)) - 1
        part = slice(end[begin] - hits[begin], end[last])
        # Going backwards every curve lifts its values above all before.
        lift = last - curve[part]
        lifted = (values[part] + lift)[::-1]  # (h,) from the last to the first
        values[part] = np.maximum.accumulate(lifted)[::-1] - lift
    return values


def hit_at_recall(
    hits: IntArray, positives: IntArray
) -> tuple[IntArray, BoolArray]:
    """Where each curve first reaches each recall level.

    Args:
        hits: (S,) number of hits of each curve.
        positives: (S,) counted ground truths of each curve.

    Returns:
        (S, 101) index of that hit among the hits of all curves, the end of
        the curve where the level is not reached; and whether it is reached.
    """
    end = np.cumsum(hits)[:, None]  # (S, 1)
    # Few curves differ in their number of positives.
    totals, kind = np.unique(positives, return_inverse=True)
    needed = np.maximum(hits_needed(totals), 1)[kind]  # (S, 101)
    index = np.minimum(end - hits[:, None] + needed - 1, end)
    return index, index < end


def hits_needed(positives: IntArray) -> IntArray:
    """Least number of hits whose recall is at or over each level.

    Args:
        positives: (S,) counted ground truths.

    Returns:
        (S, 101) smallest ``c`` with ``c / positives >= level`` in floating
        point, which is where pycocotools' ``searchsorted`` ends.
    """
    total = np.maximum(positives, 1)[:, None]  # (S, 1)
    needed = np.ceil(RECALL_LEVELS * total)  # (S, 101)
    needed -= (needed - 1) / total >= RECALL_LEVELS
    needed += needed / total < RECALL_LEVELS
    return needed.astype(np.int64)


def largest_recall(hits: IntArray, positives: IntArray) -> FloatArray:
    """Recall at the end of each curve, NaN without positives; (S,) each."""
    recall = np.full(np.shape(hits), np.nan)
    np.divide(hits, positives, out=recall, where=positives > 0)
    return recall


def mean_of_defined(
    values: FloatArray, axis: Union[int, tuple[int, ...]]
) -> FloatArray:
    """Mean of what is not NaN along an axis; NaN if all is."""
    defined = ~np.isnan(values)  # as values
    count = defined.sum(axis=axis)
    total = np.where(defined, values, 0).sum(axis=axis)
    mean = np.full(count.shape, np.nan)
    np.divide(total, count, out=mean, where=count > 0)
    return mean
