"""A detector made ready to be timed."""

from __future__ import annotations

from typing import Any, Optional

import torch
from mmcv.cnn import fuse_conv_bn
from mmdet.registry import MODELS
from mmengine.config import Config
from mmengine.logging import MMLogger
from mmengine.model import revert_sync_batchnorm
from mmengine.runner import load_checkpoint
from torch import nn

from mmdet_cppe5.benchmark.settings import BenchmarkSettings
from mmdet_cppe5.zoo.complexity import build_to_count, measure_complexity


def without_pretrained(node: Any) -> Any:
    """Return a copy of a model config that asks for no weight files.

    Other initialisation stays, above all the heads' class priors, which
    decide how many boxes reach the post-processing.
    """
    if isinstance(node, dict):
        init = node.get('init_cfg')
        drop = isinstance(init, dict) and init.get('type') == 'Pretrained'
        return type(node)(
            {
                key: without_pretrained(value)
                for key, value in node.items()
                if not (drop and key == 'init_cfg')
                and key not in ('pretrained', 'teacher_ckpt')
            }
        )
    if isinstance(node, (list, tuple)):
        return type(node)(without_pretrained(value) for value in node)
    return node


def _init_quietly(model: nn.Module) -> None:
    """Initialise without a line in the log for every parameter."""
    logger = MMLogger.get_current_instance()
    level = logger.level
    logger.setLevel('WARNING')
    try:
        model.init_weights()
    finally:
        logger.setLevel(level)


def build_model(
    cfg: Config, checkpoint: Optional[str], settings: BenchmarkSettings
) -> nn.Module:
    """Build, load or initialise, and place a detector in evaluation mode.

    Args:
        cfg: the whole config.
        checkpoint: a path or URL; None for random weights, seeded.
        settings: device, memory format, fusing, compilation.
    """
    torch.manual_seed(0)
    model = MODELS.build(without_pretrained(cfg.model))
    if checkpoint is None:
        _init_quietly(model)
    else:
        load_checkpoint(model, checkpoint, map_location='cpu')
    model = revert_sync_batchnorm(model)
    if settings.fuse_conv_bn:
        model = fuse_conv_bn(model)
    model = model.to(settings.device).eval()
    if settings.channels_last:
        model = model.to(memory_format=torch.channels_last)
    if settings.compile:
        for name in ('backbone', 'neck'):
            part = getattr(model, name, None)
            if part is not None:
                setattr(model, name, torch.compile(part))
    return model


def describe_size(cfg: Config) -> dict[str, Any]:
    """Count parameters and multiply-accumulates of a config's network.

    Returns:
        ``parameters``, ``trainable_parameters``, ``macs`` at 3x800x1280 by
        the paper's counter (:mod:`mmdet_cppe5.zoo.complexity`), and
        ``macs_note``: why there are none, if there are none.
    """
    model = build_to_count(cfg)
    size: dict[str, Any] = {
        'parameters': sum(p.numel() for p in model.parameters()),
        'trainable_parameters': sum(
            p.numel() for p in model.parameters() if p.requires_grad
        ),
    }
    try:
        counted = measure_complexity(model)
    except Exception as error:
        # Any network may be benchmarked, and tracing one that the counter
        # does not know can fail in any way; its speed is still wanted.
        reason = f'not counted: {type(error).__name__}: {error}'
        return {**size, 'macs': None, 'macs_note': reason}
    return {**size, 'macs': counted.macs, 'macs_note': None}
