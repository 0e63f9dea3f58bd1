"""Inference speed, on MMDetection's own benchmark."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Optional

import torch
from mmdet.utils import benchmark as mmdet_benchmark
from mmengine import MMLogger
from mmengine.config import Config
from mmengine.runner import Runner
from torch import nn

from mmdet_cppe5.benchmark.clock import Clock
from mmdet_cppe5.benchmark.context import HostMemory
from mmdet_cppe5.benchmark.inputs import apply_input_settings
from mmdet_cppe5.benchmark.model import build_model
from mmdet_cppe5.benchmark.settings import BenchmarkSettings
from mmdet_cppe5.benchmark.stages import PostprocessTimer

STAGES = ('loading', 'preprocessing', 'forward', 'postprocessing')


@dataclass
class Samples:
    """Milliseconds per image of one pass, a value an iteration and stage."""

    stages: dict[str, list[float]] = field(
        default_factory=lambda: {stage: [] for stage in STAGES}
    )
    images: list[int] = field(default_factory=list)
    input_sizes: Counter[tuple[int, int]] = field(default_factory=Counter)

    def add(self, num_images: int, **milliseconds: float) -> None:
        """Add an iteration; its durations are divided by its images."""
        self.images.append(num_images)
        for stage in STAGES:
            self.stages[stage].append(milliseconds[stage] / num_images)

    def per_image(self, include_loading: bool) -> list[float]:
        """Sum the stages that FPS counts, a value an iteration."""
        counted = STAGES if include_loading else STAGES[1:]
        return [
            sum(values)
            for values in zip(*(self.stages[stage] for stage in counted))
        ]

    def fps(self, include_loading: bool) -> float:
        """Images per second over the pass, as MMDetection counts it."""
        times = self.per_image(include_loading)
        total = sum(time * count for time, count in zip(times, self.images))
        return 1e3 * sum(self.images) / total


class InferenceBenchmark(mmdet_benchmark.InferenceBenchmark):
    """MMDetection's inference benchmark for any device and number of images.

    FPS means what it means there: images over the time of
    ``model.test_step`` (preprocessing with the copy to the device, forward,
    post-processing), the loader left out, the first ``num_warmup``
    iterations of each pass discarded, the device synchronised around each
    iteration.

    Args:
        cfg: a config with ``test_dataloader`` and ``model``.
        checkpoint: a path or URL, or None for random weights.
        settings: how the model is run.
        max_iter: iterations of a pass at most; the data set's end comes
            first.
        num_warmup: iterations at the start of each pass that are discarded.
        log_interval: iterations between two lines of the log.
        logger: where these lines go.
    """

    def __init__(
        self,
        cfg: Config,
        checkpoint: Optional[str],
        settings: BenchmarkSettings,
        max_iter: int = 2000,
        num_warmup: int = 5,
        log_interval: int = 50,
        logger: Optional[MMLogger] = None,
    ) -> None:
        self.settings = settings
        self.clock = Clock(torch.device(settings.device))
        self.host_memory = HostMemory()
        self.host_memory.reset()
        apply_input_settings(cfg, settings)
        super().__init__(
            cfg,
            checkpoint,
            distributed=False,
            is_fuse_conv_bn=settings.fuse_conv_bn,
            max_iter=max_iter,
            log_interval=log_interval,
            num_warmup=num_warmup,
            logger=logger,
        )
        if settings.batch_size != 1:
            cfg.test_dataloader['batch_size'] = settings.batch_size
            self.data_loader = Runner.build_dataloader(cfg.test_dataloader)
        self._require_enough_images()

    def _require_enough_images(self) -> None:
        self.max_iter = min(self.max_iter, len(self.data_loader))
        if self.max_iter > self.num_warmup:
            return
        raise ValueError(
            f'The data give {self.max_iter} iterations of batch size '
            f'{self.settings.batch_size}, of which num_warmup='
            f'{self.num_warmup} are discarded, so none is left to time; '
            'lower --num-warmup or give more images.'
        )

    def _init_model(
        self, checkpoint: Optional[str], is_fuse_conv_bn: bool
    ) -> nn.Module:
        del is_fuse_conv_bn  # it is one of the settings
        return build_model(self.cfg, checkpoint, self.settings)

    @contextlib.contextmanager
    def _inference_mode(self) -> Iterator[None]:
        dtype = self.settings.autocast_dtype
        with torch.no_grad():
            if dtype is None:
                yield
                return
            with torch.autocast(self.clock.device.type, dtype=dtype):
                yield

    def _preprocess(self, data: dict[str, Any]) -> dict[str, Any]:
        data = self.model.data_preprocessor(data, False)
        if self.settings.channels_last:
            data['inputs'] = data['inputs'].contiguous(
                memory_format=torch.channels_last
            )
        return data

    def run_once(self) -> dict[str, Any]:
        """Time one pass over the images.

        Returns:
            ``fps`` and ``samples`` (:class:`Samples`).
        """
        samples = Samples()
        postprocess = PostprocessTimer(self.clock)
        if self.clock.device.type == 'cuda':
            torch.cuda.reset_peak_memory_stats(self.clock.device)
        batches = iter(self.data_loader)
        with self._inference_mode(), postprocess.attached(self.model):
            for index in range(self.max_iter):
                times, sizes = self._time_iteration(batches, postprocess)
                if index < self.num_warmup:
                    continue
                samples.add(len(sizes), **times)
                samples.input_sizes.update(sizes)
                self._log_progress(index + 1, samples)
        fps = samples.fps(self.settings.include_loading)
        return {'fps': fps, 'samples': samples}

    def _time_iteration(
        self, batches: Iterator[Any], postprocess: PostprocessTimer
    ) -> tuple[dict[str, float], list[tuple[int, int]]]:
        clock = self.clock
        clock.synchronize()
        marks = [clock.mark()]
        data = next(batches)
        marks.append(clock.mark())
        data = self._preprocess(data)
        marks.append(clock.mark())
        # The two halves of BaseModel.test_step.
        self.model._run_forward(data, mode='predict')
        marks.append(clock.mark())
        clock.synchronize()
        loading, preprocessing, predict = (
            clock.milliseconds(*span) for span in zip(marks, marks[1:])
        )
        post = postprocess.take()
        times = {
            'loading': loading,
            'preprocessing': preprocessing,
            'forward': predict - post,
            'postprocessing': post,
        }
        height, width = data['inputs'].shape[-2:]
        return times, [(width, height)] * len(data['inputs'])

    def _log_progress(self, done: int, samples: Samples) -> None:
        if done % self.log_interval and done != self.max_iter:
            return
        fps = samples.fps(self.settings.include_loading)
        mmdet_benchmark.print_log(
            f'Done iteration [{done}/{self.max_iter}], fps: {fps:.2f} '
            f'img/s, times per image: {1000 / fps:.2f} ms/img',
            self.logger,
        )

    def average_multiple_runs(
        self, results: list[dict[str, Any]]
    ) -> dict[str, Any]:
        """Collect the passes; the keys of MMDetection's are kept.

        Returns:
            ``avg_fps``, ``fps_list`` and ``samples``, a list with one
            :class:`Samples` a pass, and the peaks of memory in MiB.
        """
        fps_list = [result['fps'] for result in results]
        device_peak = None
        if self.clock.device.type == 'cuda':
            device_peak = torch.cuda.max_memory_allocated() / 2**20
        return {
            'avg_fps': sum(fps_list) / len(fps_list),
            'fps_list': fps_list,
            'samples': [result['samples'] for result in results],
            'device_peak_mib': device_peak,
            'host_peak_mib': self.host_memory.peak_mib(),
        }
