"""Where the time of one prediction goes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from torch import nn

from mmdet_cppe5.benchmark.clock import Clock


class PostprocessTimer:
    """Times all ``predict_by_feat`` calls of a detector's heads.

    MMDetection's heads turn raw outputs into boxes in ``predict_by_feat``:
    decoding, score filtering and NMS; for two-stage detectors that includes
    the selection of proposals. Nested calls count once.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._depth = 0
        self._spans: list[tuple[Any, Any]] = []

    def take(self) -> float:
        """Return the milliseconds since the last call and start anew."""
        total = sum(self._clock.milliseconds(*span) for span in self._spans)
        self._spans.clear()
        return float(total)

    def _wrap(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def timed(*args: Any, **kwargs: Any) -> Any:
            if self._depth:
                return function(*args, **kwargs)
            self._depth += 1
            start = self._clock.mark()
            try:
                return function(*args, **kwargs)
            finally:
                self._depth -= 1
                self._spans.append((start, self._clock.mark()))

        return timed

    @contextmanager
    def attached(self, model: nn.Module) -> Iterator[None]:
        """Time the model's post-processing inside the block."""
        heads = [
            module
            for module in model.modules()
            if hasattr(module, 'predict_by_feat')
        ]
        for head in heads:
            # An attribute of the instance hides the class's method and is
            # gone again when it is deleted.
            head.predict_by_feat = self._wrap(head.predict_by_feat)
        try:
            yield
        finally:
            for head in heads:
                del head.predict_by_feat
