"""MMDetection's loader and data-set benchmarks on any number of images."""

from __future__ import annotations

from typing import Any

from mmdet.utils import benchmark as mmdet_benchmark


def _end_of_pass(length: int, max_iter: int, num_warmup: int) -> int:
    """Return where a pass ends; MMDetection reports FPS only at that point.

    Raises:
        ValueError: if nothing is left after the warm-up.
    """
    end = min(length, max_iter)
    if end <= num_warmup:
        raise ValueError(
            f'Expected more than num_warmup={num_warmup} iterations to time, '
            f'but the data give {end}; lower --num-warmup.'
        )
    return end


class DataLoaderBenchmark(mmdet_benchmark.DataLoaderBenchmark):
    """Batches per second of a data loader."""

    def run_once(self) -> dict[str, Any]:
        """Time one pass."""
        self.max_iter = _end_of_pass(
            len(self.data_loader), self.max_iter, self.num_warmup
        )
        return super().run_once()


class DatasetBenchmark(mmdet_benchmark.DatasetBenchmark):
    """Images per second of a data set, with the time of each transform."""

    def run_once(self) -> dict[str, Any]:
        """Time one pass."""
        self.max_iter = _end_of_pass(
            len(self.dataset), self.max_iter, self.num_warmup
        )
        return super().run_once()
