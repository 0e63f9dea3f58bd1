"""Evaluate a COCO result file against its ground truth.

Prints COCO's summary, the scores of every class, TIDE's errors, confidence
intervals over resampled images, and the average recall that CPPE-5's
evaluation card asks for. Works with any data set in COCO form.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

import numpy as np

from mmdet_cppe5.files import write_json
from mmdet_cppe5.reporting.assessment import Settings, assess
from mmdet_cppe5.reporting.card_recall import card_recall
from mmdet_cppe5.reporting.documents import (
    describe_file,
    describe_settings,
    evaluation_document,
)
from mmdet_cppe5.reporting.tables import number, summary_tables

from .coco_options import (
    add_coco_options,
    add_resampling_options,
    coco_settings,
    read_problems,
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what ``mmdet-cppe5 evaluate`` understands."""
    parser.add_argument(
        'ground_truth', metavar='GT.json', help='COCO annotation file'
    )
    parser.add_argument(
        'results', metavar='RESULTS.json', help='COCO result file'
    )
    add_coco_options(parser)
    parser.add_argument(
        '--no-tide', action='store_true', help='leave the error analysis out'
    )
    parser.add_argument(
        '--no-ci', action='store_true', help='leave the intervals out'
    )
    add_resampling_options(parser)


def run(args: argparse.Namespace) -> int:
    """Evaluate, print the tables, and write the JSON if asked to."""
    truth, (found,), (problem,) = read_problems(args, [args.results])
    settings = _settings(args)
    summary, scores = assess(
        problem.ground_truths,
        problem.detections,
        truth.class_names,
        settings,
        problem.similarity,
    )
    card = card_recall(
        problem.ground_truths,
        problem.detections,
        problem.similarity,
        settings.arguments()['iou_thrs'],
    )
    print(
        f'{args.results}: {len(found.records)} detections against '
        f'{len(truth.records)} annotations in {len(truth.image_ids)} images\n'
    )
    print(summary_tables(summary, scores))
    print(f'\n{_card_line(card)}')
    if args.json:
        inputs = {
            'ground_truth': describe_file(
                args.ground_truth,
                images=len(truth.image_ids),
                annotations=len(truth.records),
            ),
            'results': describe_file(
                args.results, detections=len(found.records)
            ),
        }
        document = evaluation_document(
            summary,
            inputs,
            _described(args, settings, truth.class_names),
            [*truth.notices, *found.notices],
            card.tolist(),
        )
        write_json(args.json, document, 1)
        print(f'\nWrote {args.json}')
    return 0


def _settings(args: argparse.Namespace) -> Settings:
    ci = {
        'num_resamples': args.resamples,
        'confidence': args.confidence,
        'seed': args.seed,
    }
    return replace(
        coco_settings(args),
        tide=None if args.no_tide else {},
        ci=None if args.no_ci else ci,
    )


def _described(
    args: argparse.Namespace, settings: Settings, classes: tuple[str, ...]
) -> dict[str, object]:
    return describe_settings(
        settings,
        iou_type=args.iou_type,
        classes=list(classes),
        area_source=args.area_source,
        sigmas=args.sigmas,
    )


def _card_line(card: np.ndarray) -> str:
    mean = float(np.mean(card))
    value = number(None if np.isnan(mean) else 100 * mean)
    return (
        f"Average recall by the recipe of CPPE-5's evaluation card: {value}\n"
        '(matched over all objects, blind to scores, so false alarms cost '
        'nothing: not an AP)'
    )
