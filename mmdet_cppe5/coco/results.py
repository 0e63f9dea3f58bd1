"""COCO result files -> arrays, checked against their ground truth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mmdet_cppe5.coco.box_records import load_results
from mmdet_cppe5.coco.ground_truth import UNSELECTED, CocoGroundTruth
from mmdet_cppe5.coco.ids import explain_unknown
from mmdet_cppe5.coco.records import Records
from mmdet_cppe5.files import PathLike


@dataclass(frozen=True)
class CocoResults:
    """The detections of one result file as columns.

    Row ``k`` of every column is one detection, in the order of the file,
    which decides between equal scores as in pycocotools.

    Attributes:
        source: the file's name, for error messages.
        records: the entries of the evaluated classes.
        image: position of each detection's image in the ground truth's
            ``image_ids``, intp ``(n,)``.
        label: position of each detection's class, intp ``(n,)``.
        scores: confidence of each detection, any finite number, ``(n,)``.
        entry: each detection's place in the file, from 0, intp ``(n,)``.
        notices: sentences about what was unusual and how it was read.
    """

    source: str
    records: Records
    image: np.ndarray
    label: np.ndarray
    scores: np.ndarray
    entry: np.ndarray
    notices: tuple[str, ...]

    def boxes(self) -> np.ndarray:
        """Return x, y, width, height in absolute pixels, ``(n, 4)``.

        Raises:
            ValueError: naming the first detection without a proper box.
        """
        return self.records.boxes()


def read_results(path: PathLike, ground_truth: CocoGroundTruth) -> CocoResults:
    """Read a COCO result file.

    Detections of categories that the ground truth knows but that are not
    evaluated are left out. Where the results of an image are the same list
    twice or more (a padded sampler, a file appended to itself), they count
    once; but for a single detection repeated on a single image.

    Args:
        path: the file.
        ground_truth: what the detections are to be judged against.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if the file is no result file, or an entry names an
            unknown image or category, or has a score that is not finite.
    """
    return _checked(load_results(path), ground_truth)


def parse_results(
    data: list[dict[str, Any]], source: str, ground_truth: CocoGroundTruth
) -> CocoResults:
    """Check parsed COCO results; see :func:`read_results`."""
    return _checked(Records(data, source, 'entry'), ground_truth)


def _checked(records: Records, ground_truth: CocoGroundTruth) -> CocoResults:
    image = records.positions(
        'image_id',
        ground_truth.image_position,
        lambda unknown: explain_unknown(
            unknown, ground_truth.image_ids, 'image', ground_truth.source
        ),
    )
    labels = ground_truth.all_category_ids
    label = records.positions(
        'category_id',
        labels,
        lambda unknown: explain_unknown(
            unknown, list(labels), 'category', ground_truth.source
        ),
    )
    scores = records.floats('score')
    kept, repeated = _without_repeats(records, image, scores)
    kept &= label != UNSELECTED
    entry = np.flatnonzero(kept)
    if entry.size < len(records):
        records = records.only(entry)
    return CocoResults(
        source=records.source,
        records=records,
        image=image[entry],
        label=label[entry],
        scores=scores[entry],
        entry=entry,
        notices=_repeat_notice(records.source, ground_truth, repeated),
    )


def _without_repeats(
    records: Records, image: np.ndarray, scores: np.ndarray
) -> tuple[np.ndarray, list[int]]:
    """Find images whose results are one list several times over.

    One detection twice on a single image is what a detector without
    suppression gives, and stays a false alarm; a list of several detections,
    or the same on several images, is a copy.

    Returns:
        Which entries to keep, bool ``(n,)``, and the positions of the images
        with repeated results.
    """
    kept = np.ones(len(records), dtype=bool)
    copies = []  # rows of an image, and how many of them are no copies
    order = np.argsort(image, kind='stable')
    starts = np.flatnonzero(np.diff(image[order], prepend=-1))
    sizes = np.diff(starts, append=len(order))
    # A repeated list shows its first score again; few images do.
    first = np.repeat(scores[order][starts], sizes)
    again = np.add.reduceat(scores[order] == first, starts)
    for group in np.flatnonzero(again > 1):
        rows = order[starts[group] : starts[group] + sizes[group]]
        period = _period([records.items[row] for row in rows])
        if period < len(rows):
            copies.append((rows, period))
    if len(copies) == 1 and copies[0][1] == 1:
        return kept, []
    for rows, period in copies:
        kept[rows[period:]] = False
    return kept, [int(image[rows[0]]) for rows, _ in copies]


def _period(items: list[Any]) -> int:
    """Return the length of the list that ``items`` repeats, or its own."""
    size = len(items)
    for period in range(1, size // 2 + 1):
        if size % period == 0 and items[period:] == items[:-period]:
            return period
    return size


def _repeat_notice(
    source: str, ground_truth: CocoGroundTruth, repeated: list[int]
) -> tuple[str, ...]:
    if not repeated:
        return ()
    ids = [ground_truth.image_ids[index] for index in repeated]
    listed = ', '.join(map(repr, ids[:5])) + (', ...' if ids[5:] else '')
    return (
        f'{source} holds the same results twice or more for {len(ids)} '
        f'image{"" if len(ids) == 1 else "s"} (ids {listed}); they are '
        'counted once.',
    )
