"""tools/train.py and tools/test.py, from end to end on a tiny detector."""

import json
import os
import subprocess
import sys

import pytest
import torch
from builders import annotation, coco_dataset, logged_scores
from mmdet.apis import DetInferencer, inference_detector, init_detector
from PIL import Image, ImageDraw

from mmdet_cppe5.classes import CLASSES, PALETTE
from mmdet_cppe5.engine.checkpoint import load_checkpoint_file
from mmdet_cppe5.engine.mmdet_tools import run_mmdet_tool

CONFIG = """
_base_ = [
    'mmdet::_base_/datasets/coco_detection.py',
    'mmdet::_base_/default_runtime.py',
    '{configs}/_base_/datasets/cppe5.py',
]
from mmdet_cppe5.zoo.protocol import use_protocol
model = dict(
    type='RetinaNet',
    data_preprocessor=dict(type='DetDataPreprocessor', pad_size_divisor=32),
    backbone=dict(type='ResNet', depth=18, base_channels=8,
                  out_indices=(2, 3)),
    neck=dict(type='FPN', in_channels=[32, 64], out_channels=8, num_outs=2),
    bbox_head=dict(
        type='RetinaHead', num_classes=5, in_channels=8, feat_channels=8,
        stacked_convs=1,
        anchor_generator=dict(type='AnchorGenerator', ratios=[1.0],
                              octave_base_scale=4, scales_per_octave=1,
                              strides=[16, 32]),
        bbox_coder=dict(type='DeltaXYWHBBoxCoder')),
    train_cfg=dict(assigner=dict(type='MaxIoUAssigner', pos_iou_thr=0.5,
                                 neg_iou_thr=0.4, min_pos_iou=0),
                   sampler=dict(type='PseudoSampler'),
                   allowed_border=-1, pos_weight=-1, debug=False),
    test_cfg=dict(nms_pre=100, score_thr=0.0, max_per_img=20,
                  nms=dict(type='nms', iou_threshold=0.5)))
# The pipelines of the base, without its enlargement to 1333 x 800.
train_pipeline = _base_.train_pipeline
train_pipeline[2].update(scale=(96, 64))
test_pipeline = _base_.test_pipeline
test_pipeline[1].update(scale=(96, 64))
globals().update(use_protocol(_base_, train=dict(pipeline=train_pipeline),
                              test=dict(pipeline=test_pipeline)))
train_dataloader.update(num_workers=0, persistent_workers=False)
val_dataloader.update(num_workers=0, persistent_workers=False)
test_dataloader.update(num_workers=0, persistent_workers=False)
train_cfg = dict(type='EpochBasedTrainLoop', max_epochs=1)
val_cfg = dict(type='ValLoop')
test_cfg = dict(type='TestLoop')
optim_wrapper = dict(type='OptimWrapper',
                     optimizer=dict(type='SGD', lr=0.001, momentum=0.9))
auto_scale_lr = dict(base_batch_size=16)
"""


@pytest.fixture(scope='module')
def workplace(tmp_path_factory, repo_root):
    """A tiny data set and a config, used from a folder of their own."""
    folder = tmp_path_factory.mktemp('tools')
    (folder / 'data' / 'annotations').mkdir(parents=True)
    (folder / 'data' / 'images').mkdir()
    boxes = []
    for image_id in range(1, 5):
        picture = Image.new('RGB', (96, 64), 'white')
        corners = [8 * image_id, 8, 8 * image_id + 40, 48]
        ImageDraw.Draw(picture).rectangle(corners, PALETTE[image_id])
        picture.save(folder / 'data' / 'images' / f'{image_id}.png')
        boxes.append(annotation(image_id, image_id, [*corners[:2], 40, 40]))
    data = coco_dataset(
        boxes,
        image_ids=range(1, 5),
        categories=dict(enumerate(CLASSES, start=1)),
    )
    for image in data['images']:
        image.update(width=96, height=64)
    for name in ('train', 'test'):
        path = folder / 'data' / 'annotations' / f'{name}.json'
        path.write_text(json.dumps(data))
    (folder / 'tiny.py').write_text(
        CONFIG.format(configs=repo_root / 'configs')
    )
    before = os.getcwd(), os.environ.get('CPPE5_DATA_ROOT')
    os.chdir(folder)
    os.environ['CPPE5_DATA_ROOT'] = str(folder / 'data')
    yield folder
    os.chdir(before[0])
    del os.environ['CPPE5_DATA_ROOT']
    if before[1] is not None:
        os.environ['CPPE5_DATA_ROOT'] = before[1]


