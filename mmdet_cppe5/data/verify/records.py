"""Checks of ids, names and fields: does the file hold together?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any

import numpy as np

from mmdet_cppe5.coco.records import shorten
from mmdet_cppe5.data.verify.columns import (
    BAD_AREA,
    BAD_CROWD,
    CROWD,
    NO_AREA,
    NO_CROWD,
    Columns,
    Unfit,
    positions,
)
from mmdet_cppe5.data.verify.findings import Findings


def check_images(columns: Columns, findings: Findings) -> dict[Any, int]:
    """Check the image records.

    Returns:
        The position of each usable image id in the list of images.
    """
    lookup: dict[Any, int] = {}
    names: set[str] = set()
    cases: dict[str, list[Any]] = {}
    for position, image in enumerate(columns.images):
        if not isinstance(image, dict):
            cases.setdefault('image-malformed', []).append(shorten(image))
            continue
        label = image_label(image, position)
        for code in (
            *_id_faults(image.get('id'), position, lookup),
            *_name_faults(image.get('file_name'), names),
        ):
            cases.setdefault(code, []).append(label)
        if image.keys() & {'bbox', 'category_id', 'segmentation', 'score'}:
            cases.setdefault('image-stray-keys', []).append(label)
        if declared_size(image) is None:
            cases.setdefault('image-size-missing', []).append(label)
    for code, where in cases.items():
        findings.add(code, where)
    return lookup


def _id_faults(key: Any, position: int, lookup: dict[Any, int]) -> list[str]:
    """Judge an image id and enter it in ``lookup``."""
    if key is None or isinstance(key, (list, dict, bool)):
        return ['image-id-missing']
    faults = [] if isinstance(key, int) else ['image-id-text']
    if key in lookup:
        faults.append('image-id-repeated')
    lookup.setdefault(key, position)
    return faults


def _name_faults(name: Any, names: set[str]) -> list[str]:
    """Judge a file name and enter it in ``names``."""
    if not isinstance(name, str) or not name:
        return ['image-name-missing']
    faults = ['image-name-repeated'] if name in names else []
    names.add(name)
    if leads_outside(name):
        faults.append('image-name-outside')
    return faults


def image_label(image: dict[str, Any], position: int) -> Any:
    """Return an image's id, or a name for it if it has none."""
    key = image.get('id')
    if isinstance(key, (int, str)) and not isinstance(key, bool):
        return key
    return image.get('file_name') or f'number {position}'


def leads_outside(name: str) -> bool:
    """Tell whether a file name is absolute or climbs out of its folder."""
    windows = PureWindowsPath(name)
    return (
        PurePosixPath(name).is_absolute()
        or bool(windows.drive or windows.root)
        or '..' in windows.parts
    )


def declared_size(image: dict[str, Any]) -> tuple[float, float] | None:
    """Return the declared width and height, or None if not both usable."""
    size = image.get('width'), image.get('height')
    for value in size:
        if not isinstance(value, (int, float)) or isinstance(value, bool):
            return None
        if not 0 < value < 1e9:
            return None
    return size  # type: ignore[return-value]


def check_categories(columns: Columns, findings: Findings) -> dict[Any, int]:
    """Check the category records; return each usable id's position."""
    lookup: dict[Any, int] = {}
    names: set[Any] = set()
    malformed, ids, repeated = [], [], []
    for position, item in enumerate(columns.categories):
        key = item.get('id') if isinstance(item, dict) else None
        name = item.get('name') if isinstance(item, dict) else None
        if isinstance(key, bool) or not isinstance(key, (int, str)):
            malformed.append(shorten(item))
            continue
        if not isinstance(key, int) or not isinstance(name, str):
            malformed.append(shorten(item))
        if key in lookup:
            ids.append(key)
        if isinstance(name, str) and name in names:
            repeated.append(name)
        names.add(name if isinstance(name, str) else None)
        lookup.setdefault(key, position)
    findings.add('category-malformed', malformed)
    findings.add('category-id-repeated', ids)
    findings.add('category-name-repeated', repeated)
    return lookup


