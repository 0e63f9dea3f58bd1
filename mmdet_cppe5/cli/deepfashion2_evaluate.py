"""Evaluate DeepFashion2 results: boxes, masks or landmarks.

Takes the official result files: COCO's for boxes and masks, and one with 294
landmarks (882 numbers) an item. Prints COCO's summary, the scores of every
class, TIDE's errors and confidence intervals over resampled images.
"""

from __future__ import annotations

import argparse
from typing import Union

from mmdet_cppe5.cli.coco_inputs import (
    describe_results,
    describe_truth,
    print_notices,
)
from mmdet_cppe5.cli.coco_options import (
    add_analysis_options,
    add_output_options,
    analyses,
)
from mmdet_cppe5.cli.output import print_parts, text_stream, write_numbers
from mmdet_cppe5.coco import CocoResults, read_results
from mmdet_cppe5.coco.box_form import form_notices
from mmdet_cppe5.deepfashion2.evaluation import (
    TASKS,
    assess_task,
    read_truth,
    task_problem,
    task_settings,
)
from mmdet_cppe5.deepfashion2.subsets import SUBSETS, subset_table
from mmdet_cppe5.files import check_output
from mmdet_cppe5.scores.documents import (
    describe_settings,
    evaluation_document,
)
from mmdet_cppe5.scores.formats import Table
from mmdet_cppe5.scores.tables import assessment_parts, assessment_tables


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what ``mmdet-cppe5 deepfashion2-evaluate`` understands."""
    parser.add_argument(
        'ground_truth', metavar='GT.json', help='COCO-style annotation file'
    )
    parser.add_argument(
        'results', metavar='RESULTS.json', help='result file of one task'
    )
    parser.add_argument(
        '--task',
        choices=TASKS,
        help='what is compared (default: what the results hold: landmarks '
        'before masks before boxes)',
    )
    parser.add_argument(
        '--visible-only',
        action='store_true',
        help='leave occluded landmarks out, which the tables call "vis" '
        '(without it: "vis && hide")',
    )
    parser.add_argument(
        '--as-reference',
        action='store_true',
        help='treat items without labelled landmarks as the reference code '
        'does: unused landmarks decide whether a detection lies on one',
    )
    parser.add_argument(
        '--subset',
        nargs='+',
        choices=list(SUBSETS),
        default=[],
        metavar='ATTRIBUTE',
        help='AP by the values of some attributes as well; items of other '
        f'values are ignored: {", ".join(SUBSETS)}',
    )
    add_output_options(parser)
    add_analysis_options(parser)


def run(args: argparse.Namespace) -> int:
    """Evaluate, print the tables, and write the JSON if asked to."""
    check_output(args.json, [args.ground_truth, args.results])
    truth = read_truth(
        args.ground_truth, only_visible=args.visible_only, need_boxes=False
    )
    found = read_results(args.results, truth)
    notices = [*truth.notices, *found.notices]
    task = args.task or _task_of(found)
    problem = task_problem(truth, found, task, args.as_reference)
    if task == 'bbox':
        notices += form_notices(truth, found, problem.detections.bbox)
    print_notices(notices)
    settings = task_settings(task, **analyses(args))
    summary, assessment = assess_task(
        truth, problem, task, settings, args.subset
    )
    parts: list[Union[Table, str]] = [
        f'{args.results}, {task}: {len(found.records)} detections against '
        f'{len(truth.records)} items in {len(truth.image_ids)} images',
        *assessment_parts(assessment),
    ]
    if args.format != 'text':
        parts = [*assessment_tables(assessment)]
    if args.subset:
        parts.append(subset_table(summary))
    print_parts(parts, args.format, text_stream(args.json))
    if args.json:
        inputs = {
            'ground_truth': describe_truth(args.ground_truth, truth),
            'results': describe_results(args.results, found),
        }
        described = describe_settings(
            settings,
            task=task,
            visible_only=args.visible_only,
            as_reference=args.as_reference,
        )
        document = evaluation_document(summary, inputs, described, notices)
        write_numbers(args.json, document)
    return 0


def _task_of(found: CocoResults) -> str:
    """Tell the task by what the first result holds."""
    first = found.records.items[0] if len(found.records) else {}
    if 'keypoints' in first:
        return 'keypoints'
    return 'segm' if 'segmentation' in first else 'bbox'
