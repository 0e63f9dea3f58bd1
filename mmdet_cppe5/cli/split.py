"""Stratified train/val and k-fold annotation files of one data set.

Parts have the same shares of images, of boxes of each class and of boxes of
each size, as nearly as whole images allow; near-identical images stay in one
part (with --images). The same file and seed give the same parts. Images are
not copied: the files written refer to the same image folder.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np

from mmdet_cppe5.cli.coco_inputs import print_notices
from mmdet_cppe5.cli.coco_options import add_format_option
from mmdet_cppe5.cli.output import print_parts
from mmdet_cppe5.data.dataset_file import read_dataset
from mmdet_cppe5.data.splits import (
    Partition,
    look_alikes,
    partition,
    select,
)
from mmdet_cppe5.data.stats import read_statistics
from mmdet_cppe5.files import check_output, file_digest, write_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        'annotations',
        metavar='ANNOTATIONS.json',
        help='COCO annotation file',
    )
    parser.add_argument(
        '--out-dir',
        required=True,
        metavar='DIR',
        help='folder to write the files to',
    )
    parser.add_argument(
        '--images',
        metavar='DIR',
        help='folder of the image files, to keep near-identical images '
        'together',
    )
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument(
        '--val',
        type=float,
        metavar='SHARE',
        default=0.15,
        help='share of the images for val.json; the rest is train.json '
        '(default: %(default)s)',
    )
    kind.add_argument(
        '--folds',
        type=int,
        metavar='N',
        help='write this many folds instead',
    )
    parser.add_argument(
        '--allow-empty',
        action='store_true',
        help='no error if the file has no object',
    )
    parser.add_argument(
        '--seed',
        type=int,
        default=0,
        metavar='N',
        help='seed of the split (default: %(default)s)',
    )
    add_format_option(parser)


def run(args: argparse.Namespace) -> int:
    """Split, write the parts and say what is in them."""
    shares, titles = _shares(args)
    stats = read_statistics(args.annotations)
    dataset, _ = read_dataset(args.annotations)
    print_notices(stats.notices)
    if not args.allow_empty and not len(stats.boxes):
        raise ValueError(
            f'Expected annotated objects in {args.annotations}, but it has '
            'none; --allow-empty splits its images all the same.'
        )
    groups, together = None, []
    if args.images:
        alike = look_alikes(dataset, args.images)
        groups = np.array([alike[key] for key in stats.image_ids])
        together = _together(alike)
        print(
            f'{sum(map(len, together)):,} images look like another one; kept '
            f'together, in groups: {len(together):,}',
            file=sys.stderr,
        )
    else:
        print(
            'near-identical images are not looked for: name their folder '
            'with --images to keep them together',
            file=sys.stderr,
        )
    found = partition(stats, shares, args.seed, groups)
    parts = [
        {
            key
            for key, part in zip(stats.image_ids, found.part.tolist())
            if part == number
        }
        for number in range(len(shares))
    ]
    files = _write(args, dataset, parts, titles)
    print_parts([found.table(titles)], args.format)
    record = _record(args, found, titles, together)
    write_json(Path(args.out_dir) / 'split.json', record, indent=1)
    print('wrote ' + ', '.join(map(str, files)), file=sys.stderr)
    return 0


def _shares(args: argparse.Namespace) -> tuple[list[float], list[str]]:
    if args.folds is None:
        if not 0 < args.val < 1:
            raise ValueError(f'Expected --val between 0 and 1: {args.val}.')
        return [1 - args.val, args.val], ['train', 'val']
    if args.folds < 2:
        raise ValueError(f'Expected at least 2 --folds, got {args.folds}.')
    titles = [f'fold {number}' for number in range(1, args.folds + 1)]
    return [1 / args.folds] * args.folds, titles


def _together(alike: dict[Any, int]) -> list[list[Any]]:
    """Return the groups of more than one image."""
    members: dict[int, list[Any]] = {}
    for key, group in alike.items():
        members.setdefault(group, []).append(key)
    return [group for group in members.values() if len(group) > 1]


def _write(
    args: argparse.Namespace,
    dataset: dict[str, Any],
    parts: list[set[Any]],
    titles: list[str],
) -> list[Path]:
    """Write one file for each part, or two for each fold."""
    folder = Path(args.out_dir)
    contents: dict[str, set[Any]] = {}
    if args.folds is None:
        contents = {f'{title}.json': ids for title, ids in zip(titles, parts)}
    else:
        everything = set().union(*parts)
        for number, ids in enumerate(parts, start=1):
            stem = f'fold{number}of{args.folds}'
            contents[f'{stem}_train.json'] = everything - ids
            contents[f'{stem}_val.json'] = ids
    for name in (*contents, 'split.json'):
        check_output(folder / name, [args.annotations])
    for name, ids in contents.items():
        write_json(folder / name, select(dataset, ids))
    return [folder / name for name in contents]


def _record(
    args: argparse.Namespace,
    found: Partition,
    titles: list[str],
    together: list[list[Any]],
) -> dict[str, Any]:
    """Return what is needed to know and to repeat the split."""
    return {
        'annotations': Path(args.annotations).name,
        'sha256': file_digest(args.annotations),
        'seed': args.seed,
        'shares': found.shares.tolist(),
        'near_identical_looked_for': bool(args.images),
        'near_identical': together,
        'counts': {
            title: dict(zip(found.names, map(int, row)))
            for title, row in zip(titles, found.counts)
        },
    }
