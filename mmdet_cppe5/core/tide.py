"""TIDE: what each kind of error costs (Bolya et al. 2020)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Optional

import numpy as np
from numpy.typing import NDArray

from mmdet_cppe5.core.arrays import BoolArray, FloatArray, IntArray
from mmdet_cppe5.core.evaluation import Evaluation

#: The six main errors, in TIDE's order.
MAIN_ERRORS = ('Cls', 'Loc', 'Both', 'Dupe', 'Bkg', 'Miss')
#: The two special errors.
SPECIAL_ERRORS = ('FalsePos', 'FalseNeg')


@dataclass(frozen=True, eq=False)
class TideResult:
    """TIDE's analysis at one threshold; fractions 0..1, NaN for undefined.

    Attributes:
        pos_thr: Foreground threshold t_f.
        bg_thr: Background threshold t_b.
        ap: AP at ``pos_thr``, the one of :meth:`Evaluation.ap`.
        ap_per_class: (K,) the same for each class.
        delta_ap: error name -> AP gained if all errors of this kind were
            fixed; the six main errors, then the two special ones.
        delta_ap_per_class: error name -> (K,) the same for each class.
        counts: error name -> number of errors. FalsePos counts all false
            positives, FalseNeg all missed objects.
        counts_per_class: error name -> (K,) the same, by the detection's
            class (Miss and FalseNeg: by the object's).
        error: (N,) index into :data:`MAIN_ERRORS` of each detection, -1 for
            detections that are no error (hits, ignored, beyond the cap).
        error_gt: (N,) row of the ground truth behind a Cls, Loc or Dupe
            error, -1 for other detections.
        fixed: (N,) Cls or Loc error that fixing turns into a hit. The others
            are removed by fixing.
        missed: (G,) object behind a Miss.
        false_negative: (G,) object without a match.
    """

    pos_thr: float
    bg_thr: float
    ap: float
    ap_per_class: FloatArray
    delta_ap: Mapping[str, float]
    delta_ap_per_class: Mapping[str, FloatArray]
    counts: Mapping[str, int]
    counts_per_class: Mapping[str, IntArray]
    error: NDArray[np.int8]
    error_gt: IntArray
    fixed: BoolArray
    missed: BoolArray
    false_negative: BoolArray

    def members(self, name: str) -> tuple[IntArray, IntArray]:
        """Rows of the detections and of the ground truths behind a number.

        Args:
            name: One of the eight error names.

        Raises:
            KeyError: If there is no such error.
        """
        raise NotImplementedError


def tide(
    evaluation: Evaluation, pos_thr: float = 0.5, bg_thr: float = 0.1
) -> TideResult:
    """Tell which kinds of errors cost how much AP at one threshold.

    Args:
        evaluation: Its first size range and its largest cap count.
        pos_thr: One of the evaluated thresholds.
        bg_thr: Below it a detection is on background.

    Raises:
        KeyError: If ``pos_thr`` was not evaluated.
        ValueError: If not ``0 <= bg_thr < pos_thr``.
    """
    raise NotImplementedError


def tide_range(
    evaluation: Evaluation,
    pos_thrs: Optional[Sequence[float]] = None,
    bg_thr: float = 0.1,
) -> tuple[TideResult, ...]:
    """Run :func:`tide` at several thresholds in one pass.

    Args:
        evaluation: As for :func:`tide`.
        pos_thrs: Some of the evaluated thresholds; None means all of them.
        bg_thr: Below it a detection is on background.

    Returns:
        One result per threshold, in the order asked for.
    """
    raise NotImplementedError
