"""Names of detectors, and letters of the groups that they fall into."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import count, product
from os.path import commonprefix
from pathlib import Path
from string import ascii_lowercase
from typing import Optional

from mmdet_cppe5.coco.conversion import IOU_TYPES

LONG_PREFIX = 10


def letters(names: Sequence[str]) -> Iterator[str]:
    """Yield a, b, ..., z, aa, ab, ..., without the detectors' own names."""
    for length in count(1):
        for each in product(ascii_lowercase, repeat=length):
            letter = ''.join(each)
            if letter not in names:
                yield letter


def group_letters(
    names: Sequence[str], groups: Sequence[Sequence[str]]
) -> list[str]:
    """Return the letters of the groups that each detector belongs to.

    >>> group_letters(['x', 'y', 'z'], [('x', 'y'), ('y', 'z')])
    ['a', 'ab', 'b']
    """
    # Two letters could be those of two groups.
    between = '' if len(groups) <= len(ascii_lowercase) else ' '
    lettered = list(zip(letters(names), groups))
    return [
        between.join(letter for letter, group in lettered if name in group)
        for name in names
    ]


def distinct_names(paths: Sequence[str]) -> list[str]:
    """Return a short name for each result file, no two alike.

    The file's name without ``.json`` and ``.bbox``; where names coincide,
    with as much of the folder before it as tells them apart, and numbered
    where the same file is given twice.
    """
    parts = [_parts(path) for path in paths]
    names: list[Optional[str]] = [None] * len(parts)
    for length in range(1, max(map(len, parts), default=0) + 1):
        tried = ['/'.join(each[-length:]) for each in parts]
        for index, name in enumerate(tried):
            if names[index] is None and tried.count(name) == 1:
                names[index] = name
    return numbered(
        [name or '/'.join(each) for name, each in zip(names, parts)]
    )


def without_prefix(names: Sequence[str]) -> list[str]:
    """Strip what all names begin with, if it is long.

    >>> without_prefix(['faster_rcnn_seed_0', 'faster_rcnn_seed_12'])
    ['seed_0', 'seed_12']
    >>> without_prefix(['run_0', 'run_1'])
    ['run_0', 'run_1']
    """
    # The last part that they share says what the rest is about.
    parts = re.split(r'(?<=[-_/. ])', commonprefix(list(names)))[:-2]  # noqa: RUF071
    length = len(''.join(parts))
    if len(names) < 2 or length < LONG_PREFIX:
        return list(names)
    return [name[length:] for name in names]


def numbered(names: Sequence[str]) -> list[str]:
    """Number names that appear more than once, so that each is unique.

    >>> numbered(['a', 'b', 'a'])
    ['a (1)', 'b', 'a (2)']
    """
    return [
        f'{name} ({names[:index].count(name) + 1})'
        if names.count(name) > 1
        else name
        for index, name in enumerate(names)
    ]


def _parts(path: str) -> tuple[str, ...]:
    whole = Path(path)
    name = whole.name
    for suffix in ('.json', *(f'.{kind}' for kind in IOU_TYPES)):
        name = name.removesuffix(suffix)
    return (*whole.parts[:-1], name)
