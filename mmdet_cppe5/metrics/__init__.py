"""Metrics that configs can name; importing this registers them."""

from mmdet_cppe5.framework import require_framework

require_framework()

from mmdet_cppe5.metrics import (
    cppe5_metric,
    deepfashion2_feature_retrieval,
    deepfashion2_metric,
    deepfashion2_retrieval_metric,
)

__all__ = [
    'cppe5_metric',
    'deepfashion2_feature_retrieval',
    'deepfashion2_metric',
    'deepfashion2_retrieval_metric',
]
