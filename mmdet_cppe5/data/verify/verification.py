"""Finding what is wrong with a data set in COCO format.

Reads what the evaluation's reader refuses, so that all faults come out at
once. Annotations are checked as columns, image files on all cores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Optional

import numpy as np

from mmdet_cppe5.data.verify.agreement import check_agreement, check_names
from mmdet_cppe5.data.verify.boxes import check_boxes, sizes_of_rows
from mmdet_cppe5.data.verify.columns import Columns, read_columns
from mmdet_cppe5.data.verify.disagreements import disagreements, labelled
from mmdet_cppe5.data.verify.duplicates import BITS, Twins, find_twins
from mmdet_cppe5.data.verify.findings import Finding, Findings, Report
from mmdet_cppe5.data.verify.image_facts import ImageFacts
from mmdet_cppe5.data.verify.images import check_files, unlisted
from mmdet_cppe5.data.verify.records import (
    check_annotations,
    check_categories,
    check_images,
    image_label,
)
from mmdet_cppe5.data.verify.shapes import check_shapes
from mmdet_cppe5.files import PathLike


@dataclass
class _Split:
    """One annotation file and what was learnt about it."""

    columns: Columns
    image: np.ndarray
    findings: Findings
    folder: Optional[Path]
    facts: dict[int, ImageFacts] = field(default_factory=dict)

    def label(self, position: int) -> Any:
        """Return the id of the image at a position."""
        return image_label(self.columns.images[position], position)

    def class_names(self) -> dict[Any, str]:
        """Return class names by category id."""
        return {
            item['id']: str(item.get('name'))
            for item in self.columns.categories
            if isinstance(item, dict)
            and isinstance(item.get('id'), (int, str))
        }


@dataclass
class Verification:
    """The report, and the facts that fixing and splitting need.

    Attributes:
        report: what was found.
        facts: for each annotation file, the facts of its image files by
            position among its images.
        twins: pairs of (near-)identical images of one annotation file, as
            positions among its images, for each annotation file.
    """

    report: Report
    facts: list[dict[int, ImageFacts]]
    twins: list[list[Twins]]


def verify(
    files: Sequence[PathLike],
    images: Sequence[PathLike] = (),
    duplicates: bool = True,
    bits: int = BITS,
    workers: Optional[int] = None,
    progress: bool = True,
) -> Verification:
    """Check one or more annotation files of a data set and their images.

    Args:
        files: COCO annotation files, such as those of train and test.
        images: folders of image files: one for all, or one for each; none
            leaves the image files unopened.
        duplicates: look for (near-)identical images, within and across the
            files.
        bits: how many of the 64 bits of two images' perceptual hashes may
            differ.
        workers: number of processes that open images; None for all cores.
        progress: show bars on a terminal.

    Raises:
        FileNotFoundError: if a file or folder does not exist.
        ImportError: if Pillow or ImageHash is missing but needed.
        ValueError: if a file is no COCO annotation file, or the number of
            folders fits neither rule.
    """
    folders = _folders(files, images)
    splits = [_read(path, folder) for path, folder in zip(files, folders)]
    for split in splits:
        if split.folder is not None:
            split.facts = check_files(
                split.columns,
                split.folder,
                split.findings,
                duplicates,
                workers,
                progress,
            )
    for split in splits[1:]:
        check_agreement(splits[0].columns, split.columns, split.findings)
        if not (duplicates and split.facts):
            # Where the pictures are compared, their names tell no more.
            check_names(splits[0].columns, split.columns, split.findings)
    _check_unlisted(splits)
    twins: list[list[Twins]] = [[] for _ in splits]
    if duplicates and any(split.facts for split in splits):
        twins = _check_twins(splits, bits)
    report = Report()
    for split in splits:
        name = split.columns.source
        report.files[name] = {
            'images': len(split.columns.images),
            'boxes': len(split.columns),
            'classes': len(split.columns.categories),
            'image files read': len(split.facts),
        }
        report.findings += split.findings.items
    return Verification(report, [split.facts for split in splits], twins)


def _folders(
    files: Sequence[PathLike], images: Sequence[PathLike]
) -> list[Optional[Path]]:
    if len(images) not in (0, 1, len(files)):
        raise ValueError(
            f'Expected one image folder, or one for each of {len(files)} '
            f'annotation files, but got {len(images)}.'
        )
    folders = [Path(folder) for folder in images]
    for folder in folders:
        if not folder.is_dir():
            raise FileNotFoundError(
                f'Expected a folder of images at {folder}, but there is none.'
            )
    if not folders:
        return [None] * len(files)
    return list(folders) if len(folders) > 1 else folders * len(files)


def _read(path: PathLike, folder: Optional[Path]) -> _Split:
    """Read and check one annotation file without its images."""
    columns = read_columns(path)
    findings = Findings(columns.source)
    images = check_images(columns, findings)
    categories = check_categories(columns, findings)
    image, label = check_annotations(columns, images, categories, findings)
    check_boxes(columns, image, label, findings)
    check_shapes(columns, sizes_of_rows(columns, image), label, findings)
    return _Split(columns, image, findings, folder)


def _check_unlisted(splits: list[_Split]) -> None:
    """Name, with the first file of a folder, images that no file lists."""
    for folder in dict.fromkeys(split.folder for split in splits):
        if folder is None:
            continue
        users = [split for split in splits if split.folder == folder]
        names = unlisted(folder, [split.columns for split in users])
        users[0].findings.add('file-unlisted', names)


def _check_twins(splits: list[_Split], bits: int) -> list[list[Twins]]:
    """Find images that look the same and compare their boxes."""
    owners = [
        (number, position)
        for number, split in enumerate(splits)
        for position in split.facts
    ]
    facts = [splits[number].facts[position] for number, position in owners]
    within: list[list[Twins]] = [[] for _ in splits]
    pairs = _Pairs(splits)
    for twins in find_twins(facts, bits):
        (one, first), (two, second) = owners[twins.first], owners[twins.second]
        pairs.add(one, first, two, second, twins)
        if one == two:
            within[one].append(
                Twins(first, second, twins.bits, twins.levels, twins.identical)
            )
    pairs.finish()
    return within


class _Pairs:
    """Findings about pairs of images, those across files with the later."""

    def __init__(self, splits: list[_Split]) -> None:
        self._splits = splits
        self._found: dict[tuple[int, str], Finding] = {}

    def add(
        self, one: int, first: int, two: int, second: int, twins: Twins
    ) -> None:
        """Note a pair: images of split ``one`` and ``two``."""
        a, b = self._splits[one], self._splits[two]
        labels = [a.label(first), b.label(second)]
        where = '' if one == two else f' ({a.columns.source} and this file)'
        title = f'{labels[0]!r} and {labels[1]!r}{where}'
        if one != two and self._path(a, first) == self._path(b, second):
            self._note(two, 'split-file-shared', labels, title)
            return
        kind = 'repeated' if twins.identical else 'near'
        code = f'image-{kind}' if one == two else f'split-image-{kind}'
        self._note(two, code, labels, f'{title}: {twins}')
        texts = disagreements(
            labelled(a.columns, a.image, first, a.facts[first].size),
            labelled(b.columns, b.image, second, b.facts[second].size),
            {**a.class_names(), **b.class_names()},
        )
        if texts:
            text = '; '.join(texts)
            self._note(two, 'boxes-disagree', labels, f'{title}: {text}')

    @staticmethod
    def _path(split: _Split, position: int) -> Path:
        folder = split.folder or Path()
        return (folder / split.columns.images[position]['file_name']).resolve()

    def _note(
        self, number: int, code: str, labels: list[Any], detail: str
    ) -> None:
        source = self._splits[number].columns.source
        finding = self._found.setdefault((number, code), Finding(code, source))
        finding.where.append(labels)
        finding.details.append(detail)

    def finish(self) -> None:
        """Hand the findings over to their splits."""
        for (number, _), finding in self._found.items():
            self._splits[number].findings.items.append(finding)
