"""Checks of masks, keypoints and keys of annotations."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from mmdet_cppe5.data.verify.columns import Columns
from mmdet_cppe5.data.verify.findings import Findings
from mmdet_cppe5.data.verify.records import row_labels


def check_shapes(
    columns: Columns,
    sizes: np.ndarray,
    label: np.ndarray,
    findings: Findings,
) -> None:
    """Add what is wrong with masks and keypoints.

    Args:
        columns: the annotation file.
        sizes: width and height of each annotation's image, ``(n, 2)``.
        label: position of each annotation's category, -1 where unknown.
        findings: where to add what is found.
    """
    _add(columns, findings, 'mask-malformed', columns.mask_faults)
    _add(columns, findings, 'keypoints-malformed', columns.keypoint_faults)
    _add(columns, findings, 'score-in-truth', columns.scores)
    _add(columns, findings, 'annotation-stray-keys', columns.stray_keys)
    _check_measures(columns, sizes, findings)
    _check_counts(columns, label, findings)


def _add(
    columns: Columns, findings: Findings, code: str, faults: dict[int, str]
) -> None:
    rows = sorted(faults)
    findings.add(
        code,
        row_labels(columns, rows),
        [f'{columns.name(row)}: {faults[row]}' for row in rows[:100]],
    )


def _check_measures(
    columns: Columns, sizes: np.ndarray, findings: Findings
) -> None:
    """Compare masks with their image and with the area that is stated."""
    rows = columns.masks[:, 0].astype(np.intp)
    area, low, high, own = np.split(columns.masks[:, 1:], [1, 3, 5], axis=1)
    known = ~np.isnan(own).any(axis=1) & ~np.isnan(sizes[rows]).any(axis=1)
    other = known & (own != sizes[rows]).any(axis=1)
    _add(
        columns, findings, 'mask-size-differs',
        {
            int(row): 'mask of {:g} x {:g}, image of {:g} x {:g}'.format(
                *mask, *sizes[row]
            )
            for row, mask in zip(rows[other], own[other])
        },
    )  # fmt: skip
    off = ((high <= 0) | (low >= sizes[rows])).any(axis=1)
    _add(
        columns, findings, 'mask-off-image',
        {int(row): 'no point of it is inside' for row in rows[off]},
    )  # fmt: skip
    stated, true = columns.areas[rows], area[:, 0]
    # Polygons and pixels differ by about half the outline.
    slack = np.maximum(0.1 * true, 4 * np.sqrt(np.maximum(true, 0)) + 4)
    wrong = np.abs(stated - true) > slack
    _add(
        columns, findings, 'mask-area-differs',
        {
            int(row): f'area {told:g}, its mask has {real:g}'
            for row, told, real in zip(rows[wrong], stated[wrong], true[wrong])
        },
    )  # fmt: skip


def _check_counts(
    columns: Columns, label: np.ndarray, findings: Findings
) -> None:
    """Compare the numbers of keypoints with the names that categories give."""
    names = [_keypoint_names(item) for item in columns.categories]
    faults = {}
    for row, count in columns.keypoint_counts.items():
        expected = names[label[row]] if label[row] >= 0 else None
        if expected is not None and count != expected:
            faults[row] = (
                f'{count} keypoints, but its category names {expected}'
            )
    _add(columns, findings, 'keypoints-misnumbered', faults)


def _keypoint_names(category: Any) -> Optional[int]:
    names = category.get('keypoints') if isinstance(category, dict) else None
    return len(names) if isinstance(names, list) and names else None
