"""Download CPPE-5, check it and put it in place.

The data set (238 MB) comes from its GitHub release, else from Google Drive,
else from its Hugging Face copy (which needs pyarrow). Interrupted downloads
resume where they stopped. A second run does nothing if everything is there,
and repairs what is missing or broken.
"""

from __future__ import annotations

import argparse
import sys

from mmdet_cppe5.data.prepare import prepare


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        '--folder',
        metavar='DIR',
        default='data/cppe5',
        help='where annotations/ and images/ go (default: %(default)s)',
    )
    parser.add_argument(
        '--archive',
        metavar='FILE',
        help='a local dataset.tar.gz, instead of downloading it',
    )
    parser.add_argument(
        '--accept-other-archive',
        action='store_true',
        help='accept an --archive whose size or digest is not the published '
        'one; its contents are still checked',
    )
    parser.add_argument(
        '--retries',
        metavar='N',
        type=int,
        default=5,
        help='consecutive attempts on one source that bring nothing new '
        '(default: %(default)s)',
    )
    parser.add_argument(
        '--timeout',
        metavar='SECONDS',
        type=float,
        default=30.0,
        help='seconds without a byte before a connection is given up '
        '(default: %(default)s)',
    )


def run(args: argparse.Namespace) -> int:
    """Prepare the data set and say what was done."""
    result = prepare(
        args.folder,
        archive=args.archive,
        other_archive=args.accept_other_archive,
        report=lambda sentence: print(sentence, file=sys.stderr),
        retries=args.retries,
        timeout=args.timeout,
    )
    for sentence in result.done:
        print(sentence)
    if not result.done:
        print(f'Nothing to do: all is in {result.folder}.')
    for split, count in result.images.items():
        print(f'{split}: {count:,} images, {result.boxes[split]:,} boxes')
    if result.source:
        print(f'source: {result.source}')
    return 0
