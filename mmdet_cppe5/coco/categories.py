"""The categories of a COCO file: one name for each id, and which count.

Exporters write categories that share a name: a root above the classes that
bears the name of one of them, or two labels that were merged by hand. COCO
tells categories apart by id, so they are told apart here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, Optional

from mmdet_cppe5.coco.ids import sorted_ids
from mmdet_cppe5.coco.records import Records, listed
from mmdet_cppe5.names import nearest_name

UNSELECTED = -1


@dataclass(frozen=True)
class Categories:
    """The evaluated classes of a file.

    Attributes:
        names: the class names in label order, no two alike.
        ids: the category id of each.
        labels: label of every category id of the file, in ascending order;
            -1 for those that are not evaluated.
        notices: sentences about names that had to be told apart.
    """

    names: tuple[str, ...]
    ids: tuple[Any, ...]
    labels: dict[Any, int]
    notices: tuple[str, ...]


def select_categories(
    categories: list[Any],
    source: str,
    used: Callable[[], Collection[Any]],
    classes: Optional[Sequence[str]] = None,
) -> Categories:
    """Return the classes to evaluate.

    Where categories share a name, those without annotations are left out if
    another one has some; the rest are named ``'NAME (id 3)'``.

    Args:
        categories: the category records.
        source: the file's name, for messages.
        used: returns the category ids that annotations have; called where
            names are shared.
        classes: the names to evaluate, in label order; None takes all by
            ascending id.

    Raises:
        TypeError: if ``classes`` is a bare string.
        ValueError: if a record has no id or no name, an id is listed twice,
            or a class is not among the categories.
    """
    records = Records(categories, source, 'category')
    ordered = sorted_ids(records.column('id'), 'category', source)
    if not ordered:
        raise ValueError(
            f'Expected at least one category in {source}, but it lists none: '
            'there is nothing to evaluate or to train on.'
        )
    by_id = dict(zip(records.column('id'), records.texts('name')))
    by_id = {key: by_id[key] for key in ordered}
    kept, notices = _told_apart(by_id, source, used)
    if classes is None:
        chosen = tuple(kept.values())
    else:
        chosen = check_classes(classes, list(kept.values()), source)
    label = {name: index for index, name in enumerate(chosen)}
    labels = {key: label.get(kept.get(key), UNSELECTED) for key in ordered}
    ids = {label: key for key, label in labels.items()}
    return Categories(
        chosen,
        tuple(ids[label] for label in range(len(chosen))),
        labels,
        notices,
    )


def _told_apart(
    names: dict[Any, str], source: str, used: Callable[[], Collection[Any]]
) -> tuple[dict[Any, str], tuple[str, ...]]:
    """Give every category that counts a name of its own."""
    counts = Counter(names.values())
    shared = {name for name, count in counts.items() if count > 1}
    if not shared:
        return names, ()
    busy = set(names) & set(used())
    owned = Counter(names[key] for key in busy)
    kept, unused = {}, []
    for key, name in names.items():
        if name in shared and owned[name] and key not in busy:
            unused.append(key)
        else:
            kept[key] = name
    again = {
        name for name, count in Counter(kept.values()).items() if count > 1
    }
    told = {
        key: f'{name} (id {key})' if name in again else name
        for key, name in kept.items()
    }
    notices = []
    if unused:
        notices.append(
            f'{source} lists {len(unused)} categor'
            f'{"y" if len(unused) == 1 else "ies"} without annotations under '
            f'the name of another one (id {listed(unused)}: '
            f'{listed(names[key] for key in unused)}): left out.'
        )
    if again:
        notices.append(
            f'{source} gives several categories one name '
            f'({listed(sorted(again))}); they are told apart by id.'
        )
    return told, tuple(notices)


def check_sequence(classes: Sequence[str]) -> tuple[str, ...]:
    """Return class names as a tuple.

    Raises:
        TypeError: if they are a bare string, as ``('Mask')`` is.
    """
    if isinstance(classes, str):
        raise TypeError(
            'Expected `classes` to be a sequence of names, but got the '
            f'string {classes!r}; a tuple of one needs a comma: '
            f'({classes!r},).'
        )
    return tuple(classes)


def check_classes(
    classes: Sequence[str], available: Sequence[str], source: str
) -> tuple[str, ...]:
    """Return the asked-for classes after checking them against a file's.

    Raises:
        TypeError: if ``classes`` is a bare string, as ``('Mask')`` is.
        ValueError: if a name is unknown, repeated, or none is given; both
            lists are shown.
    """
    names = check_sequence(classes)
    unknown = [name for name in names if name not in available]
    if unknown or not names or len(set(names)) < len(names):
        problem = (
            f'{listed(unknown)} {"is" if len(unknown) == 1 else "are"} not '
            f'in it{nearest_names(unknown, available)}'
            if unknown
            else 'each must be named once, and at least one'
        )
        raise ValueError(
            f'Expected `classes` to be names of categories in {source}, but '
            f'{problem}: asked for {listed(names)}, the file has '
            f'{listed(available, 20)}.'
        )
    return names


def nearest_names(unknown: Sequence[str], known: Sequence[str]) -> str:
    """Say which known names the unknown ones may be meant to be.

    Names that differ in capitals, spaces, hyphens and underscores only come
    first, then the nearest by spelling.

    Returns:
        Such as ``" (nearest: 'Mask')"``, or ``''`` if none is near.
    """
    found = (nearest_name(name, known) for name in unknown)
    near = [name for name in found if name is not None]
    return f' (nearest: {listed(dict.fromkeys(near))})' if near else ''
