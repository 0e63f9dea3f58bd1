"""Files that ``evaluate`` and ``compare`` read: contents, names, digests."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Optional

from mmdet_cppe5.coco import (
    CocoGroundTruth,
    CocoResults,
    read_ground_truth,
    read_results,
)
from mmdet_cppe5.coco.conversion import IOU_TYPES, Problem, to_core
from mmdet_cppe5.scores.documents import describe_file


def read_problems(
    args: argparse.Namespace, results: Sequence[str]
) -> tuple[CocoGroundTruth, list[CocoResults], list[Problem]]:
    """Read the ground truth and one or more result files against it."""
    truth = read_ground_truth(args.ground_truth, args.classes)
    notices = list(truth.notices)
    files, problems = [], []
    for path in results:
        found = read_results(path, truth)
        files.append(found)
        notices += found.notices
        problems.append(
            to_core(
                truth,
                found,
                args.iou_type,
                area_source=args.area_source,
                sigmas=args.sigmas,
            )
        )
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


def distinct_names(paths: Sequence[str]) -> list[str]:
    """Return a short name for each result file, no two alike.

    The file's name without ``.json`` and ``.bbox``; where names coincide,
    with as much of the folder before it as tells them apart, and numbered
    where the same file is given twice.
    """
    parts = [_parts(path) for path in paths]
    names: list[Optional[str]] = [None] * len(parts)
    for length in range(1, max(map(len, parts), default=0) + 1):
        tried = ['/'.join(each[-length:]) for each in parts]
        for index, name in enumerate(tried):
            if names[index] is None and tried.count(name) == 1:
                names[index] = name
    for index, each in enumerate(parts):
        if names[index] is None:
            same = parts[:index].count(each) + 1
            names[index] = f'{"/".join(each)} ({same})'
    return [name or '' for name in names]


def _parts(path: str) -> tuple[str, ...]:
    whole = Path(path)
    name = whole.name
    for suffix in ('.json', *(f'.{kind}' for kind in IOU_TYPES)):
        name = name.removesuffix(suffix)
    return (*whole.parts[:-1], name)
