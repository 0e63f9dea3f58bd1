"""Do the annotation files given together agree?"""

from __future__ import annotations

from typing import Any

from mmdet_cppe5.coco.records import listed, shorten
from mmdet_cppe5.data.verify.columns import Columns
from mmdet_cppe5.data.verify.findings import Findings


def check_agreement(
    first: Columns, other: Columns, findings: Findings
) -> None:
    """Compare the categories of a file with the first one's.

    Args:
        first: the first annotation file.
        other: a further one.
        findings: those of the further one.
    """
    here, there = _by_name(other), _by_name(first)
    moved = [
        name for name in here if name in there and here[name] != there[name]
    ]
    findings.add(
        'split-categories-differ',
        moved,
        [
            f'{shorten(name)} is category {shorten(here[name])} here, '
            f'{shorten(there[name])} in {first.source}'
            for name in moved[:100]
        ],
    )
    alone = [name for name in here if name not in there]
    lacking = [name for name in there if name not in here]
    findings.add(
        'split-categories-missing',
        [*alone, *lacking],
        [
            f'{which}: {listed(names)}'
            for which, names in (
                (f'not in {first.source}', alone),
                (f'only in {first.source}', lacking),
            )
            if names
        ],
    )


def check_names(first: Columns, other: Columns, findings: Findings) -> None:
    """Note the file names that a further file shares with the first one.

    Args:
        first: the first annotation file.
        other: a further one.
        findings: those of the further one.
    """
    findings.add(
        'split-name-shared', sorted(_file_names(first) & _file_names(other))
    )


def _by_name(columns: Columns) -> dict[str, Any]:
    return {
        item['name']: item.get('id')
        for item in columns.categories
        if isinstance(item, dict) and isinstance(item.get('name'), str)
    }


def _file_names(columns: Columns) -> set[str]:
    return {
        image['file_name']
        for image in columns.images
        if isinstance(image, dict) and isinstance(image.get('file_name'), str)
    }
