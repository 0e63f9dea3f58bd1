"""Evaluation in one call, for notebooks and scripts.

``evaluate``, ``compare`` and ``report`` take files or what is in memory;
:mod:`mmdet_cppe5.api.adapters` reads the objects of other libraries.
"""

from mmdet_cppe5.api.adapters import (
    from_mmdet,
    from_supervision,
    from_torchmetrics,
)
from mmdet_cppe5.api.calls import compare, evaluate, report
from mmdet_cppe5.api.results import ComparisonResult, EvaluationResult

__all__ = [
    'ComparisonResult',
    'EvaluationResult',
    'compare',
    'evaluate',
    'from_mmdet',
    'from_supervision',
    'from_torchmetrics',
    'report',
]
