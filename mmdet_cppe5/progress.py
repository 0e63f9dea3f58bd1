"""A progress bar when ``tqdm`` is there, and nothing when it is not."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any, Optional, Protocol


class Bar(Protocol):
    """What the callers use of a ``tqdm`` bar."""

    def update(self, n: float = 1) -> Optional[bool]:
        """Move the bar by ``n`` steps."""

    def close(self) -> None:
        """Leave the bar as it stands."""


class _NoBar:
    """Stands in for a bar that nobody would see."""

    def update(self, n: float = 1) -> Optional[bool]:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""


def progress_bar(show: bool = True, **options: Any) -> Bar:
    """Return a bar on standard error, silent unless that is a terminal.

    Args:
        show: False for a bar that never shows.
        **options: what ``tqdm`` takes, such as ``total``, ``desc``,
            ``unit``.
    """
    if not show or not sys.stderr.isatty():
        return _NoBar()
    try:
        from tqdm import tqdm
    except ImportError:
        return _NoBar()
    return tqdm(file=sys.stderr, leave=False, **options)


def track(
    items: Iterable[Any], total: int, text: str, show: bool = True
) -> Iterable[Any]:
    """Yield ``items`` while a bar named ``text`` counts them."""
    bar = progress_bar(show, total=total, desc=text)
    try:
        for item in items:
            yield item
            bar.update()
    finally:
        bar.close()
