"""Landmarks through MMDetection: loaded, trained and evaluated."""

import numpy as np
import pytest
import torch
from deepfashion2_builders import raw_item, write_raw
from mmdet.registry import DATASETS
from mmdet.utils import register_all_modules
from mmengine.config import Config
from mmengine.runner import Runner

import mmdet_cppe5.plugin  # noqa: F401
from mmdet_cppe5.deepfashion2.convert import convert

SKIRT = 25 + 33 + 31 + 39 + 15 + 15 + 10 + 14  # its first slot


@pytest.fixture
def config(tmp_path, monkeypatch, repo_root):
    """The example config, small, on two drawn images of two items."""
    register_all_modules()
    landmarks = [value for k in range(8) for value in (10 + k, 20, k % 3)]
    content = {
        'item1': raw_item(9, (10, 20, 10, 60)),  # left out: no width
        'item2': raw_item(9, (10, 20, 40, 60), landmarks=landmarks),
        'item3': raw_item(1, (5, 5, 60, 90)),
    }
    for split in ('train', 'validation'):
        folders = write_raw(tmp_path / split, {1: content, 2: content})
        annotations = tmp_path / 'annotations' / f'{split}.json'
        convert(*folders, annotations, progress=False)
    monkeypatch.setenv('DEEPFASHION2_DATA_ROOT', str(tmp_path))
    name = 'landmark_rcnn_r50.py'
    config = Config.fromfile(repo_root / 'configs' / 'deepfashion2' / name)
    config.model.backbone.update(
        depth=18, base_channels=16, stem_channels=16, init_cfg=None
    )
    config.model.neck.in_channels = [16, 32, 64, 128]
    config.work_dir = str(tmp_path / 'work')
    config.default_scope = 'mmdet'
    for loader in ('train', 'val', 'test'):
        loader = config[f'{loader}_dataloader']
        loader.update(num_workers=0, persistent_workers=False)
        for step in loader.dataset.pipeline:
            if step['type'] == 'Resize':
                step['scale'] = (164, 200)
    return config


def test_landmarks_are_packed_in_the_packed_images_pixels(config):
    dataset = DATASETS.build(config.train_dataloader.dataset)
    sample = dataset[0]['data_samples']
    truth = sample.gt_instances
    # 81 x 100 pixels became 162 x 200.
    assert sample.img_shape == (200, 162)
    assert truth.labels.tolist() == [8, 0]
    assert truth.landmarks.shape == (2, 294, 3)
    skirt = truth.landmarks[0].numpy()
    wanted = [[2 * (10 + k), 40, k % 3] for k in range(8)]
    np.testing.assert_array_equal(skirt[SKIRT : SKIRT + 8], wanted)
    assert not skirt[:SKIRT].any()
    assert not skirt[SKIRT + 8 :].any()


def test_what_landmarks_cannot_follow_is_refused(config):
    dataset = config.train_dataloader.dataset
    flip = {'type': 'RandomFlip', 'prob': 1.0}
    flipped = {**dataset, 'pipeline': [*dataset.pipeline]}
    flipped['pipeline'].insert(3, flip)
    with pytest.raises(ValueError, match='image id 1 not to be flipped'):
        DATASETS.build(flipped)[0]
    bare = {**dataset, 'with_landmarks': False}
    with pytest.raises(ValueError, match='set with_landmarks=True'):
        DATASETS.build(bare)[0]


def test_config_trains_and_evaluates_landmarks(config):
    torch.manual_seed(0)
    config.train_cfg.max_epochs = 1
    config.train_dataloader.batch_size = 2
    config.randomness = {'seed': 0}
    runner = Runner.from_cfg(config)
    head = runner.model.roi_head.mask_head
    before = head.maps.weight.detach().clone()
    runner.train()
    assert not torch.equal(before, head.maps.weight)
    losses = runner.message_hub.get_scalar('train/loss_landmark')
    assert np.isfinite(losses.data[0]).all()
    scores = runner.test()
    assert np.isfinite(scores['deepfashion2/keypoints_AP'])
    assert np.isfinite(scores['deepfashion2/bbox_AP'])
