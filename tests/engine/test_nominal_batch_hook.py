"""A training at another batch than the nominal one is told so, once."""

import logging
from types import SimpleNamespace

import pytest
from mmengine.config import Config

from mmdet_cppe5.engine.nominal_batch_hook import NominalBatchHook


def run(caplog, images, processes=1, steps=1, **scaling):
    runner = SimpleNamespace(
        cfg=Config(dict(auto_scale_lr=scaling)),
        train_dataloader=SimpleNamespace(batch_size=images),
        optim_wrapper=SimpleNamespace(_accumulative_counts=steps),
        world_size=processes,
        logger=logging.getLogger('test'),
    )
    NominalBatchHook().before_train(runner)
    return caplog.text


@pytest.mark.parametrize(
    ('images', 'processes', 'steps', 'batch', 'factor'),
    [(2, 1, 1, 2, '0.125'), (4, 8, 1, 32, '2'), (1, 2, 4, 8, '0.5')],
)
def test_another_batch_is_named(
    caplog, images, processes, steps, batch, factor
):
    text = run(
        caplog, images, processes, steps, base_batch_size=16, enable=False
    )

    assert f'batches of 16 images, but a batch here has {batch}' in text
    assert f'--auto-scale-lr, which multiplies the rate by {factor}.' in text
    assert len(text.splitlines()) == 1


def test_nothing_is_said_where_it_fits(caplog):
    nominal = dict(base_batch_size=16, enable=False)
    assert run(caplog, 2, processes=8, **nominal) == ''
    assert run(caplog, 4, steps=4, **nominal) == ''
    # With --auto-scale-lr, or where nobody said what the rate belongs to.
    assert run(caplog, 2, base_batch_size=16, enable=True) == ''
    assert run(caplog, 2) == ''
    # A loader that batches by itself has no batch size.
    assert run(caplog, None, **nominal) == ''
