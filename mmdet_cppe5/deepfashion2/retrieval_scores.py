"""DeepFashion2's consumer-to-shop retrieval: from files to figures."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from mmdet_cppe5.deepfashion2.retrieval_accuracy import (
    NO_IMAGE,
    Gallery,
    Queries,
    RetrievalResult,
    Retrievals,
    evaluate_retrieval,
)
from mmdet_cppe5.deepfashion2.retrieval_files import (
    load_gallery,
    load_queries,
    load_retrievals,
)
from mmdet_cppe5.files import PathLike
from mmdet_cppe5.scores.formats import Table

#: The list lengths at which the data set's tables report accuracy.
TOP_K = (1, 5, 10, 15, 20)


class RetrievalEvaluation(NamedTuple):
    """An evaluation of files.

    Attributes:
        queries: the items of the query file.
        result: what became of each query.
        notices: what the reader should know, one sentence each.
    """

    queries: Queries
    result: RetrievalResult
    notices: list[str]


def evaluate_retrieval_files(
    queries: PathLike,
    gallery: PathLike,
    results: PathLike,
    with_classes: bool = True,
) -> RetrievalEvaluation:
    """Evaluate a result file against query and gallery files.

    Args:
        queries: the query file.
        gallery: the gallery file.
        results: the result file.
        with_classes: whether a detection must have its query's class to
            represent it, as in the published measure since 2019-01-21.

    Raises:
        FileNotFoundError: if a file is missing.
        ValueError: if a file is not what it should be, or the results name
            no image of the others.
    """
    items, shop = load_queries(queries), load_gallery(gallery)
    found, notices = cut_lists(load_retrievals(results, with_classes))
    check_ids(items, found, shop)
    result = evaluate_retrieval(items, found, shop)
    return RetrievalEvaluation(items, result, notices)


def cut_lists(found: Retrievals) -> tuple[Retrievals, list[str]]:
    """End every list where the measure ends, after 20 entries.

    Returns:
        The detections with lists of at most 20, and a sentence if any was
        longer.
    """
    longest = max(TOP_K)
    longer = (found.gallery_images[:, longest:] != NO_IMAGE).any(axis=1)
    if not longer.any():
        return found, []
    notice = (
        f'{longer.sum()} of the {len(longer)} lists have more than {longest} '
        f'entries; the first {longest} count.'
    )
    return replace(
        found,
        gallery_images=found.gallery_images[:, :longest],
        gallery_boxes=found.gallery_boxes[:, :longest],
    ), [notice]


def check_ids(
    queries: Queries, retrievals: Retrievals, gallery: Gallery
) -> None:
    """Refuse results that belong to another split or numbering.

    A few unknown ids are legal: images whose items all have style 0 need not
    be in the files. Such detections and entries match nothing.

    Raises:
        ValueError: if all image ids of the results are unknown.
    """
    listed = retrievals.gallery_images[retrievals.gallery_images != NO_IMAGE]
    for name, ids, known in (
        ('query', retrievals.images, queries.images),
        ('gallery', listed, gallery.images),
    ):
        if ids.size and not np.isin(ids, known).any():
            raise ValueError(
                f'Expected the {name} image ids of the results to be in the '
                f'{name} file (ids {known.min()} to {known.max()}), but none '
                f'of the {np.unique(ids).size} ids is (such as {ids[0]}); do '
                'the files belong to the same split?'
            )


def summarize(result: RetrievalResult) -> dict[str, float]:
    """Name the figures of an evaluation.

    Returns:
        ``top-1`` ... ``top-20``: fraction of all queries, 0..1, NaN without
        queries; ``queries``, ``missed`` (no detection of the query's class
        belongs to it; ``missed_without_detections`` of them in images with
        no detection at all) and ``without_counterpart`` (nothing in the
        gallery answers the query): numbers of queries.
    """
    return {
        **{f'top-{k}': result.accuracy(k) for k in TOP_K},
        'queries': len(result.queries),
        'missed': result.missed,
        'missed_without_detections': int(result.undetected.sum()),
        'without_counterpart': result.without_counterpart,
    }


def per_query(
    queries: Queries, result: RetrievalResult
) -> list[dict[str, Any]]:
    """List what became of each query, for a JSON file.

    Returns:
        One object for each query in the query file's order: ``query`` (the
        item's place in the query file), ``query_image_id``, ``cls``,
        ``pair_id``, ``style``, ``detection`` (place in the result file of
        the detection that stands for it, None if missed), ``rank`` (1-based
        rank of the first right entry, None without one) and
        ``counterparts`` (gallery items that would be right).
    """
    rows = zip(
        result.queries.tolist(),
        result.detections.tolist(),
        result.ranks.tolist(),
        result.counterparts.tolist(),
    )
    return [
        {
            'query': item,
            'query_image_id': int(queries.images[item]),
            'cls': int(queries.labels[item]),
            'pair_id': int(queries.pairs[item]),
            'style': int(queries.styles[item]),
            'detection': detection if detection >= 0 else None,
            'rank': rank + 1 if rank >= 0 else None,
            'counterparts': counterparts,
        }
        for item, detection, rank, counterparts in rows
    ]


def retrieval_tables(summary: dict[str, float]) -> list[Table]:
    """Return the figures of :func:`summarize`, accuracies in %."""
    names = [f'top-{k}' for k in TOP_K]
    counts = [name for name in summary if name not in names]
    accuracies = [[f'{100 * summary[name]:.2f}' for name in names]]
    rows = [[name, str(summary[name])] for name in counts]
    return [Table(names, accuracies), Table(['', 'queries'], rows)]
