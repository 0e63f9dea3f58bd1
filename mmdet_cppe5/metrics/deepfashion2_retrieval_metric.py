"""DeepFashion2's consumer-to-shop retrieval as an MMDetection metric."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Optional

import numpy as np
import torch
from mmdet.registry import METRICS
from mmengine.logging import print_log

from mmdet_cppe5.coco.records import listed
from mmdet_cppe5.deepfashion2.categories import category_named
from mmdet_cppe5.deepfashion2.retrieval_accuracy import (
    NO_IMAGE,
    Gallery,
    Queries,
    Retrievals,
    evaluate_retrieval,
)
from mmdet_cppe5.deepfashion2.retrieval_files import (
    load_gallery,
    load_queries,
    retrieval_entries,
)
from mmdet_cppe5.deepfashion2.retrieval_scores import (
    TOP_K,
    check_ids,
    cut_lists,
    per_query,
    retrieval_tables,
    summarize,
)
from mmdet_cppe5.files import write_json
from mmdet_cppe5.metrics.sample_metric import SampleMetric
from mmdet_cppe5.samples import (
    SampleDetections,
    columns_of_results,
    corners_to_sizes,
    read_sample,
    to_array,
)
from mmdet_cppe5.scores.formats import write_parts


@dataclass(frozen=True)
class RetrievedItems(SampleDetections):
    """What one query image's data sample carries, on the CPU.

    Attributes:
        gallery_images: image of each entry, int64 ``(n, r)``, -1 for none.
        gallery_boxes: x, y, width, height of each entry in pixels of the
            gallery image, float64 ``(n, r, 4)``.
    """

    gallery_images: Optional[np.ndarray] = None
    gallery_boxes: Optional[np.ndarray] = None


@METRICS.register_module()
class DeepFashion2RetrievalMetric(SampleMetric[RetrievedItems]):
    """Top-1, 5, 10, 15 and 20 accuracy of finding an item in the shop.

    A model detects items in query images and lists gallery items for each:
    ``pred_instances`` must hold, beside ``bboxes``, ``labels`` and
    ``scores``, ``gallery_image_ids`` ``(n, r)``, best first, -1 where a list
    has ended, and ``gallery_bboxes`` ``(n, r, 4)``, x1, y1, x2, y2 in pixels
    of the gallery image. Accuracies are points, 0 to 100, under
    ``deepfashion2/top-1`` ...; ``deepfashion2/missed`` is the share of
    queries that no detection stands for. The rules:
    :func:`~mmdet_cppe5.deepfashion2.retrieval_accuracy.evaluate_retrieval`.

    Args:
        query_file: the query file, such as ``val_query.json``.
        gallery_file: the gallery file, such as ``val_gallery.json``.
        with_classes: whether a detection must have its query's class to
            stand for it, as in the published measure since 2019-01-21.
        outfile: writes what became of each query to this JSON file.
        results_file: writes the detections and their lists to this JSON
            file, in the data set's official form.
        collect_device: as in ``BaseMetric``.
        prefix: as in ``BaseMetric``.
        collect_dir: as in ``BaseMetric``.

    Raises:
        FileNotFoundError: if a file is missing.
        ValueError: if a file is not what it should be, or a result cannot be
            judged.
    """

    default_prefix = 'deepfashion2'

    def __init__(
        self,
        query_file: str,
        gallery_file: str,
        *,
        with_classes: bool = True,
        outfile: Optional[str] = None,
        results_file: Optional[str] = None,
        collect_device: str = 'cpu',
        prefix: Optional[str] = None,
        collect_dir: Optional[str] = None,
    ) -> None:
        super().__init__(collect_device, prefix, collect_dir)
        self.query_file = query_file
        self.gallery_file = gallery_file
        self.with_classes = with_classes
        self.outfile = outfile
        self.results_file = results_file

    def keep(self, sample: Mapping[str, Any]) -> RetrievedItems:
        """Return the detected items with their lists of gallery items."""
        return _read_retrieved(sample, self.class_names)

    def score(self, results: Sequence[RetrievedItems]) -> dict[str, float]:
        """Evaluate, and write what became of each query."""
        queries = load_queries(self.query_file)
        gallery = load_gallery(self.gallery_file)
        found, notices = cut_lists(self.retrievals(results, queries, gallery))
        for notice in notices:
            print_log(notice, logger='current', level=logging.WARNING)
        if self.results_file is not None:
            write_json(self.results_file, retrieval_entries(found))
        check_ids(queries, found, gallery)
        if not self.with_classes:
            found = replace(found, labels=None)
        outcome = evaluate_retrieval(queries, found, gallery)
        if self.outfile is not None:
            write_json(self.outfile, per_query(queries, outcome), 1)
        summary = summarize(outcome)
        print_log(
            '\n' + write_parts(retrieval_tables(summary)), logger='current'
        )
        if not summary['queries']:
            return {}
        scores = {f'top-{k}': 100 * summary[f'top-{k}'] for k in TOP_K}
        return {
            **scores,
            'missed': 100 * summary['missed'] / summary['queries'],
        }

    def retrievals(
        self,
        results: Sequence[RetrievedItems],
        queries: Queries,
        gallery: Gallery,
    ) -> Retrievals:
        """Return the detections with the entries that they list.

        Args:
            results: one record per image.
            queries: the items of the query file.
            gallery: the items of the gallery file.
        """
        images, boxes = _gallery_columns(results)
        return self.listed(results, images, boxes)

    def listed(
        self,
        results: Sequence[SampleDetections],
        gallery_images: np.ndarray,
        gallery_boxes: np.ndarray,
    ) -> Retrievals:
        """Put the detections of some images and their lists in columns.

        Args:
            results: one record per image, with n detections in all.
            gallery_images: the images that each lists, integer ``(n, r)``.
            gallery_boxes: the boxes, float ``(n, r, 4)``.
        """
        rows, boxes, scores, labels = columns_of_results(results)
        ids = np.array([category_named(name).id for name in self.class_names])
        return Retrievals(
            images=image_ids(results)[rows],
            boxes=boxes,
            labels=ids[labels],
            scores=scores,
            gallery_images=gallery_images,
            gallery_boxes=gallery_boxes,
        )


def image_ids(results: Sequence[SampleDetections]) -> np.ndarray:
    """Return the image id of each record, int64 ``(n,)``."""
    return np.array([each.image_id for each in results], dtype=np.int64)


def _gallery_columns(
    results: Sequence[RetrievedItems],
) -> tuple[np.ndarray, np.ndarray]:
    """Return the lists of all detections, as long as the longest is.

    Returns:
        Images ``(n, r)``, -1 where a list has ended, and boxes ``(n, r, 4)``.
    """
    longest = max((r.gallery_images.shape[1] for r in results), default=0)
    total = sum(len(r.scores) for r in results)
    images = np.full((total, longest), NO_IMAGE, dtype=np.int64)
    boxes = np.zeros((total, longest, 4))
    start = 0
    for result in results:
        rows, depth = result.gallery_images.shape
        images[start : start + rows, :depth] = result.gallery_images
        boxes[start : start + rows, :depth] = result.gallery_boxes
        start += rows
    return images, boxes


def _read_retrieved(
    sample: Mapping[str, Any], classes: Sequence[str]
) -> RetrievedItems:
    """Take detections and their gallery entries out of a data sample.

    Raises:
        KeyError: if the predictions have no gallery entries.
        ValueError: if shapes do not go together.
    """
    found = vars(read_sample(sample, classes))
    predicted = sample['pred_instances']
    image_id = sample['img_id']
    for key in ('gallery_image_ids', 'gallery_bboxes'):
        if key not in predicted:
            raise KeyError(
                f'Expected {key!r} in the predictions of image id '
                f'{image_id!r}, but they have only '
                f'{listed(sorted(predicted.keys()))}.'
            )
    images = to_array(predicted['gallery_image_ids'], torch.int64)
    corners = to_array(predicted['gallery_bboxes'], torch.float64)
    rows = len(found['scores'])
    if images.ndim != 2 or corners.shape != (rows, images.shape[1], 4):
        raise ValueError(
            "Expected 'gallery_image_ids' of shape (detections, r) and "
            f"'gallery_bboxes' of shape (detections, r, 4) for the {rows} "
            f'detections of image id {image_id!r}, but got {images.shape} '
            f'and {corners.shape}.'
        )
    boxes = corners_to_sizes(corners.reshape(-1, 4)).reshape(corners.shape)
    wrong = (images != NO_IMAGE) & (boxes[:, :, 2:] < 0).any(axis=2)
    if wrong.any():
        row, rank = np.argwhere(wrong)[0].tolist()
        raise ValueError(
            f"Expected 'gallery_bboxes' of image id {image_id!r} to be x1, "
            f'y1, x2, y2, but entry {rank} of detection {row} is '
            f'{corners[row, rank].tolist()}; is it x, y, width, height?'
        )
    return RetrievedItems(**found, gallery_images=images, gallery_boxes=boxes)
