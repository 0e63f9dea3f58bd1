"""What is demanded of the content of a checkpoint's pickle."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

Size = tuple[int, ...]

MOST_DIMENSIONS = 16


def need(condition: Any, what: str) -> None:
    """Refuse the pickle unless the condition holds.

    Raises:
        ValueError: saying what the pickle holds.
    """
    if not condition:
        raise ValueError(f'it holds {what}')


def check_key(key: Any) -> None:
    """Refuse dictionary keys and set items that are slow to hash.

    A nest of tuples that refer to each other twice takes exponential time,
    and integers can be chosen to collide.

    Raises:
        ValueError: saying what the key is.
    """
    parts = key if type(key) is tuple else (key,)
    need(len(parts) <= MOST_DIMENSIONS, 'a long tuple as a key')
    for part in parts:
        if isinstance(part, (int, np.integer)):
            need(abs(int(part)) < 1 << 60, 'a huge number as a key')
        else:
            need(
                part is None or type(part) in (str, bytes, np.str_),
                f'a key of type {type(part).__name__}',
            )


def sizes(value: Any, what: str) -> Size:
    """Return a shape or stride that is one.

    Raises:
        ValueError: if it is not a few whole numbers, none negative or huge.
    """
    plain = type(value) in (tuple, torch.Size)
    need(plain and len(value) <= MOST_DIMENSIONS, f'a broken {what}')
    need(
        all(type(item) is int and 0 <= item < 1 << 48 for item in value),
        f'a broken {what}',
    )
    return tuple(value)
