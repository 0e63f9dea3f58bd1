import json
import math
import subprocess
import sys

import pytest
import torch
from mmengine.config import Config
from mmengine.registry import init_default_scope
from torch import nn

from mmdet_cppe5.benchmark import zoo
from mmdet_cppe5.benchmark.clock import Clock
from mmdet_cppe5.benchmark.inference import InferenceBenchmark, Samples
from mmdet_cppe5.benchmark.inputs import NoiseImages, fix_input_size
from mmdet_cppe5.benchmark.model import without_pretrained
from mmdet_cppe5.benchmark.record import record_text
from mmdet_cppe5.benchmark.run import run_inference
from mmdet_cppe5.benchmark.settings import BenchmarkSettings, amp_precision

SMALL = {
    'model.backbone.deepen_factor': 0.167,
    'model.backbone.widen_factor': 0.125,
    'model.neck.in_channels': [32, 64, 128],
    'model.neck.out_channels': 32,
    'model.bbox_head.in_channels': 32,
    'model.bbox_head.feat_channels': 32,
}


@pytest.fixture
def small_config(repo_root):
    cfg = Config.fromfile(repo_root / 'configs' / 'cppe5' / 'rtmdet_tiny.py')
    cfg.merge_from_dict(SMALL)
    init_default_scope('mmdet')
    return cfg


def noise(**settings):
    return BenchmarkSettings(input_size=(96, 64), synthetic=5, **settings)


def test_record_of_a_small_detector(small_config):
    record = run_inference(
        small_config, None, noise(), num_warmup=2, repeat_num=2
    )
    json.dumps(record, allow_nan=False)
    settings = record['settings']
    assert settings['images_per_repeat'] == 5 - 2
    assert settings['input_sizes'] == [{'size': [96, 64], 'images': 6}]
    assert record['ms_per_image']['count'] == 6
    assert record['model']['weights'] == 'random'
    assert record['model']['macs'] > 0
    assert record['model']['parameters'] > 0
    # FPS is images over time, so its inverse is the mean time per image.
    mean = sum(1e3 / fps for fps in record['fps']['repeats']) / 2
    assert record['ms_per_image']['mean'] == pytest.approx(mean)
    stages = record['stages_ms_per_image']
    counted = sum(
        stages[stage]['mean']
        for stage in ('preprocessing', 'forward', 'postprocessing')
    )
    assert record['ms_per_image']['mean'] == pytest.approx(counted)
    assert all(times['min'] > 0 for times in stages.values())
    text = record_text(record)
    assert '3 timed x 2 repeats' in text
    assert '96x64' in text


def test_last_smaller_batch_is_weighted_by_its_images(small_config):
    record = run_inference(
        small_config, None, noise(batch_size=2), num_warmup=1
    )
    # 5 images in batches of 2, 2 and 1; the first is warm-up.
    assert record['settings']['images_per_repeat'] == 2 + 1
    assert record['ms_per_image']['count'] == 2


def test_fps_weights_batches_by_size():
    samples = Samples()
    zero = {'loading': 100.0, 'preprocessing': 0.0, 'postprocessing': 0.0}
    samples.add(3, forward=60.0, **zero)
    samples.add(1, forward=40.0, **zero)
    assert samples.fps(include_loading=False) == 4 / 0.1
    assert samples.fps(include_loading=True) == pytest.approx(4 / 0.3)


def test_layout_and_fusing(small_config):
    settings = noise(channels_last=True, fuse_conv_bn=True)
    record = run_inference(small_config, None, settings, num_warmup=1)
    assert record['settings']['channels_last'] is True
    assert record['settings']['fuse_conv_bn'] is True
    assert math.isfinite(record['fps']['mean'])


@pytest.mark.parametrize(
    ('precision', 'dtype'), [('fp32', torch.float32), ('bf16', torch.bfloat16)]
)
def test_precision_is_that_of_the_matrix_products(precision, dtype):
    # Without a model: mmcv's CPU operations have no bf16 kernels.
    benchmark = object.__new__(InferenceBenchmark)
    benchmark.settings = BenchmarkSettings(precision=precision)
    benchmark.clock = Clock(torch.device('cpu'))
    ones = torch.ones(2, 2, requires_grad=True)
    with benchmark._inference_mode():
        product = ones @ ones
    assert product.dtype == dtype
    assert not product.requires_grad


def test_amp_is_what_the_device_does_best():
    assert amp_precision('cpu') == 'bf16'
    assert amp_precision('cuda:1') == 'fp16'


def test_fewer_images_than_warm_up_is_an_error(small_config):
    with pytest.raises(ValueError, match='give 5 iterations.*num_warmup=5'):
        run_inference(small_config, None, noise(), num_warmup=5)


def test_the_speed_is_that_of_the_checkpoint(small_config, tmp_path):
    from mmdet.registry import MODELS

    model = MODELS.build(without_pretrained(small_config.model))
    path = tmp_path / 'model.pth'
    torch.save({'state_dict': model.state_dict()}, path)
    record = run_inference(small_config, str(path), noise(), num_warmup=1)
    assert record['model']['weights'] == 'checkpoint'
    assert record['model']['checkpoint'] == 'model.pth'
    assert len(record['model']['checkpoint_sha256']) == 64


