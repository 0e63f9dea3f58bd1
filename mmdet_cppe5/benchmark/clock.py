"""Time marks that are right on asynchronous devices."""

from __future__ import annotations

import time
from typing import Any

import torch


class Clock:
    """Marks points in a device's work and measures between them.

    On CUDA a mark is an event in the stream, so marking does not wait for
    the device; durations are read after one synchronisation. On a CPU a
    mark is the wall clock.
    """

    def __init__(self, device: torch.device) -> None:
        self.device = device
        self._cuda = device.type == 'cuda'

    def synchronize(self) -> None:
        """Wait until the device has finished all it was given."""
        if self._cuda:
            torch.cuda.synchronize(self.device)

    def mark(self) -> Any:
        """Return a mark of this point in the device's work."""
        if not self._cuda:
            return time.perf_counter()
        event = torch.cuda.Event(enable_timing=True)
        event.record()
        return event

    def milliseconds(self, start: Any, end: Any) -> float:
        """Time between two marks; call ``synchronize`` before."""
        if self._cuda:
            return float(start.elapsed_time(end))
        return float((end - start) * 1e3)
