"""What ``evaluate`` and ``compare`` share: options, reading, notices."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Optional

from mmdet_cppe5.coco import (
    CocoGroundTruth,
    CocoResults,
    read_ground_truth,
    read_results,
)
from mmdet_cppe5.coco.conversion import (
    AREA_SOURCES,
    IOU_TYPES,
    Problem,
    default_settings,
    to_core,
)
from mmdet_cppe5.reporting.assessment import Settings


def add_coco_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how boxes, masks or keypoints are judged."""
    parser.add_argument(
        '--json',
        metavar='FILE',
        help='write everything at full precision, with versions, SHA-256 of '
        'the inputs and all settings',
    )
    parser.add_argument(
        '--classes',
        nargs='+',
        metavar='NAME',
        help='evaluate these classes only, in this order (default: all, by '
        'ascending category id)',
    )
    parser.add_argument(
        '--iou-type',
        choices=IOU_TYPES,
        default='bbox',
        help='what is compared: boxes, masks or keypoints (default: bbox)',
    )
    parser.add_argument(
        '--iou-thrs',
        nargs='+',
        type=float,
        metavar='T',
        help="IoU thresholds instead of COCO's 0.5, 0.55, ..., 0.95",
    )
    parser.add_argument(
        '--max-dets',
        nargs='+',
        type=int,
        metavar='N',
        help='caps on detections per image and class (default: 1 10 100; '
        'for keypoints 20)',
    )
    parser.add_argument(
        '--area-source',
        choices=AREA_SOURCES,
        default='annotation',
        help="what decides an object's size range: the area that its "
        'annotation states, or width times height of its box',
    )
    parser.add_argument(
        '--sigmas',
        nargs='+',
        type=float,
        metavar='S',
        help="for keypoints: one number per keypoint (default: COCO's 17)",
    )


def add_resampling_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the bootstrap over images."""
    parser.add_argument(
        '--resamples',
        type=int,
        default=1000,
        metavar='N',
        help='resamples of the images behind the intervals (default: 1000)',
    )
    parser.add_argument(
        '--confidence',
        type=float,
        default=0.95,
        metavar='C',
        help='coverage of the intervals (default: 0.95)',
    )
    parser.add_argument(
        '--seed', type=int, default=0, help='of the resampling (default: 0)'
    )


def coco_settings(args: argparse.Namespace) -> Settings:
    """Return the settings that the options ask for."""
    ranges, caps = default_settings(args.iou_type)
    return Settings(
        iou_thrs=args.iou_thrs,
        area_ranges=ranges,
        max_dets=args.max_dets or caps,
    )


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
