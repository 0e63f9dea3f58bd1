"""Data sets for MMDetection's ``DATASETS`` registry."""

from .cached_loading import LoadCachedImageFromFile
from .cppe5 import CPPE5Dataset
from .deepfashion2 import DeepFashion2Dataset

__all__ = ['CPPE5Dataset', 'DeepFashion2Dataset', 'LoadCachedImageFromFile']
