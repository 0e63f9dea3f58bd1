"""Registers the plugin's classes in MMDetection's registries on import.

Named by ``custom_imports`` in the configs.
"""

from mmdet_cppe5 import datasets, metrics, models
from mmdet_cppe5.engine import checkpoint, report_hook
from mmdet_cppe5.zoo.upstream import find_upstream_configs

__all__ = ['checkpoint', 'datasets', 'metrics', 'models', 'report_hook']

find_upstream_configs()
