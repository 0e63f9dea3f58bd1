"""Checks of the image files of an annotation file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Optional

from mmdet_cppe5.coco.records import shorten
from mmdet_cppe5.data.verify.columns import Columns
from mmdet_cppe5.data.verify.findings import Findings
from mmdet_cppe5.data.verify.image_facts import ImageFacts, look_at_all
from mmdet_cppe5.data.verify.records import (
    declared_size,
    image_label,
    leads_outside,
)
from mmdet_cppe5.image_names import ImageFolder
from mmdet_cppe5.images import SUFFIXES, find_images

_EIGHT_BIT = ('1', 'L', 'LA', 'P', 'PA', 'RGB', 'RGBA', 'YCbCr', 'RGBX')


def check_files(
    columns: Columns,
    folder: Path,
    findings: Findings,
    hashes: bool = True,
    workers: Optional[int] = None,
    progress: bool = True,
) -> dict[int, ImageFacts]:
    """Check the image files of one annotation file.

    Args:
        columns: the annotation file.
        folder: the folder that its file names are relative to.
        findings: where to add what is found.
        hashes: as for :func:`look`.
        workers: as for :func:`look_at_all`.
        progress: show a bar on a terminal.

    Returns:
        The facts of each readable image file by position among the images.
    """
    names = {
        position: image['file_name']
        for position, image in enumerate(columns.images)
        if isinstance(image, dict)
        and isinstance(image.get('file_name'), str)
        and image['file_name']
    }
    pictures = ImageFolder(folder)
    there, missing = {}, []
    for position, name in names.items():
        path = pictures.find(name)
        if path is None:
            missing.append(position)
        else:
            there[position] = path
    labels = {
        position: image_label(columns.images[position], position)
        for position in names
    }
    findings.add(
        'file-missing',
        [labels[position] for position in missing],
        [_missing(labels[p], folder, names[p]) for p in missing[:100]],
    )
    moved = [p for p, path in there.items() if path != folder / names[p]]
    findings.add(
        'file-elsewhere',
        [labels[position] for position in moved],
        [
            f'image {labels[p]!r}: {shorten(names[p])} is '
            f'{there[p].relative_to(folder).as_posix()}'
            for p in moved[:100]
        ],
    )
    facts = dict(
        zip(
            there, look_at_all(list(there.values()), hashes, workers, progress)
        )
    )
    _judge(columns, facts, there, labels, findings)
    return {
        position: fact for position, fact in facts.items() if not fact.error
    }


def unlisted(folder: Path, splits: Sequence[Columns]) -> list[str]:
    """Return the image files of a folder that no annotation file lists.

    Args:
        folder: the folder of image files.
        splits: all annotation files that refer to it.
    """
    pictures = ImageFolder(folder)
    found = {
        pictures.find(image['file_name'])
        for columns in splits
        for image in columns.images
        if isinstance(image, dict) and isinstance(image.get('file_name'), str)
    }
    listed = {path.resolve() for path in found - {None}}
    return [
        path.relative_to(folder).as_posix()
        for path in find_images(folder)
        if path.resolve() not in listed
    ]


def _missing(label: Any, folder: Path, name: str) -> str:
    """Say which file is missing, and which one it may be instead."""
    path = folder / name
    text = f'image {label!r}: {path}'
    if not path.parent.is_dir() or leads_outside(name):
        return text
    for other in sorted(path.parent.iterdir()):
        if other.name.lower() == path.name.lower() or other.stem == path.stem:
            return f'{text} (there is {other.name})'
    return text


def _judge(
    columns: Columns,
    facts: dict[int, ImageFacts],
    paths: dict[int, Path],
    labels: dict[int, Any],
    findings: Findings,
) -> None:
    """Turn the facts of the files into findings."""
    cases: dict[str, list[tuple[Any, str]]] = {}
    for position, fact in facts.items():
        declared = declared_size(columns.images[position])
        for code, text in _faults(fact, paths[position], declared):
            label = labels[position]
            cases.setdefault(code, []).append(
                (label, f'image {label!r}: {text}')
            )
    for code, found in cases.items():
        findings.add(
            code, [label for label, _ in found], [text for _, text in found]
        )


def _faults(
    fact: ImageFacts, path: Path, declared: Optional[tuple[float, float]]
) -> Iterator[tuple[str, str]]:
    """Yield code and detail of each thing worth saying about a file."""
    if fact.error:
        yield 'file-unreadable', f'{path.name}: {fact.error}'
        return
    promised = SUFFIXES.get(path.suffix.lower())
    if promised != fact.format:
        yield 'file-format', f'{path.name} is {fact.format}'
    if fact.alpha:
        yield 'file-alpha', f'{path.name} is {fact.mode}'
    if fact.mode not in _EIGHT_BIT:
        yield 'file-colour', f'{path.name} is {fact.mode}'
    if declared is None:
        return
    width, height = fact.size
    sizes = (
        f'declared {declared[0]:g} x {declared[1]:g}, {path.name} has '
        f'{width} x {height}'
    )
    if declared == fact.size:
        if fact.orientation != 1:
            yield 'file-rotated', f'{path.name}, EXIF {fact.orientation}'
    elif declared == fact.stored:
        yield 'size-before-rotation', f'{sizes} after rotation'
    elif declared == (height, width):
        yield 'size-differs', f'{sizes}: width and height are swapped'
    else:
        yield 'size-differs', sizes
