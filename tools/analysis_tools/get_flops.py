"""Print the size of the zoo's networks beside the paper's figures.

python tools/analysis_tools/get_flops.py [MODEL ...] [--shape 800 1280]

Parameters are the trained ones in millions, GMACs billions of
multiply-accumulates by the counter that made the paper's table (which leaves
out what happens inside deformable convolution, attention and RoI pooling).
A model is a config's name, such as faster_rcnn; without one, all are counted,
in about a minute.
"""

import argparse
import logging
import os
import sys

from mmengine.config import Config

import mmdet_cppe5.plugin  # noqa: F401
from mmdet_cppe5.paths import find_config
from mmdet_cppe5.zoo.complexity import build_to_count, measure_complexity
from mmdet_cppe5.zoo.metafile import find_model, read_zoo

HEADS = ('model', 'M param', 'paper', 'GMACs', 'paper')


def parse_args(arguments):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument('models', nargs='*', metavar='MODEL')
    parser.add_argument(
        '--shape', type=int, nargs=2, default=(800, 1280), metavar=('H', 'W')
    )
    return parser.parse_args(arguments)


def count(model, shape):
    """Return a model's row as numbers and words."""
    config = Config.fromfile(
        find_config(model.config), import_custom_modules=False
    )
    paper = [model.paper.get(key, '-') for key in ('Parameters (M)', 'GMACs')]
    try:
        size = measure_complexity(build_to_count(config), tuple(shape))
    except (ImportError, OSError) as error:
        # A text encoder that is not installed or not downloaded.
        print(f'{model.name}: not counted. {error}', file=sys.stderr)
        return [model.name, '-', paper[0], '-', paper[1]]
    millions, billions = size.trainable / 1e6, size.macs / 1e9
    return [
        model.name,
        f'{millions:.3f}',
        paper[0],
        f'{billions:.2f}',
        paper[1],
    ]


def main(arguments=None):
    args = parse_args(arguments)
    # Counting downloads nothing; a text encoder must be there already.
    os.environ.setdefault('HF_HUB_OFFLINE', '1')
    models = [find_model(name) for name in args.models] or read_zoo()
    logging.disable(logging.INFO)
    print('{:<24}{:>10}{:>10}{:>10}{:>10}'.format(*HEADS))
    for model in models:
        print(
            '{:<24}{:>10}{:>10}{:>10}{:>10}'.format(*count(model, args.shape)),
            flush=True,
        )
    for model in models:
        if model.note:
            print(f'\n{model.name}: {model.note}')


if __name__ == '__main__':
    main()
