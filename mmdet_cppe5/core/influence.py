"""How much each image weighs in a number: influence values.

The influence of an image on a number is the number's derivative in the
image's weight, all weights being 1 (the infinitesimal jackknife; Efron: The
Jackknife, the Bootstrap and Other Resampling Plans, 1982, chapter 6). For many
images it is what leaving one out after the other gives, for the price of about
one evaluation.

Average precision is here the area under the interpolated curve, ``sum of
precision * recall gained`` over the hits; the 101 levels of COCO are steps,
which have no derivative. An image's weight acts in three places: on the recall
that its hits gain, on the number of objects, and on the precision that every
hit is interpolated with, through the hits and the detections counted before.
"""

import numpy as np

from mmdet_cppe5.core.arrays import FloatArray, IntArray
from mmdet_cppe5.core.curves import Curves, Term
from mmdet_cppe5.core.evaluation import Evaluation
from mmdet_cppe5.core.precision_recall import largest_from_here


class CurveInfluence:
    """Influence of I images on the area under any of S curves.

    Args:
        evaluation: An evaluation of I images.
        curves: S curves of it; curve ``s`` belongs to class ``s % K``.
        positives: (I, Q) counted ground truths of each image, for Q kinds of
            curves.
        kind: (S,) column of ``positives`` of each curve.
    """

    def __init__(
        self,
        evaluation: Evaluation,
        curves: Curves,
        positives: IntArray,
        kind: IntArray,
    ) -> None:
        self._curves = curves
        self._positives = positives
        self._kind = kind
        self._image = evaluation.detections.image[evaluation.ranking.rows]
        self._num_classes = len(evaluation.ranking.class_start) - 1
        hits = curves.per_curve
        self._curve = curve = np.repeat(np.arange(len(hits)), hits)
        start = np.cumsum(hits) - hits
        found = np.arange(1, len(curve) + 1) - start[curve]
        precision = found / np.maximum(curves.counted, 1)
        best = largest_from_here(precision.copy(), curve, hits)
        total = np.maximum(curves.positives, 1)[curve]  # (H,)
        # The hit that gives each hit its interpolated precision.
        source = _sources(precision, best)
        served = np.bincount(source, minlength=len(curve))
        pull = served / (total * np.maximum(curves.counted, 1))  # (H,)
        self._gain = best / total + _sum_from_here(pull, hits, curve)
        self._loss = pull * precision  # (H,) per detection counted before
        area = np.bincount(curve, best / total, minlength=len(hits))
        self._per_object = area / np.maximum(curves.positives, 1)  # (S,)
        self._defined = curves.positives > 0

    def of_classes(self, chosen: IntArray) -> FloatArray:
        """Influence on the mean area of each class over some curves.

        Args:
            chosen: (n, K) curves, n of every class.

        Returns:
            (I, K) influence, NaN where a class has no ground truth.
        """
        weight = np.zeros(len(self._kind))
        weight[chosen] = 1 / len(chosen)
        size = self._num_classes
        hits = np.flatnonzero(weight[self._curve])
        curve = self._curve[hits]
        use = weight[curve]
        key = self._image[self._curves.place[hits]] * size + curve % size
        length = len(self._positives) * size
        total: FloatArray = np.bincount(
            key, use * self._gain[hits], length
        ).astype(np.float64)
        use *= self._loss[hits]
        for term, layer, end in zip(
            self._curves.terms, self._curves.layers, self._curves.ends
        ):
            for row in np.unique(layer[chosen][layer[chosen] >= 0]):
                on = layer[curve] == row
                loss = _loss_at(term, end[hits[on]], use[on], curve[on] % size)
                some = np.flatnonzero(term.flags[row])
                key = self._image[term.place[some]] * size + term.label[some]
                taken = term.flags[row, some] * loss[some]
                total -= np.bincount(key, taken, length)
        result = total.reshape(-1, size)
        for each in chosen:
            share = self._per_object[each] / len(chosen)
            result -= self._positives[:, self._kind[each]] * share
        result[:, ~self._defined[chosen].all(axis=0)] = np.nan
        return result


def _loss_at(
    term: Term, end: IntArray, loss: FloatArray, label: IntArray
) -> FloatArray:
    """(n,) what the hits of its class that come after each index lose."""
    size = len(term.place)
    at = np.bincount(end, loss, size + 1)
    after = np.cumsum(at[:0:-1])[::-1]  # (n,) hits with an end beyond
    own = np.bincount(label, loss, len(term.class_start) - 1)
    later = np.cumsum(own[::-1])[::-1] - own  # (K,) of the classes after
    lost: FloatArray = after - later[term.label]
    return lost


def _sources(precision: FloatArray, best: FloatArray) -> IntArray:
    """(H,) hit whose precision is the largest from each hit on."""
    index = np.arange(len(best))
    # The largest differ by rounding from what they come from.
    index[precision < best - 1e-12] = len(best)
    source: IntArray = np.minimum.accumulate(index[::-1])[::-1]
    return source


def _sum_from_here(
    values: FloatArray, hits: IntArray, curve: IntArray
) -> FloatArray:
    """(H,) sum of each value and those after it in its curve."""
    total = np.append(0, np.cumsum(values))
    end = np.cumsum(hits)
    here: FloatArray = total[end[curve]] - total[:-1]
    return here
