"""A training at another batch than the nominal one is told so, once."""

import logging
from types import SimpleNamespace

import pytest
from mmdet.datasets.samplers import AspectRatioBatchSampler
from mmengine.config import Config
from torch.utils.data import DataLoader, Dataset, SequentialSampler

from mmdet_cppe5.engine.nominal_batch_hook import NominalBatchHook


class Photos(Dataset):
    def __len__(self):
        return 5

    def __getitem__(self, index):
        return index

    def get_data_info(self, index):
        return dict(width=40, height=30)


def run(caplog, batches, processes=1, steps=1, **scaling):
    if not isinstance(batches, DataLoader):
        batches = DataLoader(Photos(), batch_size=batches)
    runner = SimpleNamespace(
        cfg=Config(dict(auto_scale_lr=scaling)),
        train_dataloader=batches,
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
    # A loader without batches has no batch size.
    assert run(caplog, None, **nominal) == ''


def test_a_batch_sampler_tells_its_own_batch(caplog):
    photos = Photos()
    sampler = AspectRatioBatchSampler(SequentialSampler(photos), batch_size=2)
    batches = DataLoader(photos, batch_sampler=sampler)
    assert batches.batch_size is None

    text = run(caplog, batches, base_batch_size=16, enable=False)

    assert 'batches of 16 images, but a batch here has 2' in text
