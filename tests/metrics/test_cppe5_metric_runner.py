"""The metric's keys at work in a Runner: best checkpoint, early stop, log."""

import pytest
import torch
from metric_builders import data_sample
from mmdet.structures import DetDataSample
from mmengine.config import Config
from mmengine.model import BaseModel
from mmengine.runner import Runner
from mmengine.structures import InstanceData

import mmdet_cppe5.plugin  # noqa: F401

BOXES = [[10, 10, 50, 50], [200, 200, 50, 50]]


class TwoBoxes(torch.utils.data.Dataset):
    """One image with two objects of class A."""

    metainfo = {'classes': ('A', 'B')}  # noqa: RUF012

    def __len__(self):
        return 1

    def __getitem__(self, index):
        plain = data_sample(1, truth=[(0, box) for box in BOXES])
        sample = DetDataSample(
            metainfo={
                key: plain[key] for key in ('img_id', 'ori_shape', 'instances')
            }
        )
        return {'inputs': torch.zeros(3, 4, 4), 'data_samples': sample}


class Learner(BaseModel):
    """Finds one object more after each of its first two training steps."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(1))
        self.register_buffer('steps', torch.zeros((), dtype=torch.long))

    def forward(self, inputs, data_samples, mode='tensor'):
        if mode == 'loss':
            self.steps += 1
            return {'loss': self.weight.sum()}
        found = BOXES[: int(self.steps)]
        for sample in data_samples:
            plain = data_sample(1, [(0, box, 0.9) for box in found])
            sample.pred_instances = InstanceData(**plain['pred_instances'])
        return data_samples


@pytest.fixture(scope='module')
def trained(tmp_path_factory):
    """Train for up to nine epochs; return the runner and its folder."""
    folder = tmp_path_factory.mktemp('work')
    loader = {
        'batch_size': 1,
        'num_workers': 0,
        'dataset': TwoBoxes(),
        'sampler': {'type': 'DefaultSampler', 'shuffle': False},
        'collate_fn': {'type': 'pseudo_collate'},
    }
    runner = Runner(
        model=Learner(),
        work_dir=str(folder),
        train_dataloader=loader,
        val_dataloader=loader,
        train_cfg={'by_epoch': True, 'max_epochs': 9, 'val_interval': 1},
        val_cfg={},
        val_evaluator={'type': 'CPPE5Metric'},
        optim_wrapper={'optimizer': {'type': 'SGD', 'lr': 0.1}},
        default_hooks={
            'checkpoint': {
                'type': 'CheckpointHook',
                'interval': -1,
                'save_last': False,
                'save_best': 'cppe5/AP',
                'rule': 'greater',
            }
        },
        custom_hooks=[
            {
                'type': 'EarlyStoppingHook',
                'monitor': 'cppe5/AP',
                'rule': 'greater',
                'patience': 2,
            }
        ],
        visualizer={
            'type': 'Visualizer',
            'vis_backends': [
                {'type': 'TensorboardVisBackend'},
                {'type': 'LocalVisBackend'},
            ],
        },
        default_scope='mmdet',
        experiment_name='cppe5_metric',
        cfg=Config({}),
    )
    runner.train()
    return runner, folder


def test_best_checkpoint(trained):
    """AP is 50.5 after one epoch, 100 after the second and from then on."""
    _, folder = trained
    names = [path.name for path in folder.glob('best*')]
    assert names == ['best_cppe5_AP_epoch_2.pth']


def test_early_stopping(trained):
    """No gain in epochs 3 and 4, so there is no epoch 5."""
    runner, _ = trained
    assert runner.epoch == 4


def test_tensorboard(trained):
    accumulator = pytest.importorskip(
        'tensorboard.backend.event_processing.event_accumulator'
    )
    _, folder = trained
    (event_file,) = folder.rglob('events.out.tfevents*')
    events = accumulator.EventAccumulator(str(event_file))
    events.Reload()
    for key in ('cppe5/AP', 'cppe5/AP_A', 'cppe5/AP50'):
        values = [event.value for event in events.Scalars(key)]
        half = 100 * 51 / 101
        assert values == pytest.approx([half, 100, 100, 100], rel=1e-6)
    assert 'cppe5/AP_B' not in events.Tags()['scalars']


def test_log_has_the_table(trained):
    _, folder = trained
    (log,) = folder.rglob('*.log')
    text = log.read_text()
    assert 'Average Precision  (AP) @[ IoU=0.50:0.95' in text
    assert 'class      objects  detections' in text
