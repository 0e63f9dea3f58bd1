"""Files that are odd but clear, brought into COCO's usual form.

pycocotools reads some files that others trip over: it never looks at the
names of categories, keeps one of two records with the same id, and takes a
text for a number where NumPy does. Such a file has one meaning, so it is read
with a notice. Where a record repeated with other content may mix two things
under one id, pycocotools' number would be silently wrong, and there is an
error.
"""

from __future__ import annotations

import math
from typing import Any, Optional

from mmdet_cppe5.coco.records import (
    Records,
    counted,
    listed,
    shorten,
    writable,
)

Notices = tuple[str, ...]


def usual_form(
    data: dict[str, Any], source: str
) -> tuple[dict[str, Any], Notices]:
    """Return COCO annotations with each image and category once and named.

    Args:
        data: the content of an annotation file; it is not changed.
        source: the file's name, for messages.

    Returns:
        The content in the usual form, and sentences about what was odd.

    Raises:
        ValueError: if an image or category is listed again as another one.
    """
    images, notices = _once(
        Records(data['images'], source, 'image'),
        ('file_name', 'width', 'height'),
    )
    categories, more = _once(
        Records(data['categories'], source, 'category'), ('name',)
    )
    named, names = _named(categories)
    usual = {**data, 'images': images.items, 'categories': named}
    return usual, (*notices, *more, *names)


def _once(
    records: Records, telling: tuple[str, ...]
) -> tuple[Records, Notices]:
    """Keep one of several records with the same id.

    Args:
        records: images or categories.
        telling: fields in which they must agree, since they tell what the
            record is.
    """
    ids = records.column('id')
    try:
        first = dict(zip(reversed(ids), reversed(records.items)))
    except TypeError:  # an id that is a list is refused where ids are sorted
        return records, ()
    if len(first) == len(ids):
        return records, ()
    for key, record in zip(ids, records.items):
        for field in telling:
            values = first[key].get(field), record.get(field)
            if values[0] != values[1]:
                raise ValueError(
                    f'Expected every {records.name} id of {records.source} '
                    f'once, but {shorten(key)} is listed more than once, with '
                    f'the {field} {shorten(values[0])} and '
                    f'{shorten(values[1])}: what belongs to which cannot be '
                    'told. Ids must be unique within a file, also after two '
                    'files are joined.'
                )
    kept = list(first.values())[::-1]
    plural = {'image': 'images', 'category': 'categories'}[records.name]
    notice = (
        f'{records.source} lists {plural} more than once '
        f'({len(ids) - len(kept)} too many, such as id '
        f'{shorten(_repeated(ids))}); each is counted once.'
    )
    return Records(kept, records.source, records.name), (notice,)


def _repeated(ids: list[Any]) -> Any:
    seen: set[Any] = set()
    return next(key for key in ids if key in seen or seen.add(key))


def _named(categories: Records) -> tuple[list[dict[str, Any]], Notices]:
    """Give every category a text as its name."""
    items, nameless, numbers = [], [], []
    for item in categories.items:
        name = item.get('name')
        if not isinstance(name, str) or not name or not writable(name):
            if type(name) in (int, float) and abs(name) < 1 << 63:
                numbers.append(name)
                name = str(name)
            else:
                nameless.append(item['id'])
                name = f'category {shorten(item["id"])}'
            item = {**item, 'name': name}
        items.append(item)
    notices = []
    if nameless:
        notices.append(
            f'{categories.source} gives {_categories(len(nameless))} '
            f'no name that is a text (id {listed(nameless)}); the id stands '
            f"for it, such as 'category {shorten(nameless[0])}'."
        )
    if numbers:
        notices.append(
            f'{categories.source} names {_categories(len(numbers))} '
            f'by a number ({listed(numbers)}), read as a text.'
        )
    return items, tuple(notices)


def _categories(number: int) -> str:
    return counted(number, 'category', 'categories')


def boxes_as_numbers(annotations: Records) -> Optional[tuple[Records, str]]:
    """Read boxes whose numbers are written as texts, as NumPy does.

    Returns:
        The annotations with numbers, and a sentence about it; None if no box
        holds a text or one is no number.
    """
    items, changed = [], 0
    for item in annotations.items:
        box = item.get('bbox')
        if isinstance(box, list) and str in set(map(type, box)):
            numbers = [_number(v) if type(v) is str else v for v in box]
            if None in numbers:
                return None
            item = {**item, 'bbox': numbers}
            changed += 1
        items.append(item)
    if not changed:
        return None
    return Records(items, annotations.source, annotations.name), (
        f'{annotations.source} writes the numbers of '
        f'{counted(changed, "box", "boxes")} as texts; they were read as '
        'numbers.'
    )


def _number(text: str) -> Optional[float]:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and '_' not in text else None
