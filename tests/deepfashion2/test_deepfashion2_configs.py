"""The example configs, on a drawn data set in DeepFashion2's layout."""

import pytest
from deepfashion2_builders import raw_item, write_raw
from mmdet.registry import DATASETS, METRICS, MODELS
from mmdet.utils import register_all_modules
from mmengine.config import Config

from mmdet_cppe5.deepfashion2.categories import CLASSES
from mmdet_cppe5.deepfashion2.convert import convert


@pytest.fixture
def data_root(tmp_path, monkeypatch):
    content = {'item1': raw_item(9), 'item2': raw_item(1)}
    for split in ('train', 'validation'):
        folders = write_raw(tmp_path / split, {1: content, 2: content})
        convert(*folders, tmp_path / 'annotations' / f'{split}.json')
    monkeypatch.setenv('DEEPFASHION2_DATA_ROOT', str(tmp_path))
    return tmp_path


@pytest.mark.parametrize(
    ('name', 'tasks'),
    [('faster_rcnn_r50', ('bbox',)), ('mask_rcnn_r50', ('bbox', 'segm'))],
)
def test_config_builds_what_it_names(data_root, repo_root, name, tasks):
    register_all_modules()
    path = repo_root / 'configs' / 'deepfashion2' / f'{name}.py'
    config = Config.fromfile(path)
    config.model.backbone.init_cfg = None
    model = MODELS.build(config.model)
    assert model.roi_head.bbox_head.num_classes == len(CLASSES)
    assert model.with_mask == ('segm' in tasks)
    if model.with_mask:
        assert model.roi_head.mask_head.num_classes == len(CLASSES)

    train = DATASETS.build(config.train_dataloader.dataset)
    truth = train[0]['data_samples'].gt_instances
    assert sorted(truth.labels.tolist()) == [0, 8]
    assert ('masks' in truth) == model.with_mask
    assert len(DATASETS.build(config.test_dataloader.dataset)) == 2

    metric = METRICS.build(config.val_evaluator)
    metric.dataset_meta = train.metainfo
    assert metric.tasks == tasks
