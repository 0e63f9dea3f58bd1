"""Checks of boxes: place, size, area and repetition, all at once."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mmdet_cppe5.data.declared_size import MARGIN
from mmdet_cppe5.data.verify.box_forms import form_of
from mmdet_cppe5.data.verify.columns import (
    BAD_AREA,
    CROWD,
    MASK,
    NO_AREA,
    NO_BOX,
    Columns,
)
from mmdet_cppe5.data.verify.findings import Findings
from mmdet_cppe5.data.verify.records import declared_size, row_labels

NEARLY = 0.9
_DETAILS = 100
_PAIRS = 1 << 20


def check_boxes(
    columns: Columns,
    image: np.ndarray,
    label: np.ndarray,
    findings: Findings,
) -> None:
    """Check every box against its image, its area and its neighbours.

    Args:
        columns: the annotation file.
        image: position of each box's image, ``(n,)``, -1 where unknown.
        label: position of each box's category, ``(n,)``, -1 where unknown.
        findings: where to add what is found.
    """
    boxes, flags = columns.boxes, columns.flags
    whole = (flags & NO_BOX) == 0
    _add(columns, findings, 'box-missing', ~whole)
    smallest = boxes[:, 2:].min(axis=1, initial=np.inf)
    empty = whole & (smallest <= 0)
    _add(columns, findings, 'box-empty', empty)
    solid = whole & ~empty
    _add(columns, findings, 'box-tiny', solid & (smallest < 1))
    sizes = sizes_of_rows(columns, image)
    _check_form(columns, sizes, solid, findings)
    _check_place(columns, sizes, solid, findings)
    _check_area(columns, solid, findings)
    crowd = (flags & CROWD) > 0
    rows = np.flatnonzero(solid & ~crowd & (image >= 0))
    _check_repetition(columns, rows, image, label, findings)


def _add(
    columns: Columns,
    findings: Findings,
    code: str,
    bad: np.ndarray,
    other: np.ndarray | None = None,
) -> None:
    """Add a finding for the rows marked, with their boxes as details."""
    rows = np.flatnonzero(bad).tolist()
    if not rows:
        return
    details = []
    for row in rows[:_DETAILS]:
        box = ', '.join(f'{value:g}' for value in columns.boxes[row])
        text = f'{columns.name(row)} of image {columns.image_ids[row]!r}'
        whole = not np.isnan(columns.boxes[row]).any()
        text += f': box [{box}]' if whole else ': no such box'
        if other is not None and other.ndim == 2:
            text += f', image {other[row, 0]:g} x {other[row, 1]:g}'
        elif other is not None:
            text += f', area {other[row]:g}'
        details.append(text)
    findings.add(code, row_labels(columns, rows), details)


def image_sizes(columns: Columns) -> np.ndarray:
    """Return declared width and height, float64 ``(images, 2)``, or NaN."""
    unknown = (np.nan, np.nan)
    sizes = [
        (declared_size(item) or unknown) if isinstance(item, dict) else unknown
        for item in columns.images
    ]
    return np.array(sizes, dtype=np.float64).reshape(-1, 2)


def sizes_of_rows(columns: Columns, image: np.ndarray) -> np.ndarray:
    """Return width and height of each annotation's image, ``(n, 2)``.

    Args:
        columns: the annotation file.
        image: position of each annotation's image, -1 where unknown.
    """
    size = np.full((len(columns), 2), np.nan)
    size[image >= 0] = image_sizes(columns)[image[image >= 0]]
    return size


def plain_areas(columns: Columns) -> np.ndarray:
    """Return stated areas of annotations without mask, NaN elsewhere."""
    plain = (columns.flags & (MASK | NO_AREA | BAD_AREA)) == 0
    return np.where(plain, columns.areas, np.nan)


def _check_form(
    columns: Columns, sizes: np.ndarray, solid: np.ndarray, findings: Findings
) -> None:
    rows = np.flatnonzero(solid)
    form, proof = form_of(
        columns.boxes[rows], plain_areas(columns)[rows], sizes[rows]
    )
    if form:
        bad = np.zeros(len(columns), dtype=bool)
        bad[rows[proof]] = True
        _add(columns, findings, f'box-{form}', bad, columns.areas)


def _check_place(
    columns: Columns,
    size: np.ndarray,
    solid: np.ndarray,
    findings: Findings,
) -> None:
    low = columns.boxes[:, :2]
    high = low + columns.boxes[:, 2:]
    off = solid & ((high <= 0) | (low >= size)).any(axis=1)
    _add(columns, findings, 'box-off-image', off, size)
    beyond = ((low < -MARGIN) | (high > size + MARGIN)).any(axis=1)
    _add(columns, findings, 'box-beyond', solid & ~off & beyond, size)


def _check_area(
    columns: Columns, solid: np.ndarray, findings: Findings
) -> None:
    """Compare areas with width × height, to a pixel or a thousandth."""
    plain = solid & ((columns.flags & (MASK | NO_AREA | BAD_AREA)) == 0)
    true = columns.boxes[:, 2] * columns.boxes[:, 3]
    wrong = np.abs(columns.areas - true) > np.maximum(1.0, 1e-3 * true)
    _add(columns, findings, 'area-differs', plain & wrong, columns.areas)


def _check_repetition(
    columns: Columns,
    rows: np.ndarray,
    image: np.ndarray,
    label: np.ndarray,
    findings: Findings,
) -> None:
    """Find boxes that repeat another one of the same image."""
    rows = rows[np.argsort(image[rows], kind='stable')]
    cases: dict[str, list[tuple[int, int, float]]] = {
        'box-repeated': [],
        'box-nearly-repeated': [],
        'box-two-classes': [],
    }
    for first, second in pairs_within(image[rows]):
        one, two = rows[first], rows[second]
        iou = paired_iou(columns.boxes[one], columns.boxes[two])
        same_class = label[one] == label[two]
        same_place = (
            np.abs(columns.boxes[one] - columns.boxes[two]).max(
                axis=1, initial=0
            )
            < 0.01
        )
        for code, hit in (
            ('box-repeated', same_class & same_place),
            (
                'box-nearly-repeated',
                same_class & ~same_place & (iou >= NEARLY),
            ),
            ('box-two-classes', ~same_class & same_place),
        ):
            cases[code] += zip(
                one[hit].tolist(), two[hit].tolist(), iou[hit].tolist()
            )
    for code, found in cases.items():
        details = [
            f'image {columns.image_ids[a]!r}: {columns.name(b)} and '
            f'{columns.name(a)}, IoU {iou:.3f}'
            for a, b, iou in found[:_DETAILS]
        ]
        again = list(dict.fromkeys(b for _, b, _ in found))
        findings.add(code, row_labels(columns, again), details)


def pairs_within(
    groups: np.ndarray,
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield index pairs i < j of equal groups, in blocks.

    Args:
        groups: sorted group numbers ``(n,)``.

    Yields:
        Two intp arrays of equal length, about a million at a time.
    """
    count = len(groups)
    ends = np.searchsorted(groups, groups, side='right')
    partners = ends - np.arange(count) - 1
    totals = np.cumsum(partners)
    start = 0
    while start < count:
        base = totals[start - 1] if start else 0
        stop = int(np.searchsorted(totals, base + _PAIRS, side='right'))
        stop = min(max(stop, start + 1), count)
        counts = partners[start:stop]
        first = np.repeat(np.arange(start, stop), counts)
        offset = np.arange(len(first)) - np.repeat(
            np.cumsum(counts) - counts, counts
        )
        yield first, first + 1 + offset
        start = stop


def paired_iou(one: np.ndarray, two: np.ndarray) -> np.ndarray:
    """Return the overlap of each pair of boxes.

    Args:
        one: boxes x, y, w, h in pixels, ``(..., 4)``, with an area.
        two: the same, of a shape that broadcasts.

    Returns:
        Intersection over union, 0..1, ``(...)``.
    """
    low = np.maximum(one[..., :2], two[..., :2])
    high = np.minimum(one[..., :2] + one[..., 2:], two[..., :2] + two[..., 2:])
    common = np.clip(high - low, 0, None).prod(axis=-1)
    union = one[..., 2:].prod(axis=-1) + two[..., 2:].prod(axis=-1) - common
    return common / union
