import pytest
from mmengine.config import Config
from mmengine.logging import MMLogger
from mmengine.registry import init_default_scope

from mmdet_cppe5.benchmark.loading import (
    DataLoaderBenchmark,
    DatasetBenchmark,
)
from mmdet_cppe5.benchmark.settings import BenchmarkSettings
from mmdet_cppe5.benchmark.training import TrainingBenchmark, text


@pytest.fixture
def config(repo_root, drawn_dataset, monkeypatch):
    """A tiny detector on the drawn images: 6 for training, 4 for testing."""
    monkeypatch.setenv('CPPE5_DATA_ROOT', str(drawn_dataset.root))
    cfg = Config.fromfile(repo_root / 'configs' / 'cppe5' / 'rtmdet_tiny.py')
    cfg.merge_from_dict(
        {
            'model.backbone.deepen_factor': 0.167,
            'model.backbone.widen_factor': 0.125,
            'model.neck.in_channels': [32, 64, 128],
            'model.neck.out_channels': 32,
            'model.bbox_head.in_channels': 32,
            'model.bbox_head.feat_channels': 32,
        }
    )
    cfg.train_dataloader.update(
        batch_size=2, num_workers=0, persistent_workers=False
    )
    cfg.test_dataloader.update(
        batch_size=1, num_workers=0, persistent_workers=False
    )
    cfg.train_dataloader.dataset.pipeline = [
        {'type': 'LoadImageFromFile'},
        {'type': 'LoadAnnotations', 'with_bbox': True},
        {'type': 'Resize', 'scale': (96, 96), 'keep_ratio': False},
        {'type': 'PackDetInputs'},
    ]
    init_default_scope('mmdet')
    return cfg


def test_training_is_split_into_pipeline_and_iteration(config):
    benchmark = TrainingBenchmark(
        config, BenchmarkSettings(device='cpu'), max_iter=3, num_warmup=1
    )
    before = [p.clone() for p in benchmark.model.parameters()]
    result = benchmark.run()
    assert any(
        (p != q).any() for p, q in zip(before, benchmark.model.parameters())
    ), 'an iteration must step the optimizer'
    assert result['batch_size'] == 2
    assert result['num_workers'] == 0
    speeds = {
        part: result[part]['images_per_second']
        for part in ('pipeline', 'iteration', 'combined')
    }
    # Without workers both halves run one after the other.
    assert speeds['combined'] < speeds['pipeline']
    slower = min(('pipeline', 'iteration'), key=speeds.get)
    assert result['limit'] == slower
    assert f'the {slower} limits training' in text(result)
    assert result['combined']['ms_per_image']['count'] == 3


@pytest.mark.parametrize('benchmark_class', ['loader', 'dataset'])
def test_four_images_are_enough(config, benchmark_class):
    logger = MMLogger.get_instance('mmdet')
    if benchmark_class == 'loader':
        benchmark = DataLoaderBenchmark(
            config, False, 'test', num_warmup=1, logger=logger
        )
    else:
        benchmark = DatasetBenchmark(
            config, 'test', num_warmup=1, logger=logger
        )
    # MMDetection's own fps stays 0 below 50 images, then divides by it.
    outputs = benchmark.run(repeat_num=2)
    assert len(outputs['fps_list']) == 2
    assert min(outputs['fps_list']) > 0


def test_no_image_left_after_warm_up(config):
    benchmark = DatasetBenchmark(config, 'test', num_warmup=4)
    with pytest.raises(ValueError, match='num_warmup=4.*the data give 4'):
        benchmark.run()
