"""Registers the plugin's classes in MMDetection's registries on import.

Named by ``custom_imports`` in the configs.
"""

from mmdet_cppe5 import datasets, metrics, models
from mmdet_cppe5.engine import (
    checkpoint,
    nominal_batch_hook,
    report_hook,
    saving,
)
from mmdet_cppe5.zoo.upstream import find_package_configs

__all__ = [
    'checkpoint',
    'datasets',
    'metrics',
    'models',
    'nominal_batch_hook',
    'report_hook',
    'saving',
]

find_package_configs()
