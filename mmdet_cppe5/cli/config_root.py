"""Print the folder of this project's configs, in a clone or a wheel.

For a tool that does not import this package and so does not know
`mmdet_cppe5::`: MMDetection's own train.py, say.
"""

from __future__ import annotations

import argparse

from mmdet_cppe5.paths import config_root


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments: none."""


def run(args: argparse.Namespace) -> int:
    """Print it."""
    print(config_root())
    return 0
