"""Evaluate a COCO result file against its ground truth.

Prints COCO's summary, the scores of every class, TIDE's errors, confidence
intervals over resampled images, and the average recall that CPPE-5's
evaluation card asks for. Works with any data set in COCO form. Example:

  mmdet-cppe5 evaluate test.json run.bbox.json --json scores.json

where CPPE5Metric(outfile_prefix='run') wrote run.bbox.json during a test.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from functools import partial
from typing import Union

import numpy as np

from mmdet_cppe5.cli.coco_inputs import (
    describe_results,
    describe_truth,
    read_problems,
)
from mmdet_cppe5.cli.coco_options import (
    add_analysis_options,
    add_coco_options,
    add_output_options,
    analyses,
    coco_settings,
    described_settings,
)
from mmdet_cppe5.cli.output import print_parts, text_stream, write_numbers
from mmdet_cppe5.files import check_output
from mmdet_cppe5.progress import phase
from mmdet_cppe5.scores.assessment import Assessment, assess
from mmdet_cppe5.scores.card_recall import card_recall
from mmdet_cppe5.scores.documents import evaluation_document
from mmdet_cppe5.scores.formats import Table
from mmdet_cppe5.scores.summary import interval_points
from mmdet_cppe5.scores.tables import (
    assessment_parts,
    assessment_tables,
    number,
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what ``mmdet-cppe5 evaluate`` understands."""
    parser.add_argument(
        'ground_truth',
        metavar='GT.json',
        help='COCO annotation file, the ground truth',
    )
    parser.add_argument(
        'results',
        metavar='RESULTS.json',
        help='COCO result file, a list of detections',
    )
    add_output_options(parser)
    add_coco_options(parser)
    add_analysis_options(parser)


def run(args: argparse.Namespace) -> int:
    """Evaluate, print the tables, and write the JSON if asked to."""
    check_output(args.json, [args.ground_truth, args.results])
    truth, (found,), (problem,) = read_problems(args, [args.results])
    settings = replace(coco_settings(args), **analyses(args))
    assessment = assess(
        problem.ground_truths,
        problem.detections,
        truth.class_names,
        settings,
        problem.similarity,
        partial(phase, show=not args.quiet),
    )
    card = card_recall(
        problem.ground_truths,
        problem.detections,
        problem.similarity,
        settings.arguments()['iou_thrs'],
    )
    if args.json:  # before anything that a closed pipe may cut off
        inputs = {
            'ground_truth': describe_truth(args.ground_truth, truth),
            'results': describe_results(args.results, found),
        }
        document = evaluation_document(
            assessment.summary,
            inputs,
            described_settings(args, settings, truth),
            [*truth.notices, *found.notices],
            card.tolist(),
        )
        write_numbers(args.json, document)
    parts: list[Union[Table, str]] = [
        f'{args.results}: {len(found.records)} detections against '
        f'{len(truth.records)} annotations in {len(truth.image_ids)} images',
        *assessment_parts(assessment),
        _card_line(card),
        _last_line(assessment),
    ]
    if args.format != 'text':
        parts = [*assessment_tables(assessment)]
    print_parts(parts, args.format, text_stream(args.json))
    return 0


def _last_line(assessment: Assessment) -> str:
    """Return AP once more, where long tables have pushed it out of sight."""
    text = f'AP {number(assessment.summary["overall"]["AP"])}'
    if assessment.bootstrap is None:
        return text
    interval = interval_points(assessment.bootstrap.intervals['AP'])
    return (
        f'{text} ({assessment.bootstrap.confidence:.0%} interval '
        f'{number(interval["low"])} to {number(interval["high"])})'
    )


def _card_line(card: np.ndarray) -> str:
    mean = float(np.mean(card))
    value = number(None if np.isnan(mean) else 100 * mean)
    return (
        f"Average recall by the recipe of CPPE-5's evaluation card: {value}\n"
        '(matched over all objects, regardless of scores, so false '
        'positives cost nothing: not an AP)'
    )
