"""COCO-format files -> arrays for the evaluation core, with clear errors.

Needs numpy only; masks import pycocotools when they are asked for.
"""

from mmdet_cppe5.coco.ground_truth import (
    CocoGroundTruth,
    parse_categories,
    parse_ground_truth,
    read_ground_truth,
)
from mmdet_cppe5.coco.results import CocoResults, parse_results, read_results

__all__ = [
    'CocoGroundTruth',
    'CocoResults',
    'parse_categories',
    'parse_ground_truth',
    'parse_results',
    'read_ground_truth',
    'read_results',
]
