"""Every config's learning rate, walked to its end at several batch sizes."""

import logging
import math
from types import SimpleNamespace

import pytest
import torch
import zoo_models
from mmengine.optim import OptimWrapper
from mmengine.registry import PARAM_SCHEDULERS, init_default_scope
from mmengine.runner import Runner

IMAGES = 1000
# SSD 512 sees the data five times an epoch.
REPEATS = {'ssd512': 5}
# Most of a run that its warm-up takes at the nominal batch. Twelve epochs are
# 756 iterations, of which the released warm-up of 500 takes two thirds.
RELEASED_WARM_UP = 500 / 756
OURS = (
    'yolov3', 'grid_rcnn', 'ddq_detr_r50', 'rtmdet_tiny', 'rtmdet_l',
    'rtmdet_x',
)  # fmt: skip


def scaled_optimizer(config, batch_size):
    """An optimizer of two groups, scaled as --auto-scale-lr does it."""
    rate = config.optim_wrapper.optimizer.lr
    groups = [
        {'params': [torch.nn.Parameter(torch.zeros(1))], 'lr': rate * share}
        for share in (1.0, 0.1)
    ]
    wrapper = OptimWrapper(torch.optim.SGD(groups, lr=rate))
    runner = SimpleNamespace(
        _train_dataloader={'batch_size': batch_size},
        world_size=1,
        logger=logging.getLogger('test'),
        param_schedulers=[],
    )
    Runner.scale_lr(runner, wrapper, dict(config.auto_scale_lr, enable=True))
    return wrapper.optimizer


def build_schedulers(config, optimizer, epoch_length):
    init_default_scope('mmdet')
    built = []
    for settings in config.param_scheduler:
        settings = {k: v for k, v in settings.items() if k != '_scope_'}
        if settings.pop('convert_to_iter_based', False):
            kind = PARAM_SCHEDULERS.get(settings.pop('type'))
            scheduler = kind.build_iter_from_epoch(
                optimizer, **settings, epoch_length=epoch_length
            )
        else:
            scheduler = PARAM_SCHEDULERS.build(
                dict(settings, optimizer=optimizer)
            )
        built.append(scheduler)
    return built


def walk(config, name, batch_size):
    """Return rates by iteration [iterations, 2], and the first rates."""
    optimizer = scaled_optimizer(config, batch_size)
    first = [group['lr'] for group in optimizer.param_groups]
    length = math.ceil(IMAGES * REPEATS.get(name, 1) / batch_size)
    schedulers = build_schedulers(config, optimizer, length)
    total = config.train_cfg.get('max_iters')
    total = total or length * config.train_cfg.max_epochs
    rates = []
    for iteration in range(1, total + 1):
        rates.append([group['lr'] for group in optimizer.param_groups])
        for scheduler in schedulers:
            due = not scheduler.by_epoch or iteration % length == 0
            if due and scheduler.last_step < scheduler.end:
                scheduler.step()
    return torch.tensor(rates, dtype=torch.float64), torch.tensor(first)


@pytest.mark.parametrize('name', [*zoo_models.PAPER, *zoo_models.MODERN])
def test_schedule_is_the_same_at_every_batch_size(name):
    config = zoo_models.load(name)
    nominal = config.auto_scale_lr.base_batch_size
    ends = []
    for batch_size in (nominal, 8):
        rates, first = walk(config, name, batch_size)
        shares = rates / first
        ends.append(shares[-1])
        # All weights follow one curve, whatever their share of the rate.
        torch.testing.assert_close(shares[:, 0], shares[:, 1])
        # Up once, to the full rate, and early; then down only.
        top = int(shares[:, 0].argmax())
        assert shares[top, 0] == pytest.approx(1, abs=1e-3)
        assert top <= len(shares) * (
            1 / 3 if name in OURS else RELEASED_WARM_UP
        )
        steps = shares[:, 0].diff()
        assert (steps[:top] >= 0).all()
        assert (steps[top:] <= 1e-9).all()
        assert shares[-1, 0] <= 0.1 + 1e-6
    for end in ends:
        torch.testing.assert_close(end, ends[0], atol=1e-4, rtol=0)


def test_an_absolute_last_rate_would_be_found():
    """RTMDet's schedule upstream: at batch 8 its cosine rises."""
    config = zoo_models.load('rtmdet_tiny').copy()
    cosine = dict(config.param_scheduler[1], eta_min=0.0002)
    del cosine['eta_min_ratio']
    config.param_scheduler = [config.param_scheduler[0], cosine]

    rates, first = walk(config, 'rtmdet_tiny', 8)

    # 0.0002 of a rate of 0.004 * 8 / 256.
    assert rates[-1, 0] / first[0] == pytest.approx(1.6, abs=1e-3)
