"""Draw a small data set in the exact form of CPPE-5.

Nothing is downloaded: the pictures are drawn, and the same arguments draw
the same ones.
"""

from __future__ import annotations

import argparse

from mmdet_cppe5.drawn import write_drawn_dataset


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the folder, the numbers of images and the seed."""
    parser.add_argument('root', metavar='DIR', help='folder to write to')
    for name, default, what in (
        ('--num-train', 200, 'training images'),
        ('--num-test', 29, 'test images'),
        ('--seed', 0, 'seed of the drawing'),
    ):
        parser.add_argument(
            name,
            type=int,
            default=default,
            metavar='N',
            help=f'{what} (default: %(default)s)',
        )


def run(args: argparse.Namespace) -> int:
    """Write the data set and say where it is."""
    paths = write_drawn_dataset(
        args.root, args.num_train, args.num_test, args.seed
    )
    print(f'{args.num_train} training images: {paths.train}')
    print(f'{args.num_test} test images:     {paths.test}')
    return 0
