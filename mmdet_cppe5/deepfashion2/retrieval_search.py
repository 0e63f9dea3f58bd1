"""Finding the gallery's most similar items by the cosine of their features."""

from __future__ import annotations

import numpy as np

#: Similarities that are held at once: 64 MB as float32.
_BLOCK = 1 << 24


def most_similar(
    queries: np.ndarray, gallery: np.ndarray, count: int
) -> np.ndarray:
    """Return each query's most similar gallery items, best first.

    Similarities are computed for some queries at a time, so that memory
    does not grow with the product of both numbers. Of equally similar items
    the earlier comes first. An item whose features are all 0 is equally
    unlike everything.

    Args:
        queries: features of Q items, float ``(Q, C)``.
        gallery: features of G items, float ``(G, C)``.
        count: how many to return for each query.

    Returns:
        Rows of ``gallery``, int64 ``(Q, min(count, G))``.

    Raises:
        ValueError: if the features differ in length or are not finite.
    """
    _check(queries, gallery)
    kept = min(count, len(gallery))
    found = np.zeros((len(queries), kept), dtype=np.int64)
    if not kept:
        return found
    directions = _directions(gallery).T  # (C, G)
    step = max(1, _BLOCK // len(gallery))
    for start in range(0, len(queries), step):
        block = _directions(queries[start : start + step])  # (B, C)
        found[start : start + step] = _largest(block @ directions, kept)
    return found


def _check(queries: np.ndarray, gallery: np.ndarray) -> None:
    if queries.shape[1] != gallery.shape[1]:
        raise ValueError(
            'Expected features of one length for queries and gallery, but '
            f'got {queries.shape[1]} and {gallery.shape[1]}.'
        )
    for name, features in (('query', queries), ('gallery', gallery)):
        wrong = np.flatnonzero(~np.isfinite(features).all(axis=1))
        if wrong.size:
            raise ValueError(
                f'Expected finite features, but those of {name} item '
                f'{wrong[0]} are not, as of {wrong.size} of the '
                f'{len(features)}.'
            )


def _directions(features: np.ndarray) -> np.ndarray:
    """Scale features ``(n, C)`` to length 1, zeros left alone."""
    features = features.astype(np.float32)
    length = np.linalg.norm(features, axis=1, keepdims=True)
    return features / np.where(length > 0, length, 1)


def _largest(similar: np.ndarray, kept: int) -> np.ndarray:
    """Return the places of each row's largest values, best first.

    Args:
        similar: ``(B, G)``.
        kept: how many, at most G.
    """
    least = np.partition(similar, -kept, axis=1)[:, -kept, None]  # (B, 1)
    # Where several equal the least one, these are more than are kept.
    row, place = np.nonzero(similar >= least)
    order = np.lexsort((place, -similar[row, place], row))
    starts = np.searchsorted(row, np.arange(len(similar)))
    return place[order[starts[:, None] + np.arange(kept)]]
