"""DeepFashion2's retrieval by the features of detections: a baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np
import torch
from mmdet.registry import METRICS

from mmdet_cppe5.coco.records import listed
from mmdet_cppe5.deepfashion2.retrieval_accuracy import (
    Gallery,
    Queries,
    Retrievals,
)
from mmdet_cppe5.deepfashion2.retrieval_scores import TOP_K
from mmdet_cppe5.deepfashion2.retrieval_search import most_similar
from mmdet_cppe5.metrics.deepfashion2_retrieval_metric import (
    DeepFashion2RetrievalMetric,
    image_ids,
)
from mmdet_cppe5.samples import (
    SampleDetections,
    columns_of_results,
    read_sample,
    to_array,
)


@dataclass(frozen=True)
class FeaturedItems(SampleDetections):
    """What one image's data sample carries, on the CPU.

    Attributes:
        features: one row for each detection, float32 ``(n, C)``.
    """

    features: Optional[np.ndarray] = None


@METRICS.register_module()
class DeepFashion2FeatureRetrievalMetric(DeepFashion2RetrievalMetric):
    """Find items in the shop by what a detector saw of them.

    A model detects items in the images of users and of shops alike;
    ``pred_instances`` must hold ``features`` ``(n, C)`` beside ``bboxes``,
    ``labels`` and ``scores``, as those of ``FeatureRoIHead`` do. Each
    detection in a query image lists the 20 detections of the gallery's
    images with the largest cosine of their features, and the lists are
    scored as :class:`DeepFashion2RetrievalMetric` does, whose arguments
    this takes. Images in neither file are left out.
    """

    def keep(self, sample: Mapping[str, Any]) -> FeaturedItems:
        """Return the detected items with their features."""
        return _read_featured(sample, self.class_names)

    def retrievals(
        self,
        results: Sequence[FeaturedItems],
        queries: Queries,
        gallery: Gallery,
    ) -> Retrievals:
        """List the most similar gallery detections for each query's.

        Args:
            results: one record per image, of users and shops.
            queries: the items of the query file.
            gallery: the items of the gallery file.

        Raises:
            ValueError: if none of the tested images is in one of the files.
        """
        images = image_ids(results)
        seen = [results[k] for k in _known(images, queries.images, 'query')]
        shop = [results[k] for k in _known(images, gallery.images, 'gallery')]
        # Without any image its features keep their length.
        length = results[0].features.shape[1] if results else 0
        none = np.zeros((0, length), dtype=np.float32)
        found = most_similar(
            np.concatenate([none, *(each.features for each in seen)]),
            np.concatenate([none, *(each.features for each in shop)]),
            max(TOP_K),
        )
        rows, boxes, *_ = columns_of_results(shop)
        return self.listed(seen, image_ids(shop)[rows][found], boxes[found])


def _known(images: np.ndarray, known: np.ndarray, name: str) -> list[int]:
    """Return the places of the tested images that are in a file."""
    places = np.flatnonzero(np.isin(images, known)).tolist()
    if images.size and not places:
        raise ValueError(
            f'Expected tested images that are in the {name} file (ids '
            f'{known.min()} to {known.max()}), but none of the {images.size} '
            f'is (such as {images[0]}); the images of users and of shops '
            'must be tested together, and the files be of the same split.'
        )
    return places


def _read_featured(
    sample: Mapping[str, Any], classes: Sequence[str]
) -> FeaturedItems:
    """Take detections and their features out of a data sample.

    Raises:
        KeyError: if the predictions have no features.
        ValueError: if there is not one row for each detection.
    """
    found = vars(read_sample(sample, classes))
    predicted = sample['pred_instances']
    where = f'the predictions of image id {sample["img_id"]!r}'
    if 'features' not in predicted:
        raise KeyError(
            f"Expected 'features' in {where}, but they have only "
            f'{listed(sorted(predicted.keys()))}; does the model have a '
            'FeatureRoIHead?'
        )
    features = to_array(predicted['features'], torch.float32)
    if features.ndim != 2 or len(features) != len(found['scores']):
        raise ValueError(
            f"Expected 'features' in {where} to have shape (detections, C) "
            f'for the {len(found["scores"])} detections, but got '
            f'{features.shape}.'
        )
    return FeaturedItems(**{**found, 'features': features})