@pytest.fixture(scope='module')
def trained(workplace):
    """The checkpoint of one epoch."""
    run_mmdet_tool('train.py', ['tiny.py', '--work-dir', 'run'])
    return workplace / 'run' / 'epoch_1.pth'


def test_training_leaves_a_checkpoint_that_loads(trained):
    saved = load_checkpoint_file(trained)
    assert saved['meta']['dataset_meta']['classes'] == CLASSES
    assert saved['meta']['iter'] == 2
    assert list(trained.parent.glob('best_cppe5_AP_epoch_1.pth'))


def test_resume_goes_on_where_training_stopped(trained):
    run_mmdet_tool(
        'train.py',
        ['tiny.py', '--work-dir', 'run', '--resume',
         '--cfg-options', 'train_cfg.max_epochs=2'],
    )  # fmt: skip
    saved = load_checkpoint_file(trained.parent / 'epoch_2.pth')
    assert saved['meta']['iter'] == 4


def test_testing_scores_dumps_and_draws(trained, workplace):
    run_mmdet_tool(
        'test.py',
        ['tiny.py', str(trained), '--work-dir', 'tested', '--out', 'out.pkl',
         '--show-dir', 'drawn', '--cfg-options', 'randomness.seed=0'],
    )  # fmt: skip
    found = logged_scores(workplace / 'tested')
    assert {'cppe5/AP', 'cppe5/AP50', 'cppe5/AR100'} <= set(found)
    assert (workplace / 'out.pkl').stat().st_size > 0
    assert len(list((workplace / 'tested').glob('*/drawn/*.png'))) == 4


def test_test_time_augmentation_runs(trained, workplace):
    run_mmdet_tool(
        'test.py', ['tiny.py', str(trained), '--work-dir', 'tta', '--tta']
    )
    assert 'cppe5/AP' in logged_scores(workplace / 'tta')


def test_commands_work_as_written_from_another_folder(
    trained, workplace, tmp_path, repo_root
):
    done = subprocess.run(
        [sys.executable, repo_root / 'tools' / 'test.py',
         workplace / 'tiny.py', trained, '--work-dir', tmp_path / 'work'],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert 'Coverall' in done.stdout  # the table of scores
    assert 'cppe5/AP' in logged_scores(tmp_path / 'work')


@pytest.mark.parametrize('name', ['train.py', 'test.py'])
def test_help_is_that_of_mmdetection(name, capsys):
    with pytest.raises(SystemExit):
        run_mmdet_tool(name, ['--help'])
    shown = capsys.readouterr().out
    assert f'usage: {name}' in shown
    for option in ('--work-dir', '--cfg-options', '--launcher'):
        assert option in shown


def test_unknown_tool_is_named():
    with pytest.raises(FileNotFoundError, match=r'nothing\.py'):
        run_mmdet_tool('nothing.py', [])


def test_inference_apis_load_the_checkpoint(trained):
    expected = load_checkpoint_file(trained)['state_dict']
    picture = 'data/images/1.png'
    inferencer = DetInferencer(
        'tiny.py', str(trained), device='cpu', show_progress=False
    )
    first = inferencer(picture, no_save_vis=True)['predictions'][0]
    model = init_detector('tiny.py', str(trained), device='cpu')
    assert model.dataset_meta['classes'] == CLASSES
    for name, value in model.state_dict().items():
        assert torch.equal(value, expected[name]), name
    second = inference_detector(model, picture).pred_instances
    assert first['scores'] == second.scores.tolist()


def test_a_file_that_would_run_a_command_is_refused(workplace, tmp_path):
    class Attack:
        def __reduce__(self):
            return os.system, (f'touch {tmp_path}/marker',)

    torch.save({'state_dict': {}, 'meta': Attack()}, tmp_path / 'bad.pth')
    with pytest.raises(ValueError, match=r'bad\.pth, but it asks for .*syst'):
        run_mmdet_tool('test.py', ['tiny.py', str(tmp_path / 'bad.pth')])
    assert not (tmp_path / 'marker').exists()
