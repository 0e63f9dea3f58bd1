"""Count what a data set holds, and plot it.

Boxes by class and size, boxes per image, image and box shapes, positions,
and which classes come together. --plots writes one folder of figures for
each annotation file.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from mmdet_cppe5.cli.coco_inputs import print_notices
from mmdet_cppe5.cli.coco_options import add_format_option
from mmdet_cppe5.cli.output import print_parts
from mmdet_cppe5.data.stats import read_statistics
from mmdet_cppe5.files import write_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        'annotations',
        nargs='+',
        metavar='ANNOTATIONS.json',
        help='COCO annotation files',
    )
    parser.add_argument(
        '--plots',
        metavar='DIR',
        help='write the figures to DIR/NAME, NAME being the file without '
        'suffix',
    )
    parser.add_argument(
        '--formats',
        nargs='+',
        choices=('png', 'svg'),
        default=['png'],
        help='file formats of the figures (default: png)',
    )
    parser.add_argument(
        '--json', metavar='FILE', help='write all numbers as JSON'
    )
    add_format_option(parser)


def run(args: argparse.Namespace) -> int:
    """Count, print, and draw if asked to."""
    numbers = []
    for path in args.annotations:
        stats = read_statistics(path)
        print_notices(stats.notices)
        numbers.append(stats.as_json())
        if numbers[1:]:
            print()
        print_parts(stats.parts(), args.format)
        if args.plots:
            from mmdet_cppe5.data.stats_figures import draw_all
            from mmdet_cppe5.reports.exports import save_drawing

            folder = Path(args.plots) / Path(path).stem
            for drawing in draw_all(stats):
                save_drawing(drawing, folder, args.formats)
            print(f'figures: {folder}', file=sys.stderr)
    if args.json:
        write_json(args.json, numbers, indent=1)
    return 0
