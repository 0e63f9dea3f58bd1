"""A progress bar when ``tqdm`` is there, and nothing when it is not."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Iterable, Iterator
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


@contextlib.contextmanager
def phase(text: str, show: bool = True, after: float = 2.0) -> Iterator[None]:
    """Say what takes so long, and for how many seconds, while it does.

    On standard error, only if that is a terminal, and only after a while.

    Args:
        text: what is being done.
        show: False for silence.
        after: seconds of silence.
    """
    if not show or not sys.stderr.isatty():
        yield
        return
    done = threading.Event()
    teller = threading.Thread(target=_tell, args=(text, done, after))
    teller.start()
    try:
        yield
    finally:
        done.set()
        teller.join()


def _tell(text: str, done: threading.Event, after: float) -> None:
    start = time.monotonic()
    if done.wait(after):
        return
    while not done.is_set():
        seconds = time.monotonic() - start
        _show(f'\r{text} … {seconds:.0f} s')
        done.wait(1)
    _show('\r\033[K')


def _show(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()
