"""Every config's own pipelines read the drawn data set."""

import pytest
import torch
import zoo_models
from mmdet.registry import DATASETS
from mmengine.registry import init_default_scope

import mmdet_cppe5.plugin  # noqa: F401
from mmdet_cppe5.classes import CLASSES
from mmdet_cppe5.drawn import write_drawn_dataset

NAMES = [*zoo_models.PAPER, *zoo_models.MODERN]


@pytest.fixture(scope='module')
def drawn(tmp_path_factory):
    root = tmp_path_factory.mktemp('drawn')
    write_drawn_dataset(root, num_train=3, num_test=2)
    return root


def build(dataset, root):
    """Build a data set that reads from ``root``, through any wrapper."""
    init_default_scope('mmdet')
    settings = dataset.to_dict()

    def redirect(part):
        if part.get('data_root'):
            part['data_root'] = f'{root}/'
        for inner in [part.get('dataset'), *part.get('datasets', [])]:
            if inner:
                redirect(inner)

    redirect(settings)
    return DATASETS.build(settings)


@pytest.mark.parametrize('name', NAMES)
def test_pipelines_read_the_drawn_data(name, drawn):
    config = zoo_models.load(name)

    train = build(config.train_dataloader.dataset, drawn)
    test = build(config.test_dataloader.dataset, drawn)

    repeats = 5 if name == 'ssd512' else 1
    assert (len(train), len(test)) == (repeats * 3, 2)
    assert train.metainfo['classes'] == CLASSES
    for dataset in (train, test):
        item = dataset[0]
        assert item['inputs'].dtype in (torch.uint8, torch.float32)
        assert item['inputs'].shape[0] == 3
        height, width = item['inputs'].shape[1:]
        assert item['data_samples'].img_shape[:2] == (height, width)
    boxes = item['data_samples'].gt_instances
    assert len(boxes) > 0
    assert set(boxes.labels.tolist()) <= set(range(5))
    if 'grounding' in name:
        assert item['data_samples'].text == CLASSES
