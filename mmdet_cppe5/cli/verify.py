"""Find what is wrong with data sets in COCO format.

Names every fault of the annotation files, and with --images of the image
files, and (near-)identical images within and across the files. Exit code: 0
without errors, 1 with errors (with --strict also for warnings), 2 if a file
cannot be read at all.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from mmdet_cppe5.data.verify.duplicates import BITS
from mmdet_cppe5.data.verify.fix import fix
from mmdet_cppe5.data.verify.verification import Verification, verify
from mmdet_cppe5.files import write_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        'annotations',
        nargs='+',
        metavar='ANNOTATIONS.json',
        help='COCO annotation files of one data set, such as train and test',
    )
    parser.add_argument(
        '--images',
        nargs='+',
        default=(),
        metavar='DIR',
        help='image folders: one for all files, or one for each '
        '(default: image files are not opened)',
    )
    parser.add_argument(
        '--no-duplicates',
        dest='duplicates',
        action='store_false',
        help='do not look for (near-)identical images',
    )
    parser.add_argument(
        '--bits',
        type=int,
        metavar='N',
        default=BITS,
        help="how many of the 64 bits of two images' perceptual hashes may "
        'differ (default: %(default)s)',
    )
    parser.add_argument(
        '--json', metavar='FILE', help='write all findings as JSON'
    )
    parser.add_argument(
        '--fix',
        metavar='FILE',
        help='write a corrected copy of the (one) annotation file, and each '
        'change to FILE.changes.json',
    )
    parser.add_argument(
        '--allow-empty',
        action='store_true',
        help='no error if --fix leaves no annotation, or less than half',
    )
    parser.add_argument(
        '--examples',
        type=int,
        metavar='N',
        default=3,
        help='cases to print for each finding (default: %(default)s)',
    )
    parser.add_argument(
        '--workers',
        type=int,
        metavar='N',
        help='number of processes (default: all cores)',
    )
    parser.add_argument(
        '--strict', action='store_true', help='warnings also give exit code 1'
    )


def run(args: argparse.Namespace) -> int:
    """Check, print, and write what was asked for."""
    if args.fix and len(args.annotations) > 1:
        raise ValueError(
            f'Expected one annotation file with --fix, but got '
            f'{len(args.annotations)}.'
        )
    found = verify(
        args.annotations,
        args.images,
        args.duplicates,
        args.bits,
        args.workers,
    )
    for line in found.report.lines(args.examples):
        print(line)
    if args.json:
        write_json(args.json, found.report.as_json(), indent=1)
    if args.fix:
        _fix(args, found)
    return found.report.exit_code(args.strict)


def _fix(args: argparse.Namespace, found: Verification) -> None:
    """Write the corrected file and say what is left."""
    fixed = fix(args.annotations[0], found.facts[0])
    if not args.allow_empty:
        fixed.check_loss()
    target = Path(args.fix)
    write_json(target, fixed.dataset)
    changes = target.with_name(f'{target.name}.changes.json')
    write_json(changes, [c.as_json() for c in fixed.changes], indent=1)
    print(f'\nwrote {target} and {changes}')
    for line in [*fixed.summary(), *fixed.unresolved]:
        print(line)
    if not fixed.changes:
        print('nothing changed')
    print('annotations after the changes, without image files:')
    for line in verify([target]).report.lines(args.examples):
        print(line)