def check_annotations(
    columns: Columns,
    images: dict[Any, int],
    categories: dict[Any, int],
    findings: Findings,
) -> tuple[np.ndarray, np.ndarray]:
    """Check ids, references, areas and crowd flags of the annotations.

    Returns:
        Position of each annotation's image and of its category, intp
        ``(n,)``, -1 where unknown.
    """
    findings.add('annotation-malformed', columns.strays)
    _check_ids(columns, findings)
    image = _check_references(columns, columns.image_ids, images, findings)
    label = _check_references(
        columns, columns.category_ids, categories, findings, 'category'
    )
    flags = columns.flags
    for code, flag in (
        ('area-missing', NO_AREA),
        ('area-invalid', BAD_AREA),
        ('crowd-missing', NO_CROWD),
        ('crowd-invalid', BAD_CROWD),
    ):
        _add_rows(columns, findings, code, (flags & flag) > 0)
    crowd = (flags & CROWD) > 0
    if len(columns) and crowd.all():
        _add_rows(columns, findings, 'crowd-all', crowd)
    if len(columns):
        _check_use(columns, image, label, findings)
    return image, label


def _add_rows(
    columns: Columns, findings: Findings, code: str, bad: np.ndarray
) -> None:
    rows = np.flatnonzero(bad).tolist()
    findings.add(code, row_labels(columns, rows))


def row_labels(columns: Columns, rows: Sequence[int]) -> list[Any]:
    """Return annotation ids, or places for those that have none."""
    labels = []
    for row in rows:
        key = columns.ids[row]
        usable = isinstance(key, (int, str))
        labels.append(key if usable else f'number {row}')
    return labels


def _check_ids(columns: Columns, findings: Findings) -> None:
    ids = columns.ids
    kinds = set(map(type, ids))
    if type(None) in kinds:
        rows = [row for row, key in enumerate(ids) if key is None]
        findings.add('annotation-id-missing', row_labels(columns, rows))
    if kinds - {int, type(None)}:
        rows = [
            row
            for row, key in enumerate(ids)
            if key is not None and type(key) is not int
        ]
        findings.add('annotation-id-text', row_labels(columns, rows))
    findings.add('annotation-id-zero', [0] if 0 in ids else [])
    if len(set(ids)) < len(ids):
        counts = Counter(key for key in ids if not isinstance(key, Unfit))
        del counts[None]
        again = [key for key, count in counts.items() if count > 1]
        findings.add(
            'annotation-id-repeated',
            again,
            [f'annotation id {key!r}: {counts[key]} times' for key in again],
        )


def _check_references(
    columns: Columns,
    values: Sequence[Any],
    lookup: dict[Any, int],
    findings: Findings,
    what: str = 'image',
) -> np.ndarray:
    """Find what each annotation refers to; note what it cannot find."""
    found = positions(values, lookup)
    lost = np.flatnonzero(found < 0).tolist()
    if not lost:
        return found
    by_text = {str(key): position for key, position in lookup.items()}
    unknown, mistyped = [], []
    for row in lost:
        position = by_text.get(str(values[row]), -1)
        (unknown if position < 0 else mistyped).append(row)
        found[row] = position
    for code, rows in (
        (f'{what}-unknown', unknown),
        (f'{what}-id-type', mistyped),
    ):
        labels = row_labels(columns, rows)
        details = [
            f'{columns.name(row)}: {what}_id {values[row]!r}'
            for row in rows[:100]
        ]
        findings.add(code, labels, details)
    return found


def _check_use(
    columns: Columns,
    image: np.ndarray,
    label: np.ndarray,
    findings: Findings,
) -> None:
    """Name images and categories that no annotation refers to."""
    used = np.bincount(image[image >= 0], minlength=len(columns.images))
    findings.add(
        'image-empty',
        [
            image_label(columns.images[position], position)
            for position in np.flatnonzero(used == 0).tolist()
            if isinstance(columns.images[position], dict)
        ],
    )
    count = len(columns.categories)
    used = np.bincount(label[label >= 0], minlength=count)
    findings.add(
        'category-unused',
        [
            item.get('name')
            for item, uses in zip(columns.categories, used.tolist())
            if uses == 0 and isinstance(item, dict)
        ],
    )
