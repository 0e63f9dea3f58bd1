"""From a config to a record."""

from __future__ import annotations

import copy
import hashlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any, Optional

import torch
from mmengine import MMLogger
from mmengine.config import Config

from mmdet_cppe5.benchmark import context
from mmdet_cppe5.benchmark.inference import InferenceBenchmark
from mmdet_cppe5.benchmark.model import describe_size
from mmdet_cppe5.benchmark.record import inference_record
from mmdet_cppe5.benchmark.settings import BenchmarkSettings
from mmdet_cppe5.files import file_digest


def describe_model(cfg: Config, checkpoint: Optional[str]) -> dict[str, Any]:
    """Say which model was timed, traceable by digests.

    The config's digest is that of its full text after inheritance and
    overrides, so two runs with other ``--cfg-options`` differ in it.
    """
    text = json.dumps(cfg.to_dict(), sort_keys=True, default=str)
    local = checkpoint is not None and Path(checkpoint).is_file()
    return {
        'name': Path(cfg.filename).stem if cfg.filename else 'model',
        'config': Path(cfg.filename).name if cfg.filename else None,
        'config_sha256': hashlib.sha256(text.encode()).hexdigest(),
        'checkpoint': None if checkpoint is None else Path(checkpoint).name,
        'checkpoint_sha256': file_digest(checkpoint) if local else None,
        'weights': 'random' if checkpoint is None else 'checkpoint',
        **describe_size(cfg),
    }


def run_inference(
    cfg: Config,
    checkpoint: Optional[str],
    settings: BenchmarkSettings,
    *,
    repeat_num: int = 1,
    max_iter: int = 2000,
    num_warmup: int = 5,
    log_interval: int = 50,
    logger: Optional[MMLogger] = None,
    model: Optional[dict[str, Any]] = None,
) -> dict[str, Any]:
    """Time a detector.

    Args:
        cfg: its config; the test loader in it is changed.
        checkpoint: a path or URL, or None for random weights.
        settings: how it is run.
        repeat_num: passes over the images.
        max_iter: iterations of a pass at most.
        num_warmup: iterations at the start of a pass that are discarded.
        log_interval: iterations between two lines of the log.
        logger: where these lines go.
        model: what :func:`describe_model` said of it, where that is known:
            counting a transformer takes half a minute.

    Returns:
        The record, see :func:`inference_record`.
    """
    if model is None:
        model = describe_model(copy.deepcopy(cfg), checkpoint)
    benchmark = InferenceBenchmark(
        cfg,
        checkpoint,
        settings,
        max_iter=max_iter,
        num_warmup=num_warmup,
        log_interval=log_interval,
        logger=logger,
    )
    measured = benchmark.run(repeat_num)
    return inference_record(
        model=model,
        settings={
            **asdict(settings),
            'num_warmup': num_warmup,
            'threads': torch.get_num_threads(),
        },
        measured=measured,
        machine=context.machine(benchmark.clock.device),
        software=context.software(),
    )
