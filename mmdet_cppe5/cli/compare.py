"""Compare two or more COCO result files on the same ground truth.

Prints each model's score with its interval, the paired difference of every
two models with its interval and p value (paired permutation test, Holm's
correction over all pairs), and which models are not significantly different.

Example:
  mmdet-cppe5 compare test.json baseline.bbox.json mine.bbox.json
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from mmdet_cppe5.cli.coco_inputs import (
    describe_results,
    describe_truth,
    print_notices,
    read_problems,
)
from mmdet_cppe5.cli.coco_options import (
    add_coco_options,
    add_output_options,
    add_resampling_options,
    coco_settings,
    described_settings,
)
from mmdet_cppe5.cli.output import print_parts, text_stream, write_numbers
from mmdet_cppe5.coco import CocoGroundTruth, CocoResults
from mmdet_cppe5.coco.records import counted
from mmdet_cppe5.core import Evaluation, compare, compare_classes, evaluate
from mmdet_cppe5.files import check_output
from mmdet_cppe5.progress import phase
from mmdet_cppe5.scores.documents import comparison_document
from mmdet_cppe5.scores.groups import distinct_names
from mmdet_cppe5.scores.tables import (
    class_comparison_table,
    comparison_parts,
)

# Of the permutations that decide on the smallest p value.
ENOUGH = 10


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what ``mmdet-cppe5 compare`` understands."""
    parser.add_argument(
        'ground_truth',
        metavar='GT.json',
        help='COCO annotation file, the ground truth',
    )
    parser.add_argument(
        'results',
        nargs='+',
        metavar='RESULTS.json',
        help='COCO result files, one per model, two or more',
    )
    parser.add_argument(
        '--metric',
        default='AP',
        metavar='NAME',
        help='the score to compare: AP, AP50, AP75, APs, APm, APl (default: '
        'AP); dAP_Cls, dAP_Loc, ... for TIDE',
    )
    parser.add_argument(
        '--per-class',
        action='store_true',
        help='also compare on every class by itself; p values are corrected '
        'over all classes and pairs',
    )
    add_output_options(parser)
    add_coco_options(parser)
    add_resampling_options(parser)
    parser.add_argument(
        '--permutations',
        type=int,
        default=10000,
        metavar='N',
        help='random exchanges behind each p value, at most (default: 10000)',
    )
    parser.add_argument(
        '--alpha',
        type=float,
        default=0.05,
        metavar='A',
        help='error rate over all pairs together (default: 0.05)',
    )


def run(args: argparse.Namespace) -> int:
    """Compare, print the tables, and write the JSON if asked to."""
    if len(args.results) < 2:
        raise ValueError(
            'Expected two or more result files to compare, but got only '
            f'{args.results[0]}; the ground truth comes first.'
        )
    check_output(args.json, [args.ground_truth, *args.results])
    truth, files, problems = read_problems(args, args.results)
    settings = coco_settings(args)
    names = distinct_names(args.results)
    show = not args.quiet
    evaluations: dict[str, Evaluation] = {}
    for name, problem in zip(names, problems):
        with phase(f'Evaluating {name}', show):
            evaluations[name] = evaluate(
                problem.ground_truths,
                problem.detections,
                similarity=problem.similarity,
                **settings.arguments(),
            )
    options = {
        'num_resamples': args.resamples,
        'num_permutations': args.permutations,
        'seed': args.seed,
        'confidence': args.confidence,
        'alpha': args.alpha,
    }
    _warn_of_no_power(len(names), args.permutations, args.alpha)
    with phase(f'Comparing {len(names)} models', show):
        comparison = compare(evaluations, args.metric, **options)
    classes = None
    if args.per_class:
        with phase('Comparing on every class', show):
            by_class = compare_classes(evaluations, args.metric, **options)
        classes = dict(zip(truth.class_names, by_class))
    if args.json:  # before anything that a closed pipe may cut off
        document = comparison_document(
            comparison,
            _described_inputs(args, truth, dict(zip(names, files))),
            described_settings(args, settings, truth, **options),
            [*truth.notices, *(n for f in files for n in f.notices)],
            classes,
        )
        write_numbers(args.json, document)
    parts = comparison_parts(comparison, args.confidence)
    if classes:
        parts.append(
            class_comparison_table(classes, args.metric, args.confidence)
        )
    print_parts(parts, args.format, text_stream(args.json))
    return 0


def _warn_of_no_power(models: int, permutations: int, alpha: float) -> None:
    """Say so where hardly any difference could become significant."""
    pairs = models * (models - 1) // 2
    # How many permutations may reach the difference of the first pair.
    reaching = alpha * (permutations + 1) / pairs - 1
    if 0 <= reaching < ENOUGH:
        print_notices(
            [
                f'with {counted(pairs, "pair")} and {permutations} '
                'permutations a difference is significant only if at most '
                f'{int(reaching)} of the permutations reach it; '
                f'--permutations {round(ENOUGH * pairs / alpha):d} or more '
                'gives the test its power'
            ]
        )


def _described_inputs(
    args: argparse.Namespace,
    truth: CocoGroundTruth,
    files: Mapping[str, CocoResults],
) -> dict[str, Any]:
    """Describe the ground truth and the result file of each model."""
    return {
        'ground_truth': describe_truth(args.ground_truth, truth),
        'results': {
            name: describe_results(path, found)
            for (name, found), path in zip(files.items(), args.results)
        },
    }
