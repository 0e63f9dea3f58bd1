"""What a report is made from: one data set, and detectors judged on it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Optional

import numpy as np

from mmdet_cppe5.coco import CocoGroundTruth
from mmdet_cppe5.coco.box_form import image_sizes
from mmdet_cppe5.coco.conversion import ground_truths
from mmdet_cppe5.core import (
    BootstrapResult,
    Decisions,
    Detections,
    Evaluation,
    GroundTruths,
    TideResult,
)
from mmdet_cppe5.scores.assessment import Assessment, Settings, assess

HIT_IOU = 0.5


@dataclass(frozen=True)
class DataSet:
    """The images and objects that detectors are judged on.

    Attributes:
        name: what to call it, such as its file's name.
        class_names: the classes in label order.
        image_names: what each image is called, N of them.
        image_sizes: width and height in pixels, ``(N, 2)``; where a file
            does not say, what its boxes reach to.
        ground_truths: the objects.
        truth: the file they come from.
    """

    name: str
    class_names: tuple[str, ...]
    image_names: tuple[str, ...]
    image_sizes: np.ndarray
    ground_truths: GroundTruths
    truth: CocoGroundTruth

    @cached_property
    def rows_by_image(self) -> list[np.ndarray]:
        """Rows of the objects of each image."""
        image = self.ground_truths.image
        ends = np.cumsum(np.bincount(image, minlength=len(self.image_names)))
        return np.split(np.argsort(image, kind='stable'), ends[:-1])

    def counts(self) -> np.ndarray:
        """Return how many counted objects each class has, ``(K,)``."""
        truth = self.ground_truths
        return np.bincount(
            truth.label[~truth.ignore], minlength=len(self.class_names)
        )


@dataclass(frozen=True, eq=False)
class Study:
    """One detector on a data set, with all that is known about its errors.

    Attributes:
        name: what to call the detector.
        assessment: its scores, TIDE's errors and intervals.
        entries: place of each detection in its file, from 0; None where all
            of the file's are here in order.
    """

    name: str
    assessment: Assessment
    entries: Optional[np.ndarray] = None

    def entry(self, det: int) -> int:
        """Return the place of a detection in its file."""
        return det if self.entries is None else int(self.entries[det])

    @property
    def evaluation(self) -> Evaluation:
        """The core's evaluation."""
        return self.assessment.evaluation

    @cached_property
    def decisions(self) -> Decisions:
        """What became of each box at IoU 0.5."""
        return self.evaluation.decisions(HIT_IOU)

    @property
    def tide(self) -> TideResult:
        """The kinds of errors at IoU 0.5."""
        return self.assessment.tide

    @property
    def tides(self) -> tuple[TideResult, ...]:
        """The same at every evaluated threshold."""
        return self.assessment.tides

    @property
    def intervals(self) -> Optional[BootstrapResult]:
        """How sure the numbers are; None when not asked for."""
        return self.assessment.bootstrap


def data_set(truth: CocoGroundTruth, name: str) -> DataSet:
    """Return a COCO annotation file as a data set to report on."""
    objects = ground_truths(truth)
    reach = np.zeros((len(truth.image_ids), 2))
    np.maximum.at(
        reach, objects.image, objects.bbox[:, :2] + objects.bbox[:, 2:]
    )
    sizes = np.nan_to_num(image_sizes(truth.images))
    return DataSet(
        name,
        tuple(truth.class_names),
        tuple(
            str(image.get('file_name') or key)
            for image, key in zip(truth.images, truth.image_ids)
        ),
        np.where(sizes > 0, sizes, np.maximum(np.ceil(reach), 1)),
        objects,
        truth,
    )


def study(
    name: str,
    data: DataSet,
    detections: Detections,
    *,
    resamples: Optional[int] = None,
    seed: int = 0,
    entries: Optional[np.ndarray] = None,
) -> Study:
    """Judge one detector.

    Args:
        name: what to call it.
        data: the images and objects.
        detections: what it found.
        resamples: for the intervals; 0 leaves them out, None takes as many
            as the number of images needs.
        seed: of the resampling.
        entries: see :class:`Study`.
    """
    settings = Settings(
        tide={'pos_thr': HIT_IOU},
        ci=None
        if resamples == 0
        else {'num_resamples': resamples, 'seed': seed},
    )
    return Study(
        name,
        assess(data.ground_truths, detections, data.class_names, settings),
        entries,
    )
