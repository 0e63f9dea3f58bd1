"""What every metric here does with data samples before it scores them."""

from __future__ import annotations

import sys
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Generic, TypeVar

from mmengine.evaluator import BaseMetric

from mmdet_cppe5.coco.categories import check_sequence
from mmdet_cppe5.samples import SampleDetections, first_per_image

Record = TypeVar('Record', bound=SampleDetections)


class SampleMetric(BaseMetric, Generic[Record]):
    """A metric that keeps a small record of each data sample.

    A subclass says what it keeps (:meth:`keep`) and what the records of all
    images score (:meth:`score`).
    """

    @abstractmethod
    def keep(self, sample: Mapping[str, Any]) -> Record:
        """Return what is needed of one ``DetDataSample``, given as a dict.

        It should lie on the CPU: it stays until the whole data set is done.
        """

    @abstractmethod
    def score(self, results: Sequence[Record]) -> dict[str, float]:
        """Evaluate.

        Args:
            results: one record per image, of all processes.

        Returns:
            Score by name, without the metric's prefix.
        """

    @property
    def class_names(self) -> tuple[str, ...]:
        """The data set's classes, in label order.

        Raises:
            ValueError: if the data set's ``metainfo`` does not name them.
        """
        if not self.dataset_meta or 'classes' not in self.dataset_meta:
            raise ValueError(
                "Expected the data set's `metainfo` to name its 'classes', "
                f'but it is {self.dataset_meta}.'
            )
        return check_sequence(self.dataset_meta['classes'])

    def process(
        self, data_batch: Any, data_samples: Sequence[Mapping[str, Any]]
    ) -> None:
        """Keep what is needed of a batch, on the CPU.

        Args:
            data_batch: not used; MMEngine passes it.
            data_samples: ``DetDataSample`` as dicts with ``img_id``,
                ``ori_shape``, ``pred_instances``, and what else the metric's
                own description asks for.
        """
        self.results += [self.keep(sample) for sample in data_samples]

    def evaluate(self, size: int) -> dict[str, float]:
        """Collect the results of all processes and evaluate once.

        Args:
            size: number of images; not relied upon, since which results are
                padding is told by their image ids.
        """
        return super().evaluate(sys.maxsize)

    def compute_metrics(self, results: Sequence[Record]) -> dict[str, float]:
        """Evaluate the collected results, each image once.

        Returns:
            Score by name, without the prefix.
        """
        return self.score(first_per_image(results))
