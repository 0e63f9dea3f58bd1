"""The query, gallery and result files of DeepFashion2's retrieval.

Boxes in these files are ``[x1, y1, x2, y2]`` in pixels; the arrays made of
them hold x, y, width, height.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mmdet_cppe5.coco.loading import paused_collector
from mmdet_cppe5.coco.records import Records, shorten
from mmdet_cppe5.deepfashion2.retrieval_accuracy import (
    NO_IMAGE,
    Gallery,
    Queries,
    Retrievals,
)
from mmdet_cppe5.files import PathLike, read_json

_QUERY_KEYS = '{query_image_id, bbox, cls, style, pair_id}'
_GALLERY_KEYS = '{gallery_image_id, bbox, style, pair_id}'
_RESULT_KEYS = (
    '{query_image_id, query_bbox, query_cls, query_score, gallery_image_id, '
    'gallery_bbox}'
)


def load_queries(path: PathLike) -> Queries:
    """Read a query file, such as the released ``val_query.json``.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if the file is empty or not a list of query items, a box
            is not x1, y1, x2, y2, or one image has two pair ids.
    """
    records = _read(path, 'query item', _QUERY_KEYS)
    queries = Queries(
        images=_whole(records, 'query_image_id'),
        boxes=_boxes(records, 'bbox'),
        labels=_whole(records, 'cls'),
        pairs=_whole(records, 'pair_id'),
        styles=_whole(records, 'style'),
    )
    _check_one_pair_per_image(queries, records.source)
    return queries


def load_gallery(path: PathLike) -> Gallery:
    """Read a gallery file, such as the released ``val_gallery.json``.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if the file is empty or not a list of gallery items, or
            a box is not x1, y1, x2, y2.
    """
    records = _read(path, 'gallery item', _GALLERY_KEYS)
    return Gallery(
        images=_whole(records, 'gallery_image_id'),
        boxes=_boxes(records, 'bbox'),
        pairs=_whole(records, 'pair_id'),
        styles=_whole(records, 'style'),
    )


def load_retrievals(path: PathLike, with_classes: bool = True) -> Retrievals:
    """Read retrieval results, one entry for each detected query item.

    Lists may have any length; see
    :func:`~mmdet_cppe5.deepfashion2.retrieval_scores.cut_lists`.

    Args:
        path: the result file.
        with_classes: read ``query_cls``. False for files of the format of
            January 2019, which lack it, and to leave classes out of the
            comparison.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if the file is empty or not a list of results, lists of
            one entry differ in length, or a box is not x1, y1, x2, y2.
    """
    # Half a million small lists: looking for cycles in them takes longer
    # than reading them.
    with paused_collector():
        records = _read(path, 'entry', _RESULT_KEYS)
        images, boxes = _lists(records)
        return Retrievals(
            images=_whole(records, 'query_image_id'),
            boxes=_boxes(records, 'query_bbox'),
            labels=_labels(records) if with_classes else None,
            scores=records.floats('query_score'),
            gallery_images=images,
            gallery_boxes=boxes,
        )


def retrieval_entries(found: Retrievals) -> list[dict[str, Any]]:
    """Return detections and their lists as a result file holds them.

    Args:
        found: the detections, with labels, which are category ids.

    Returns:
        One object for each detection; :func:`load_retrievals` reads a file
        of them back.
    """
    entries = []
    boxes, listed = _corners(found.boxes), _corners(found.gallery_boxes)
    for row, images in enumerate(found.gallery_images):
        filled = images != NO_IMAGE
        entries.append(
            {
                'query_image_id': int(found.images[row]),
                'query_bbox': boxes[row].tolist(),
                'query_cls': int(found.labels[row]),
                'query_score': float(found.scores[row]),
                'gallery_image_id': images[filled].tolist(),
                'gallery_bbox': listed[row][filled].tolist(),
            }
        )
    return entries


def _corners(boxes: np.ndarray) -> np.ndarray:
    """Turn x, y, width, height into x1, y1, x2, y2; ``(..., 4)`` each."""
    low, sizes = boxes[..., :2], boxes[..., 2:]
    return np.concatenate([low, low + sizes], axis=-1)


def _read(path: PathLike, name: str, keys: str) -> Records:
    """Read a file that must be a non-empty list of objects."""
    what = f'a list of objects with {keys}'
    content = read_json(path, what)
    if not isinstance(content, list):
        raise ValueError(
            f'Expected {what} in {path}, but got a '
            f'{type(content).__name__}: {shorten(content)}.'
        )
    if not content:
        raise ValueError(f'Expected {what} in {path}, but the list is empty.')
    return Records(content, str(path), name)


def _whole(records: Records, key: str) -> np.ndarray:
    """Return one required field as whole numbers >= 0, int64 ``(n,)``."""
    numbers = records.floats(key)
    wrong = np.flatnonzero((numbers < 0) | (numbers != np.floor(numbers)))
    if wrong.size:
        index = int(wrong[0])
        raise ValueError(
            f'Expected {key!r} of {records.where(index)} to be a whole '
            f'number from 0, but got {records.items[index][key]!r}.'
        )
    return numbers.astype(np.int64)


def _labels(records: Records) -> np.ndarray:
    """Return ``query_cls``, or say how to do without."""
    if not any('query_cls' in item for item in records.items):
        raise ValueError(
            f"Expected 'query_cls' in the entries of {records.source}, but "
            'no entry has it; to leave classes out of the comparison ask for '
            'that: with_classes=False, or --no-classes on the command line.'
        )
    return _whole(records, 'query_cls')


def _boxes(records: Records, key: str) -> np.ndarray:
    """Return one required ``[x1, y1, x2, y2]`` field as x, y, w, h."""
    corners = records.vectors(key, 4)
    sizes = corners[:, 2:] - corners[:, :2]
    wrong = np.flatnonzero((sizes < 0).any(axis=1))
    if wrong.size:
        index = int(wrong[0])
        raise ValueError(
            f'Expected {key!r} of {records.where(index)} to be [x1, y1, x2, '
            f'y2], but got {records.items[index][key]}, whose second corner '
            f'lies before the first, as {wrong.size} of the {len(records)} '
            'boxes do; are they [x, y, width, height]?'
        )
    return np.concatenate([corners[:, :2], sizes], axis=1)


def _lists(records: Records) -> tuple[np.ndarray, np.ndarray]:
    """Return the lists of all entries, as long as the longest is.

    Returns:
        Images int64 ``(n, r)``, -1 where a list has ended, and boxes x, y,
        width, height in pixels ``(n, r, 4)``.
    """
    rows = list(
        zip(records.column('gallery_image_id'), records.column('gallery_bbox'))
    )
    for index, (ids, boxes) in enumerate(rows):
        _check_lists(ids, boxes, records.where(index))
    entries = Records(
        [
            {'id': f'{rank} of entry {index}', 'image': image, 'box': box}
            for index, (ids, boxes) in enumerate(rows)
            for rank, (image, box) in enumerate(zip(ids, boxes))
        ],
        records.source,
        'retrieved item',
    )
    lengths = [len(ids) for ids, _ in rows]
    filled = np.arange(max(lengths)) < np.array(lengths)[:, None]
    images = np.full(filled.shape, NO_IMAGE, dtype=np.int64)
    images[filled] = _whole(entries, 'image')
    boxes = np.zeros((*filled.shape, 4))
    boxes[filled] = _boxes(entries, 'box')
    return images, boxes


def _check_lists(ids: Any, boxes: Any, where: str) -> None:
    """Refuse an entry whose two lists do not go together."""
    if not isinstance(ids, list) or not isinstance(boxes, list):
        raise ValueError(
            "Expected 'gallery_image_id' and 'gallery_bbox' of "
            f'{where} to be lists, but got {shorten(ids)} and '
            f'{shorten(boxes)}.'
        )
    if len(ids) != len(boxes):
        raise ValueError(
            "Expected 'gallery_image_id' and 'gallery_bbox' of "
            f'{where} to have equal lengths, but got {len(ids)} ids and '
            f'{len(boxes)} boxes.'
        )


def _check_one_pair_per_image(queries: Queries, source: str) -> None:
    """Refuse an image whose items name different pairs."""
    _, first, inverse = np.unique(
        queries.images, return_index=True, return_inverse=True
    )
    differs = np.flatnonzero(queries.pairs != queries.pairs[first][inverse])
    if differs.size:
        item = int(differs[0])
        raise ValueError(
            f'Expected one pair_id for each query image of {source}, but '
            f'image {queries.images[item]} has '
            f'{queries.pairs[first][inverse][item]} and {queries.pairs[item]}.'
        )
