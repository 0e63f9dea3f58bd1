"""Parts of MMDetection's models where the stock ones stop.

Each is registered under a name of its own, does what the stock part does
wherever that one runs, and is used by the configs that need it.
"""

from mmdet_cppe5.framework import require_framework

require_framework()

from mmdet_cppe5.models.distillation import LocalizationDistiller
from mmdet_cppe5.models.feature_roi_head import FeatureRoIHead
from mmdet_cppe5.models.grounding import PromptedGroundingDINO
from mmdet_cppe5.models.landmark_head import LandmarkHead, LandmarkRoIHead
from mmdet_cppe5.models.roi_extractors import AnywhereRoIExtractor
from mmdet_cppe5.models.ssd_head import FixedSSDHead

__all__ = [
    'AnywhereRoIExtractor',
    'FeatureRoIHead',
    'FixedSSDHead',
    'LandmarkHead',
    'LandmarkRoIHead',
    'LocalizationDistiller',
    'PromptedGroundingDINO',
]
