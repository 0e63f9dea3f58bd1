"""Says so where a training's batch is not the one of its learning rate."""

from __future__ import annotations

from typing import Optional

from mmdet.registry import HOOKS
from mmengine.config import Config
from mmengine.hooks import Hook
from mmengine.runner import Runner
from torch.utils.data import DataLoader


@HOOKS.register_module()
class NominalBatchHook(Hook):
    """Logs one line before a training whose learning rate fits another batch.

    The nominal batch is the config's ``auto_scale_lr.base_batch_size``. The
    actual one is processes x images x accumulated steps. It says nothing
    where ``--auto-scale-lr`` scales the rate.
    """

    def before_train(self, runner: Runner) -> None:
        """Compare the two batches."""
        images = images_at_once(runner.train_dataloader)
        steps = getattr(runner.optim_wrapper, '_accumulative_counts', 1)
        message = batch_notice(runner.cfg, images * runner.world_size * steps)
        if message:
            runner.logger.warning(message)


def images_at_once(loader: DataLoader) -> int:
    """Return how many images a loader gives at once; 0 if not known.

    PyTorch gives a loader with a batch sampler of its own, such as
    MMDetection's ``AspectRatioBatchSampler``, no batch size.
    """
    if loader.batch_size is not None:
        return loader.batch_size
    return getattr(loader.batch_sampler, 'batch_size', None) or 0


def batch_notice(cfg: Config, batch: int) -> Optional[str]:
    """Return what a person should know about a batch, if anything.

    Args:
        cfg: the config of the training.
        batch: images of one step of the optimizer; 0 if not known.
    """
    scaling = cfg.get('auto_scale_lr') or {}
    nominal = scaling.get('base_batch_size')
    if not nominal or not batch or batch == nominal or scaling.get('enable'):
        return None
    return (
        f"This config's learning rate belongs to batches of {nominal} images, "
        f'but a batch here has {batch}: add --auto-scale-lr, which multiplies '
        f'the rate by {batch / nominal:g}.'
    )
