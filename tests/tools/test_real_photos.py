"""The paper's Faster R-CNN on the 29 public test photos."""

import pytest
import torch
from builders import logged_scores
from mmdet.registry import MODELS
from mmengine.config import Config
from mmengine.registry import init_default_scope

from mmdet_cppe5.classes import CLASSES
from mmdet_cppe5.engine.mmdet_tools import run_mmdet_tool


def write_random_weights(config, path):
    init_default_scope('mmdet')
    torch.manual_seed(0)
    settings = Config.fromfile(config).model
    settings.backbone.init_cfg = None  # no download of ImageNet's weights
    model = MODELS.build(settings)
    model.init_weights()
    torch.save({'state_dict': model.state_dict(), 'meta': {}}, path)


@pytest.mark.slow
def test_faster_rcnn_with_random_weights(
    test_data, repo_root, tmp_path, monkeypatch
):
    monkeypatch.setenv('CPPE5_DATA_ROOT', str(test_data / 'cppe5'))
    config = repo_root / 'configs' / 'cppe5' / 'faster_rcnn.py'
    weights = tmp_path / 'random.pth'
    write_random_weights(config, weights)
    run_mmdet_tool(
        'test.py', [str(config), str(weights), '--work-dir', str(tmp_path)]
    )
    scores = logged_scores(tmp_path)
    # Guessing finds next to nothing, but every key is there.
    assert 0 <= scores['cppe5/AP'] < 1
    assert {f'cppe5/AP_{name}' for name in CLASSES} <= set(scores)
