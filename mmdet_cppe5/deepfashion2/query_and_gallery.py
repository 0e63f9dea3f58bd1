"""Query and gallery files for retrieval from converted annotations."""

from __future__ import annotations

from typing import Any


def queries_and_gallery(
    coco: dict[str, Any],
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Make the ground truth of consumer-to-shop retrieval.

    Queries are the items with ``style > 0`` of the images from users; the
    gallery holds every item of the images from shops, those of style 0 too,
    as the released validation files do by their sizes. Boxes are
    ``[x1, y1, x2, y2]`` in pixels.

    Args:
        coco: content of a file that
            :func:`~mmdet_cppe5.deepfashion2.convert.convert` wrote.

    Returns:
        The entries of the query file (``query_image_id``, ``bbox``, ``cls``,
        ``style``, ``pair_id``) and of the gallery file
        (``gallery_image_id``, ``bbox``, ``style``, ``pair_id``).

    Raises:
        ValueError: if an annotation lacks ``source``, ``style`` or
            ``pair_id``, or its source is neither ``user`` nor ``shop``.
    """
    queries = []
    gallery = []
    for item in coco['annotations']:
        _check(item)
        entry = {
            'bbox': _corners(item['bbox']),
            'style': item['style'],
            'pair_id': item['pair_id'],
        }
        if item['source'] == 'shop':
            gallery.append({'gallery_image_id': item['image_id'], **entry})
        elif item['style'] > 0:
            queries.append(
                {
                    'query_image_id': item['image_id'],
                    'cls': item['category_id'],
                    **entry,
                }
            )
    return queries, gallery


def _check(item: dict[str, Any]) -> None:
    """Refuse an annotation that retrieval cannot place."""
    missing = {'source', 'style', 'pair_id'} - item.keys()
    if missing:
        raise ValueError(
            f'Expected source, style and pair_id in annotation {item["id"]}, '
            f'but {", ".join(sorted(missing))} is missing; the data set '
            "authors' converter drops source, so convert the raw files with "
            'this one.'
        )
    if item['source'] not in ('user', 'shop'):
        raise ValueError(
            f"Expected source 'user' or 'shop' in annotation {item['id']}, "
            f'but got {item["source"]!r}.'
        )


def _corners(box: list[float]) -> list[float]:
    """Turn ``[x, y, width, height]`` into ``[x1, y1, x2, y2]``."""
    x, y, width, height = box
    return [x, y, x + width, y + height]
