"""Files that ``evaluate`` and ``compare`` read: contents, names, digests."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from mmdet_cppe5.coco import (
    CocoGroundTruth,
    CocoResults,
    read_ground_truth,
    read_results,
)
from mmdet_cppe5.coco.box_form import form_notices
from mmdet_cppe5.coco.conversion import Problem, to_core
from mmdet_cppe5.coco.loading import noticing_a_swap
from mmdet_cppe5.scores.documents import describe_file


def read_problems(
    args: argparse.Namespace, results: Sequence[str]
) -> tuple[CocoGroundTruth, list[CocoResults], list[Problem]]:
    """Read the ground truth and one or more result files against it."""
    with noticing_a_swap(args.ground_truth, results[0]):
        truth = read_ground_truth(
            args.ground_truth, args.classes, need_boxes=args.iou_type != 'segm'
        )
    notices = list(truth.notices)
    files, problems = [], []
    for path in results:
        found = read_results(path, truth)
        files.append(found)
        notices += found.notices
        problem = to_core(
            truth,
            found,
            args.iou_type,
            area_source=args.area_source,
            sigmas=args.sigmas,
        )
        problems.append(problem)
        if args.iou_type == 'bbox':
            notices += form_notices(truth, found, problem.detections.bbox)
    print_notices(notices)
    return truth, files, problems


def print_notices(notices: Sequence[str]) -> None:
    """Print what the reader should know on stderr, out of the tables."""
    for notice in notices:
        print(f'note: {notice}', file=sys.stderr)


def describe_truth(path: str, truth: CocoGroundTruth) -> dict[str, Any]:
    """Return path, digest and counts of the ground truth, for the JSON."""
    return describe_file(
        path, images=len(truth.image_ids), annotations=len(truth.records)
    )


def describe_results(path: str, found: CocoResults) -> dict[str, Any]:
    """Return path, digest and count of a result file, for the JSON."""
    return describe_file(path, detections=len(found.records))
