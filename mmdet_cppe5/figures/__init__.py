"""Figures of detection results, one module per family.

Every function takes plain arrays, with fractions in 0..1 and NaN for what is
undefined, and returns a :class:`~.style.Drawing`: the figure together with
its title, its caption and a description for those who cannot see it.
"""

from mmdet_cppe5.figures.bars import ap_by_iou, ap_by_size, class_ap
from mmdet_cppe5.figures.calibration import reliability, score_histogram
from mmdet_cppe5.figures.confusion import confusion_matrix
from mmdet_cppe5.figures.curves import (
    class_curves,
    iou_curves,
    recall_curves,
    score_sweep,
)
from mmdet_cppe5.figures.misses import miss_positions, miss_sizes
from mmdet_cppe5.figures.models import (
    difference_matrix,
    model_intervals,
    speed_accuracy,
)
from mmdet_cppe5.figures.style import Drawing
from mmdet_cppe5.figures.tide import (
    tide_by_class,
    tide_by_threshold,
    tide_summary,
)

__all__ = [
    'Drawing',
    'ap_by_iou',
    'ap_by_size',
    'class_ap',
    'class_curves',
    'confusion_matrix',
    'difference_matrix',
    'iou_curves',
    'miss_positions',
    'miss_sizes',
    'model_intervals',
    'recall_curves',
    'reliability',
    'score_histogram',
    'score_sweep',
    'speed_accuracy',
    'tide_by_class',
    'tide_by_threshold',
    'tide_summary',
]
