"""Evaluate DeepFashion2's consumer-to-shop retrieval.

Prints the top-1, 5, 10, 15 and 20 accuracy over all queries, and how many
queries have no detection. Boxes in all three files are x1, y1, x2, y2.
"""

from __future__ import annotations

import argparse
import math
import sys

from mmdet_cppe5.cli.coco_inputs import print_notices
from mmdet_cppe5.cli.coco_options import add_format_option
from mmdet_cppe5.cli.output import print_parts
from mmdet_cppe5.deepfashion2.retrieval_scores import (
    evaluate_retrieval_files,
    per_query,
    retrieval_tables,
    summarize,
)
from mmdet_cppe5.files import write_json
from mmdet_cppe5.scores.documents import describe_file, versions


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what ``mmdet-cppe5 deepfashion2-retrieval`` understands."""
    parser.add_argument(
        'queries', metavar='QUERY.json', help='query file, e.g. val_query.json'
    )
    parser.add_argument(
        'gallery',
        metavar='GALLERY.json',
        help='gallery file, e.g. val_gallery.json',
    )
    parser.add_argument(
        'results', metavar='RESULTS.json', help='retrieval result file'
    )
    parser.add_argument(
        '--no-classes',
        action='store_true',
        help="do not compare a detection's class with the query's, as before "
        '2019-01-21; for result files without query_cls',
    )
    parser.add_argument(
        '--json',
        metavar='FILE',
        help='write the figures and what became of each query, with versions '
        'and SHA-256 of the inputs',
    )
    add_format_option(parser)


def run(args: argparse.Namespace) -> int:
    """Evaluate, print the figures, and write the JSON if asked to."""
    queries, result, notices = evaluate_retrieval_files(
        args.queries, args.gallery, args.results, not args.no_classes
    )
    print_notices(notices)
    summary = summarize(result)
    print_parts(retrieval_tables(summary), args.format)
    if args.json:
        document = {
            'schema': 'mmdet-cppe5/deepfashion2-retrieval/1',
            'unit': 'fractions, 0 to 1; null where undefined',
            'versions': versions(),
            'inputs': {
                'queries': describe_file(args.queries),
                'gallery': describe_file(args.gallery),
                'results': describe_file(args.results),
            },
            'settings': {'with_classes': not args.no_classes},
            'overall': {
                name: None if math.isnan(value) else value
                for name, value in summary.items()
            },
            'queries': per_query(queries, result),
        }
        write_json(args.json, document, 1)
        print(f'Wrote {args.json}', file=sys.stderr)
    return 0
