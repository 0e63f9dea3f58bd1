"""What a shell completes: subcommands, options, choices and file names.

Needs argcomplete, which starts the command with ``_ARGCOMPLETE`` set whenever
the tab key is pressed. Only the module of the subcommand that is being typed
is imported.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping

from mmdet_cppe5.cli.parser import Parser, describe


def complete(subcommands: Mapping[str, tuple[str, str]]) -> None:
    """Write the completions of ``COMP_LINE`` and end the process.

    Args:
        subcommands: name -> module and one line of help.

    Raises:
        ImportError: if argcomplete is not installed.
    """
    import argcomplete

    typed = os.environ.get('COMP_LINE', '').split()
    parser = Parser(prog='mmdet-cppe5')
    parsers = parser.add_subparsers()
    for name, (module_name, text) in subcommands.items():
        if name not in typed[1:2]:
            parsers.add_parser(name, help=text)
            continue
        module = importlib.import_module(module_name)
        module.add_arguments(
            parsers.add_parser(name, **describe(module, text))
        )
    argcomplete.autocomplete(parser)
