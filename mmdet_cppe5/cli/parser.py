"""The parser of a subcommand, and what it says about misspelt options."""

from __future__ import annotations

import argparse
import re
from types import ModuleType
from typing import Any, NoReturn

from mmdet_cppe5.names import did_you_mean


class Parser(argparse.ArgumentParser):
    """A parser that names the option or choice that may be meant."""

    def error(self, message: str) -> NoReturn:
        """End with what is wrong, and what may be meant."""
        super().error(message + self._meant(message))

    def _meant(self, message: str) -> str:
        unknown = re.match(r'unrecognized arguments: .*?(--[\w-]+)', message)
        if unknown:
            return did_you_mean(unknown[1], self._option_string_actions)
        choice = re.search(
            r"invalid choice: '(.*?)' \(choose from (.*)\)", message
        )
        if choice:
            known = re.findall(r'[\w-]+', choice[2])
            return did_you_mean(choice[1], known)
        return ''


def describe(module: ModuleType, text: str) -> dict[str, Any]:
    """Return what a parser is made of, for a subcommand's module.

    Args:
        module: its docstring is the help text.
        text: the help text of a module without docstring.
    """
    return {
        'description': module.__doc__ or text,
        'formatter_class': argparse.RawDescriptionHelpFormatter,
    }
