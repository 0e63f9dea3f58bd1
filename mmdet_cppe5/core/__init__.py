"""The evaluation itself: numpy arrays in, frozen results out.

Boxes are ``x, y, width, height`` in absolute pixels, continuous (no ``+1``);
images and classes are positions ``0..n-1``; every number is a fraction 0..1
and NaN where it is undefined.

The steps: :mod:`arrays <mmdet_cppe5.core.arrays>` (checked input) ->
:mod:`similarity <mmdet_cppe5.core.similarity>` ->
:mod:`evaluation <mmdet_cppe5.core.evaluation>` (matching, precision, recall)
-> :mod:`tide <mmdet_cppe5.core.tide>`, :mod:`bootstrap
<mmdet_cppe5.core.bootstrap>`, :mod:`comparison
<mmdet_cppe5.core.comparison>`.
"""

from mmdet_cppe5.core.arrays import Detections, GroundTruths
from mmdet_cppe5.core.bootstrap import BootstrapResult, bootstrap
from mmdet_cppe5.core.class_comparison import compare_classes
from mmdet_cppe5.core.comparison import Comparison, PairedDifference, compare
from mmdet_cppe5.core.decisions import Decisions
from mmdet_cppe5.core.evaluation import Evaluation, evaluate
from mmdet_cppe5.core.intervals import Interval
from mmdet_cppe5.core.settings import AREA_RANGES, IOU_THRS, MAX_DETS
from mmdet_cppe5.core.similarity import BoxIoU, Similarity
from mmdet_cppe5.core.tide import TideResult, tide, tide_range
from mmdet_cppe5.core.tide_errors import MAIN_ERRORS, SPECIAL_ERRORS

__all__ = [
    'AREA_RANGES',
    'IOU_THRS',
    'MAIN_ERRORS',
    'MAX_DETS',
    'SPECIAL_ERRORS',
    'BootstrapResult',
    'BoxIoU',
    'Comparison',
    'Decisions',
    'Detections',
    'Evaluation',
    'GroundTruths',
    'Interval',
    'PairedDifference',
    'Similarity',
    'TideResult',
    'bootstrap',
    'compare',
    'compare_classes',
    'evaluate',
    'tide',
    'tide_range',
]
