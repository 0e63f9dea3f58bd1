"""Image and category ids: their order, and words for those that differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mmdet_cppe5.coco.records import shorten


def sorted_ids(ids: Sequence[Any], what: str, source: str) -> list[Any]:
    """Return ids in ascending order, which decides ties as in COCO.

    Args:
        ids: the ids, in any order.
        what: ``'image'`` or ``'category'``, for the message.
        source: the file they come from, for the message.

    Raises:
        ValueError: if an id appears twice, or the ids have no common order
            because some are numbers and some are strings.
    """
    try:
        ordered = sorted(ids)
        unique = len(set(ordered)) == len(ordered)
    except TypeError:
        kinds = sorted({type(value).__name__ for value in ids})
        raise ValueError(
            f'Expected the {what} ids of {source} to be all integers or all '
            f'strings, but they are {" and ".join(kinds)}.'
        ) from None
    if not unique:
        twice = next(
            value
            for value, following in zip(ordered, ordered[1:])
            if value == following
        )
        raise ValueError(
            f'Expected every {what} id of {source} once, but {twice!r} is '
            'listed more than once: ids must be unique within a file, also '
            'after two files are joined.'
        )
    return ordered


def explain_unknown(
    unknown: Sequence[Any],
    known: Sequence[Any],
    what: str,
    source: str,
    asking: str = 'this file',
) -> str:
    """Say what is known where some ids are not.

    Args:
        unknown: the distinct ids that are not known.
        known: the known ids in ascending order.
        what: ``'image'`` or ``'category'``.
        source: the file that lists the known ids.
        asking: where the unknown ids come from.

    Returns:
        The end of an error message, with a full stop.
    """
    first = unknown[0]
    by_text = {str(value): value for value in known}
    if not isinstance(first, (list, dict)) and str(first) in by_text:
        match = by_text[str(first)]
        return (
            f'{source} has the {what} id {match!r} as '
            f'{type(match).__name__}, here it is {type(first).__name__}; '
            'write the ids with one type in both.'
        )
    advice = 'do both belong to the same data set and split?'
    if what == 'category' and list(unknown) == [0] and 0 not in known:
        advice = (
            'an id 0 is often a class label, which counts from 0; write the '
            f'category ids that {source} lists instead.'
        )
    listed = ', '.join(map(shorten, unknown[:5]))
    more = ', ...' if len(unknown) > 5 else ''
    return (
        f'{source} lists {_range(known, what)}, and {len(unknown)} '
        f'id{"" if len(unknown) == 1 else "s"} of {asking} '
        f'{"is" if len(unknown) == 1 else "are"} not among them ({listed}'
        f'{more}); {advice}'
    )


def _range(known: Sequence[Any], what: str) -> str:
    if not known:
        return f'no {what} at all'
    plural = {'image': 'images', 'category': 'categories'}[what]
    if len(known) <= 8:
        return f'the {what} ids {", ".join(map(shorten, known))}'
    return f'{len(known)} {plural} with ids from {known[0]!r} to {known[-1]!r}'
