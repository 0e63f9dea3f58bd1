"""The options that ``evaluate`` and ``compare`` share, and their meaning."""

from __future__ import annotations

import argparse
from typing import Any

from mmdet_cppe5.coco import CocoGroundTruth
from mmdet_cppe5.coco.conversion import (
    AREA_SOURCES,
    IOU_TYPES,
    default_settings,
)
from mmdet_cppe5.scores.assessment import Settings
from mmdet_cppe5.scores.documents import describe_settings
from mmdet_cppe5.scores.formats import FORMATS


def add_output_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the form that the numbers take."""
    parser.add_argument(
        '--json',
        metavar='FILE',
        help='write everything at full precision, with versions, SHA-256 of '
        'the inputs and all settings; - means standard output (the tables '
        'then go to standard error)',
    )
    add_format_option(parser)
    add_quiet_option(parser)


def add_format_option(parser: argparse.ArgumentParser) -> None:
    """Add the option that chooses how tables are written."""
    parser.add_argument(
        '--format',
        choices=FORMATS,
        default='text',
        help='format of the tables (default: text)',
    )


def add_quiet_option(parser: argparse.ArgumentParser) -> None:
    """Add the option that switches progress off."""
    parser.add_argument(
        '--quiet',
        action='store_true',
        help='show no progress on standard error (it is shown on terminals '
        'only)',
    )


def add_coco_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how boxes, masks or keypoints are judged."""
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
        'annotation states, or width times height of its box (default: '
        'annotation)',
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
        metavar='N',
        help='balanced resamples of the images behind the intervals '
        '(default: as many as the number of images needs)',
    )
    parser.add_argument(
        '--confidence',
        type=float,
        default=0.95,
        metavar='C',
        help='coverage of the intervals, 0 to 1 (default: 0.95)',
    )
    parser.add_argument(
        '--seed',
        type=_seed,
        default=0,
        metavar='N',
        help='seed of the resampling; the same seed gives the same numbers '
        '(default: 0)',
    )


def add_analysis_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of TIDE and of the intervals, which can be left out."""
    parser.add_argument(
        '--no-tide', action='store_true', help='leave the error analysis out'
    )
    parser.add_argument(
        '--no-ci', action='store_true', help='leave the intervals out'
    )
    add_resampling_options(parser)


def coco_settings(args: argparse.Namespace) -> Settings:
    """Return the settings that the options ask for."""
    ranges, caps = default_settings(args.iou_type)
    return Settings(
        iou_thrs=args.iou_thrs,
        area_ranges=ranges,
        max_dets=args.max_dets or caps,
    )


def analyses(args: argparse.Namespace) -> dict[str, Any]:
    """Return ``tide`` and ``ci`` of :class:`Settings` as asked for."""
    ci = {
        'num_resamples': args.resamples,
        'confidence': args.confidence,
        'seed': args.seed,
    }
    return {
        'tide': None if args.no_tide else {},
        'ci': None if args.no_ci else ci,
    }


def described_settings(
    args: argparse.Namespace,
    settings: Settings,
    truth: CocoGroundTruth,
    **others: Any,
) -> dict[str, Any]:
    """Return every setting, defaults filled in, for the JSON."""
    return describe_settings(
        settings,
        iou_type=args.iou_type,
        classes=list(truth.class_names),
        area_source=args.area_source,
        sigmas=args.sigmas,
        **others,
    )


def _seed(text: str) -> int:
    """Read a seed, or say what one is."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(
            f'expected a whole number from 0, but got {text!r}'
        )
    return int(text)
