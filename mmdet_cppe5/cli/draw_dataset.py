"""Draw a small data set in the exact form of CPPE-5.

Nothing is downloaded: the pictures are drawn, and the same arguments draw
the same ones.
"""

from __future__ import annotations

import argparse

from mmdet_cppe5.drawn import write_drawn_dataset


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the folder, the numbers of images and the seed."""
    parser.add_argument('root', help='folder to write to')
    parser.add_argument('--num-train', type=int, default=200)
    parser.add_argument('--num-test', type=int, default=29)
    parser.add_argument('--seed', type=int, default=0)


def run(args: argparse.Namespace) -> int:
    """Write the data set and say where it is."""
    paths = write_drawn_dataset(
        args.root, args.num_train, args.num_test, args.seed
    )
    print(f'{args.num_train} training images: {paths.train}')
    print(f'{args.num_test} test images:     {paths.test}')
    return 0
