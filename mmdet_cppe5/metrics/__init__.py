"""Metrics that configs can name; importing this registers them."""

from . import cppe5_metric

__all__ = ['cppe5_metric']
