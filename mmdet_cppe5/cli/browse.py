"""Look at a data set's images with their boxes drawn.

Runs MMDetection's own browse_dataset.py. By default images are shown as they
are; --config shows what a model's training pipeline makes of them.
"""

from __future__ import annotations

import argparse
import os

from mmdet_cppe5.engine.mmdet_tools import run_mmdet_tool

_PLAIN = 'configs/_base_/datasets/cppe5_browse.py'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        '--ann-file',
        metavar='FILE',
        default='annotations/train.json',
        help='annotation file within the data root (default: %(default)s)',
    )
    parser.add_argument(
        '--data-root',
        metavar='DIR',
        help='folder of the data set (default: the environment variable '
        'CPPE5_DATA_ROOT, else data/cppe5)',
    )
    parser.add_argument(
        '--config',
        metavar='CONFIG',
        default=_PLAIN,
        help='a config whose training pipeline is to be seen',
    )
    parser.add_argument(
        '--output-dir',
        metavar='DIR',
        help='write pictures there instead of showing them',
    )
    parser.add_argument(
        '--show-interval',
        default='2',
        metavar='SECONDS',
        help='how long each is shown (default: %(default)s)',
    )


def run(args: argparse.Namespace) -> int:
    """Hand over to MMDetection's tool."""
    if args.data_root:
        os.environ['CPPE5_DATA_ROOT'] = args.data_root
    arguments = [args.config, '--show-interval', args.show_interval]
    if args.output_dir:
        arguments += ['--output-dir', args.output_dir, '--not-show']
    option = f'train_dataloader.dataset.ann_file={args.ann_file}'
    arguments += ['--cfg-options', option]
    run_mmdet_tool('analysis_tools/browse_dataset.py', arguments)
    return 0
