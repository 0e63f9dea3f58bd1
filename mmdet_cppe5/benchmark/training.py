"""Training speed: the iteration, the data pipeline, and which one limits."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from typing import Any

import torch
from mmengine.config import Config
from mmengine.optim import build_optim_wrapper
from mmengine.runner import Runner

from mmdet_cppe5.benchmark.clock import Clock
from mmdet_cppe5.benchmark.model import build_model
from mmdet_cppe5.benchmark.settings import BenchmarkSettings
from mmdet_cppe5.benchmark.statistics import summarise

# Batches kept in memory while the iteration alone is timed.
NUM_KEPT_BATCHES = 4


def _endless(loader: Any) -> Iterator[Any]:
    while True:
        yield from loader


class TrainingBenchmark:
    """Images per second of training, split into its two halves.

    ``pipeline`` is the training loader alone with the config's own workers,
    ``iteration`` is forward, backward and optimizer step on batches that
    are in memory already, ``combined`` is both as in training. The smaller
    of the first two is what limits the third.

    Args:
        cfg: a config with ``train_dataloader``, ``model`` and
            ``optim_wrapper``.
        settings: device, precision, memory format and compilation; batch
            size is the config's.
        max_iter: iterations timed in each part.
        num_warmup: iterations discarded before each part.
    """

    def __init__(
        self,
        cfg: Config,
        settings: BenchmarkSettings,
        max_iter: int,
        num_warmup: int,
    ) -> None:
        self.clock = Clock(torch.device(settings.device))
        self.max_iter = max_iter
        self.num_warmup = num_warmup
        self.loader = Runner.build_dataloader(cfg.train_dataloader)
        self.model = build_model(cfg, None, settings).train()
        wrapper = cfg.optim_wrapper.copy()
        if settings.precision != 'fp32':
            if self.clock.device.type == 'cpu':
                raise ValueError(
                    'Training in mixed precision needs a GPU: on a CPU '
                    'MMEngine has none. Leave --amp and --precision out; '
                    '--task inference can be timed in bf16.'
                )
            wrapper.update(
                type='AmpOptimWrapper',
                dtype={'fp16': 'float16', 'bf16': 'bfloat16'}[
                    settings.precision
                ],
            )
        self.optimizer = build_optim_wrapper(self.model, wrapper)

    def run(self) -> dict[str, Any]:
        """Time the three parts.

        Returns:
            For each of ``pipeline``, ``iteration`` and ``combined``:
            ``images_per_second`` and ``ms_per_image`` (percentiles);
            ``limit``, ``pipeline`` or ``iteration``; ``batch_size`` and
            ``num_workers``.
        """
        batches = _endless(self.loader)
        pipeline = self._time(lambda: self._count(next(batches)))
        kept = itertools.cycle(
            [next(batches) for _ in range(NUM_KEPT_BATCHES)]
        )
        iteration = self._time(lambda: self._step(next(kept)))
        combined = self._time(lambda: self._step(next(batches)))
        parts = {
            'pipeline': pipeline,
            'iteration': iteration,
            'combined': combined,
        }
        limit = min(
            ('pipeline', 'iteration'),
            key=lambda part: parts[part]['images_per_second'],
        )
        return {
            **parts,
            'limit': limit,
            'batch_size': self.loader.batch_size
            or self.loader.batch_sampler.batch_size,
            'num_workers': self.loader.num_workers,
        }

    @staticmethod
    def _count(batch: dict[str, Any]) -> int:
        return len(batch['data_samples'])

    def _step(self, batch: dict[str, Any]) -> int:
        self.model.train_step(batch, self.optimizer)
        return self._count(batch)

    def _time(self, work: Any) -> dict[str, Any]:
        times, images, total = [], 0, 0.0
        for index in range(self.num_warmup + self.max_iter):
            self.clock.synchronize()
            start = time.perf_counter()
            count = work()
            self.clock.synchronize()
            elapsed = time.perf_counter() - start
            if index < self.num_warmup:
                continue
            times.append(1e3 * elapsed / count)
            images += count
            total += elapsed
        return {
            'images_per_second': images / total,
            'ms_per_image': summarise(times).as_dict(),
        }


def text(result: dict[str, Any]) -> str:
    """Return the result as a table for the terminal."""
    lines = [
        f'batch size {result["batch_size"]}, '
        f'{result["num_workers"]} loader workers'
    ]
    for part in ('pipeline', 'iteration', 'combined'):
        times = result[part]['ms_per_image']
        lines.append(
            f'  {part:<10} {result[part]["images_per_second"]:8.2f} img/s '
            f'(median {times["median"]:.2f}, p90 {times["p90"]:.2f} ms/img)'
        )
    lines.append(f'  the {result["limit"]} limits training')
    return '\n'.join(lines)