def test_a_network_that_cannot_be_counted_is_still_described(monkeypatch):
    from mmdet_cppe5.benchmark import model as module

    def fail(network):
        raise KeyError('no such layer')

    monkeypatch.setattr(module, 'build_to_count', lambda cfg: nn.Linear(2, 3))
    monkeypatch.setattr(module, 'measure_complexity', fail)
    size = module.describe_size(Config())
    assert size['parameters'] == 2 * 3 + 3
    assert size['macs'] is None
    assert size['macs_note'] == "not counted: KeyError: 'no such layer'"


def test_pretrained_weights_are_not_asked_for():
    model = {
        'backbone': {'init_cfg': {'type': 'Pretrained', 'checkpoint': 'x'}},
        'bbox_head': {'init_cfg': {'type': 'Normal', 'std': 0.01}},
        'heads': [{'pretrained': 'x', 'num_classes': 5}],
        'teacher_ckpt': 'x',
    }
    assert without_pretrained(model) == {
        'backbone': {},
        'bbox_head': {'init_cfg': {'type': 'Normal', 'std': 0.01}},
        'heads': [{'num_classes': 5}],
    }


def test_fixed_size_replaces_the_resize():
    pipeline = [
        {'type': 'LoadImageFromFile'},
        {'type': 'mmdet.Resize', 'scale': (640, 640), 'keep_ratio': True},
        {'type': 'Pad', 'size': (640, 640)},
        {'type': 'PackDetInputs'},
    ]
    fixed = fix_input_size(pipeline, (1333, 800))
    assert [step['type'] for step in fixed] == [
        'LoadImageFromFile',
        'mmdet.Resize',
        'PackDetInputs',
    ]
    assert fixed[1]['scale'] == (1333, 800)
    assert fixed[1]['keep_ratio'] is False
    with pytest.raises(ValueError, match='it has 0'):
        fix_input_size(pipeline[:1], (1333, 800))


def test_a_size_that_no_stride_divides_is_padded(small_config):
    """RTMDet's levels, 1/8 to 1/32, do not meet at 100 x 70 pixels."""
    settings = BenchmarkSettings(input_size=(100, 70), synthetic=3)
    record = run_inference(small_config, None, settings, num_warmup=1)
    sizes = record['settings']['input_sizes']
    assert sizes == [{'size': [128, 96], 'images': 2}]


@pytest.mark.parametrize(
    ('settings', 'message'),
    [
        ({'precision': 'int8'}, 'one of'),
        ({'batch_size': 0}, 'batch_size >= 1'),
        ({'synthetic': 4}, 'need an input_size'),
        ({'synthetic': 0, 'input_size': (8, 8)}, 'at least one'),
    ],
)
def test_contradicting_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        BenchmarkSettings(**settings)


def test_noise_is_the_same_every_time():
    first, again = NoiseImages(2, (7, 5)), NoiseImages(2, (7, 5))
    assert first[0]['inputs'].shape == (3, 5, 7)
    assert torch.equal(first[0]['inputs'], again[1]['inputs'])
    assert len(list(iter(first))) == 2


def test_command_line_writes_and_compares(repo_root, tmp_path):
    tool = repo_root / 'tools' / 'analysis_tools' / 'benchmark.py'
    config = repo_root / 'configs' / 'cppe5' / 'rtmdet_tiny.py'
    options = [f'{key}={value}' for key, value in SMALL.items()]
    options = [option.replace(' ', '') for option in options]
    command = [sys.executable, str(tool), str(config), '--task', 'inference']
    command += ['--synthetic', '4', '--input-size', '64', '64']
    command += ['--num-warmup', '1', '--device', 'cpu', '--batch-size', '1']
    command += ['2', '--out-dir', str(tmp_path), '--cfg-options', *options]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    records = sorted(map(str, tmp_path.glob('*.json')))
    assert [name.split('_')[-1] for name in records] == [
        'batch1.json',
        'batch2.json',
    ]
    done = subprocess.run(
        [sys.executable, str(tool), '--compare', *records],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert 'batch size' in done.stderr


def test_every_config_is_tried_and_failures_are_kept(tmp_path):

    fake = [
        sys.executable,
        '-c',
        'import sys; sys.exit("it broke" if "fcos" in sys.argv[1] else 0)',
    ]
    code = zoo.run_every_config(fake, [], tmp_path, names=['fcos', 'dcn'])
    assert code == 1
    summary = json.loads((tmp_path / 'summary.json').read_text())
    assert list(summary) == ['dcn', 'fcos']
    assert summary['dcn']['ok'] is True
    assert summary['fcos'] == {
        'ok': False,
        'seconds': summary['fcos']['seconds'],
        'error': 'it broke',
    }
    with pytest.raises(ValueError, match='got nope; there are '):
        zoo.config_files(['nope'])
    with pytest.raises(ValueError, match='give --out-dir'):
        zoo.run_every_config(fake, [], None)
