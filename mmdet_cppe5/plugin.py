"""Registers the plugin's classes in MMDetection's registries on import.

Named by ``custom_imports`` in the configs.
"""

from . import datasets, metrics, models

__all__ = ['datasets', 'metrics', 'models']
