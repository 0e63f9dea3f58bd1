"""Which picture an annotation file means: one rule for every reader.

Exporters write back slashes, drive letters, folders of an upload, ``..``.
A name is looked for as it is, then with ``/`` for every separator and
without what leads outside, then by its last part, if that is unique; there
also without the eight hexadecimal digits that Label Studio puts before the
names of uploads, and decoded from an address. Nothing outside the image
folder is ever taken, and no picture that is there is hidden.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Optional
from urllib.parse import unquote

from mmdet_cppe5.files import PathLike

_UPLOAD = re.compile(r'[0-9a-f]{8}-(?=.)')


def is_hidden(path: PathLike) -> bool:
    """Tell whether a file is the system's own, such as ``Thumbs.db``.

    Args:
        path: the file, relative to the folder that is looked through.
    """
    parts = Path(path).parts
    return (
        any(part.startswith('.') and part != '..' for part in parts)
        or '__MACOSX' in parts
        or parts[-1].lower() in ('thumbs.db', 'desktop.ini')
    )


def inner_name(name: str) -> str:
    """Return a name with ``/`` and without what leads outside.

    Drive letters, leading slashes, ``.`` and ``..`` go.
    """
    plain = re.sub(r'^[A-Za-z]:(?=[\\/])', '', name).replace('\\', '/')
    parts = [part for part in plain.split('/') if part not in ('', '.', '..')]
    return '/'.join(parts)


def last_part(name: str) -> str:
    """Return a name without its folders, under either separator."""
    return inner_name(name).rsplit('/', 1)[-1]


def stem(name: str) -> str:
    """Return the last part of a name without its suffix."""
    return PurePosixPath(last_part(name)).stem


def _without_upload(last: str) -> str:
    return _UPLOAD.sub('', unquote(last))


# What may tell two last parts apart that mean one picture, least first.
_READINGS: tuple[Callable[[str], str], ...] = (
    str,
    unquote,
    _without_upload,
)


class NameIndex:
    """Finds names among known ones by the rule of this module.

    Args:
        names: the known names.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._names = list(dict.fromkeys(names))
        self._exact = set(self._names)
        self._last: dict[int, dict[str, list[str]]] = {}

    def find(self, name: str) -> Optional[str]:
        """Return the known name that is meant; None if there is no one."""
        if name in self._exact:
            return name
        same = self._inner.get(inner_name(name), [])
        if len(same) == 1:
            return same[0]
        last = last_part(name)
        for number, reading in enumerate(_READINGS):
            same = self._by_last(number).get(reading(last), [])
            if same:
                return same[0] if len(same) == 1 else None
        return None

    @cached_property
    def _inner(self) -> dict[str, list[str]]:
        return _grouped(self._names, inner_name)

    def _by_last(self, number: int) -> dict[str, list[str]]:
        """Return the known names by one reading of their last parts."""
        if number not in self._last:
            reading = _READINGS[number]
            self._last[number] = _grouped(
                self._names, lambda name: reading(last_part(name))
            )
        return self._last[number]


def _grouped(
    names: Iterable[str], key: Callable[[str], str]
) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = defaultdict(list)
    for name in names:
        groups[key(name)].append(name)
    return groups


class ImageFolder:
    """The pictures of one folder, found by the names that files give them.

    Args:
        folder: the folder; nothing outside it is ever returned.
    """

    def __init__(self, folder: PathLike) -> None:
        self.folder = Path(folder)

    def find(self, name: str) -> Optional[Path]:
        """Return the file that a name means; None if there is no one."""
        inner = inner_name(name)
        if not inner or '\0' in name:
            return None
        for wanted in dict.fromkeys((name, inner)):
            if wanted == name and not _inside(name):
                continue
            if _is_file(self.folder / wanted):
                return self.folder / wanted
        found = self._index.find(name)
        return None if found is None else self.folder / found

    @cached_property
    def _index(self) -> NameIndex:
        return NameIndex(
            path.relative_to(self.folder).as_posix()
            for path in sorted(self.folder.rglob('*'))
            if not is_hidden(path.relative_to(self.folder)) and _is_file(path)
        )

    def moved(self, name: str) -> bool:
        """Tell whether a picture stands elsewhere than its name says."""
        found = self.find(name)
        return found is not None and found != self.folder / name


def _inside(name: str) -> bool:
    """Tell whether a name, as it is, stays inside its folder."""
    parts = PurePosixPath(name).parts
    return not PurePosixPath(name).is_absolute() and '..' not in parts


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # too long, a loop of links
        return False
