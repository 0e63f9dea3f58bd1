"""Distributed training and testing on machines without a GPU."""

from __future__ import annotations

import datetime
from typing import Any, Optional

import torch
from mmengine.registry import RUNNERS
from mmengine.runner import Runner
from torch import nn

# Seconds that processes wait for each other, as torch's own default for gloo.
DEFAULT_TIMEOUT = 1800


@RUNNERS.register_module()
class DistributedCPURunner(Runner):
    """A runner whose processes work on CPUs and talk over gloo.

    MMEngine's own runner chooses a GPU for each process before it looks
    whether there is one, twice: when the processes meet, and when the model
    is wrapped. Everything else works on CPUs, and is inherited.

    ``tools/train.py`` and ``tools/test.py`` take this runner for ``--launcher
    pytorch`` where there is no GPU. A config of yours can ask for it with
    ``runner_type = 'DistributedCPURunner'``. Processes wait for each other
    ``env_cfg.dist_cfg.timeout`` seconds at most (1800 where not given); the
    backend that a config names there is for GPUs, and not used.

    Raises:
        ValueError: if the launcher is another than ``'pytorch'``, which is
            what ``torch.distributed.run`` needs.
    """

    def setup_env(self, env_cfg: dict[str, Any]) -> None:
        """Let the processes meet, then do what MMEngine does."""
        if self.distributed and not torch.distributed.is_initialized():
            self._meet(**env_cfg.get('dist_cfg', {}))
        super().setup_env(env_cfg)

    def wrap_model(
        self, model_wrapper_cfg: Optional[dict[str, Any]], model: nn.Module
    ) -> nn.Module:
        """Wrap the model without naming a GPU for it."""
        if self.distributed:
            unused = self.cfg.get('find_unused_parameters', False)
            # MMEngine's own choice where no wrapper is configured.
            model_wrapper_cfg = model_wrapper_cfg or {
                'broadcast_buffers': False,
                'find_unused_parameters': unused,
            }
            model_wrapper_cfg = {**model_wrapper_cfg, 'device_ids': None}
        return super().wrap_model(model_wrapper_cfg, model)

    def _meet(self, timeout: float = DEFAULT_TIMEOUT, **_: Any) -> None:
        if self.launcher != 'pytorch':
            raise ValueError(
                'Expected the launcher of processes on CPUs to be '
                f"'pytorch', but got {self.launcher!r}: start them with "
                'tools/dist_train.sh or tools/dist_test.sh.'
            )
        torch.distributed.init_process_group(
            'gloo', timeout=datetime.timedelta(seconds=timeout)
        )
