r"""Write a report on detectors as one HTML file that needs nothing else.

The details (figures, examples of errors, every image) are about the first
RESULTS; further ones are compared with it on the same images. Example:

  mmdet-cppe5 report test.json mine.json baseline.json \
      --images images/ --out report.html
"""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

from mmdet_cppe5.cli.coco_options import add_quiet_option
from mmdet_cppe5.progress import phase
from mmdet_cppe5.reports.from_files import ReportFiles, write_report


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the subcommand's arguments."""
    parser.add_argument(
        'ground_truth',
        metavar='GT.json',
        help='COCO annotation file, the ground truth',
    )
    parser.add_argument(
        'results',
        nargs='+',
        metavar='RESULTS.json',
        help='COCO result files, one per detector; the details are about the '
        'first',
    )
    parser.add_argument(
        '--out',
        metavar='FILE',
        default='report.html',
        help='the page (default: %(default)s)',
    )
    parser.add_argument('--images', metavar='DIR', help='folder of the photos')
    parser.add_argument(
        '--names',
        nargs='+',
        metavar='NAME',
        help='names of the detectors, one per result file (default: the '
        'file names)',
    )
    parser.add_argument('--title', metavar='TEXT', help='heading of the page')
    parser.add_argument(
        '--classes',
        nargs='+',
        metavar='NAME',
        help='evaluate these classes only',
    )
    parser.add_argument(
        '--resamples',
        type=int,
        metavar='N',
        help='resamples of the images behind intervals and tests; 0 leaves '
        'both out (default: 1000, or fewer for more than 100,000 detections)',
    )
    parser.add_argument(
        '--seed',
        type=int,
        metavar='N',
        default=0,
        help='seed of the resampling (default: %(default)s)',
    )
    parser.add_argument(
        '--speed',
        nargs='+',
        metavar='NAME=FILE',
        default=[],
        help='records that tools/analysis_tools/benchmark.py --task '
        'inference --out wrote, to plot speed against AP',
    )
    parser.add_argument(
        '--figures',
        metavar='DIR',
        help='also write each figure as PNG and SVG to a folder',
    )
    parser.add_argument(
        '--tables',
        metavar='DIR',
        help='also write each table as Markdown and LaTeX to a folder',
    )
    parser.add_argument(
        '--photo-limit',
        type=int,
        metavar='N',
        default=60,
        help='photos in the page at most (default: %(default)s)',
    )
    parser.add_argument(
        '--worklist',
        metavar='FILE',
        help='also write every error of the first detector to FILE.csv, or to '
        'FILE.json as a COCO annotation file for labelling tools',
    )
    parser.add_argument(
        '--slice',
        nargs='+',
        default=[],
        metavar='KEY',
        help='also score by the values of these fields of the images or '
        'annotations',
    )
    add_quiet_option(parser)


def run(args: argparse.Namespace) -> int:
    """Run the subcommand."""
    files = ReportFiles(
        ground_truth=args.ground_truth,
        results=tuple(args.results),
        out=args.out,
        images=args.images,
        names=tuple(args.names or ()),
        title=args.title,
        classes=tuple(args.classes) if args.classes else None,
        resamples=args.resamples,
        seed=args.seed,
        speed=tuple(args.speed),
        figures=args.figures,
        tables=args.tables,
        photo_limit=args.photo_limit,
        worklist=args.worklist,
        slice=tuple(args.slice),
    )
    page = write_report(files, partial(phase, show=not args.quiet))
    for item in page.headline:
        interval = f'  ({item.interval})' if item.interval else ''
        print(f'{item.label:<6} {item.value:>6}{interval}')
    for sentence in page.findings:
        print(f'- {sentence}')
    size = Path(args.out).stat().st_size / 1e6
    print(f'Wrote {args.out} ({size:.1f} MB).')
    return 0
