"""Dispatch of ``mmdet-cppe5 SUBCOMMAND``.

A subcommand is a module with ``add_arguments(parser)`` and
``run(args) -> int``. Only the module that is asked for is imported, so that
``evaluate`` starts in the time numpy takes to load.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from typing import Optional

from mmdet_cppe5 import __version__
from mmdet_cppe5.cli.parser import Parser, describe
from mmdet_cppe5.files import check_output, kept_inputs
from mmdet_cppe5.names import did_you_mean

# name -> (module, one line of help)
SUBCOMMANDS = {
    'evaluate': (
        'mmdet_cppe5.cli.evaluate',
        'AP, AR, TIDE and intervals from two JSON files',
    ),
    'compare': (
        'mmdet_cppe5.cli.compare',
        'which of several result files differ significantly',
    ),
    'report': (
        'mmdet_cppe5.cli.report',
        'one HTML page that shows how good detectors are',
    ),
    'draw-dataset': (
        'mmdet_cppe5.cli.draw_dataset',
        'draw a small data set to try things on',
    ),
    'prepare': (
        'mmdet_cppe5.cli.prepare',
        'download CPPE-5, check it and put it in place',
    ),
    'verify': (
        'mmdet_cppe5.cli.verify',
        'find what is wrong with COCO-format data',
    ),
    'convert': (
        'mmdet_cppe5.cli.convert',
        'COCO from and to YOLO, VOC and Hugging Face data',
    ),
    'stats': (
        'mmdet_cppe5.cli.stats',
        'count and plot what a data set holds',
    ),
    'browse': (
        'mmdet_cppe5.cli.browse',
        'look at images with their boxes drawn',
    ),
    'split': (
        'mmdet_cppe5.cli.split',
        'stratified train/val and k-fold annotation files',
    ),
    'config-root': (
        'mmdet_cppe5.cli.config_root',
        "print the folder of this project's configs",
    ),
    'deepfashion2-convert': (
        'mmdet_cppe5.cli.deepfashion2_convert',
        'raw DeepFashion2 annotations to the COCO form',
    ),
    'deepfashion2-evaluate': (
        'mmdet_cppe5.cli.deepfashion2_evaluate',
        "DeepFashion2's boxes, masks and landmarks",
    ),
    'deepfashion2-retrieval': (
        'mmdet_cppe5.cli.deepfashion2_retrieval',
        "DeepFashion2's consumer-to-shop retrieval",
    ),
}

# The arguments that name a file to write, in any subcommand.
_OUTPUTS = (
    'json', 'out', 'out_file', 'report', 'fix', 'visible_out', 'queries_out',
    'gallery_out',
)  # fmt: skip


def _usage() -> str:
    width = max(map(len, SUBCOMMANDS))
    rows = [
        f'  {name:<{width}}  {text}' for name, (_, text) in SUBCOMMANDS.items()
    ]
    return '\n'.join(
        [
            'usage: mmdet-cppe5 SUBCOMMAND ...',
            '',
            *rows,
            '',
            "'mmdet-cppe5 SUBCOMMAND --help' explains one.",
        ]
    )


def _unknown(name: str) -> str:
    """Say that there is no such subcommand, and which one may be meant."""
    meant = did_you_mean(name, SUBCOMMANDS)
    return f'mmdet-cppe5: no subcommand {name!r}{meant}\n'


def main(argv: Optional[Sequence[str]] = None) -> int:
    """Run one subcommand.

    Args:
        argv: the arguments after the program's name; ``sys.argv`` if None.

    Returns:
        The exit code: 0 for success, 2 for wrong input, else what the
        subcommand defines.
    """
    if '_ARGCOMPLETE' in os.environ:
        from mmdet_cppe5.cli.completion import complete

        complete(SUBCOMMANDS)
    arguments = list(sys.argv[1:] if argv is None else argv)
    if not arguments or arguments[0] in ('-h', '--help'):
        print(_usage())
        return 0 if arguments else 2
    if arguments[0] == '--version':
        print(f'mmdet-cppe5 {__version__}')
        return 0
    name, rest = arguments[0], arguments[1:]
    if name not in SUBCOMMANDS:
        print(_unknown(name), file=sys.stderr)
        print(_usage(), file=sys.stderr)
        return 2
    module_name, text = SUBCOMMANDS[name]
    module = importlib.import_module(module_name)
    parser = Parser(prog=f'mmdet-cppe5 {name}', **describe(module, text))
    module.add_arguments(parser)
    args = parser.parse_args(rest)
    try:
        _check_outputs(args)
        with kept_inputs():
            code = int(module.run(args))
        sys.stdout.flush()
        return code
    except BrokenPipeError:  # the reader has seen enough, as `head` has
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (ImportError, OSError, ValueError) as error:
        print(f'mmdet-cppe5 {name}: {error}', file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f'\nmmdet-cppe5 {name}: interrupted', file=sys.stderr)
        return 130


def _check_outputs(args: argparse.Namespace) -> None:
    """Refuse at once, not after hours, to write over an input."""
    values = vars(args)
    inputs = [
        item
        for name, value in values.items()
        if name not in _OUTPUTS
        for item in (value if isinstance(value, list) else [value])
        if isinstance(item, str)
    ]
    for name in _OUTPUTS:
        if isinstance(values.get(name), str):
            check_output(values[name], inputs)
