"""Data sets for MMDetection's ``DATASETS`` registry."""

from mmdet_cppe5.framework import require_framework

require_framework()

from mmdet_cppe5.datasets.cached_loading import LoadCachedImageFromFile
from mmdet_cppe5.datasets.cppe5 import CPPE5Dataset
from mmdet_cppe5.datasets.deepfashion2 import DeepFashion2Dataset
from mmdet_cppe5.datasets.landmarks import PackLandmarks

__all__ = [
    'CPPE5Dataset',
    'DeepFashion2Dataset',
    'LoadCachedImageFromFile',
    'PackLandmarks',
]
