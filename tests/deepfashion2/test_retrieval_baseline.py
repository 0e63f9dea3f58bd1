"""The retrieval baseline from pictures to accuracies, on a drawn pair set.

Three garments, each worn by a user and sold by a shop, in other places and
sizes. The detector's weights are random, so the boxes are given; what is
tested is the way from them to the accuracies.
"""

import json

import numpy as np
import pytest
import torch
from deepfashion2_builders import raw_item
from mmdet.models.roi_heads import StandardRoIHead
from mmengine.config import Config
from mmengine.runner import Runner
from mmengine.structures import InstanceData
from PIL import Image

from mmdet_cppe5.deepfashion2.convert import convert
from mmdet_cppe5.deepfashion2.query_and_gallery import queries_and_gallery
from mmdet_cppe5.deepfashion2.retrieval_scores import evaluate_retrieval_files
from mmdet_cppe5.files import read_json, write_json

# Image id -> whose it is, the pair, the picture's size, the garment's box.
PICTURES = {
    1: ('user', 11, (200, 160), (30, 20, 110, 140)),
    2: ('user', 12, (160, 240), (20, 60, 120, 200)),
    3: ('user', 13, (220, 160), (90, 10, 200, 150)),
    4: ('shop', 13, (140, 180), (20, 20, 120, 150)),
    5: ('shop', 11, (260, 200), (60, 30, 200, 180)),
    6: ('shop', 12, (200, 200), (40, 20, 160, 190)),
}
CLOTH = {11: (200, 40, 40), 12: (30, 60, 200), 13: (240, 220, 60)}


def picture(pair, size, box):
    """A garment of a colour of its own on a grey background."""
    pixels = np.full((size[1], size[0], 3), 128, dtype=np.uint8)
    x1, y1, x2, y2 = box
    pixels[y1:y2, x1:x2] = CLOTH[pair]
    return Image.fromarray(pixels)


@pytest.fixture
def pair_set(tmp_path, monkeypatch):
    """A validation set with its query and gallery files."""
    folders = [tmp_path / 'validation' / name for name in ('annos', 'image')]
    for folder in folders:
        folder.mkdir(parents=True)
    for number, (source, pair, size, box) in PICTURES.items():
        raw = {'source': source, 'pair_id': pair, 'item1': raw_item(1, box)}
        write_json(folders[0] / f'{number:06}.json', raw)
        picture(pair, size, box).save(
            folders[1] / f'{number:06}.jpg', quality=95
        )
    annotations = tmp_path / 'annotations'
    convert(*folders, annotations / 'validation.json', progress=False)
    coco = read_json(annotations / 'validation.json', 'annotations')
    queries, gallery = queries_and_gallery(coco)
    write_json(annotations / 'validation_query.json', queries)
    write_json(annotations / 'validation_gallery.json', gallery)
    monkeypatch.setenv('DEEPFASHION2_DATA_ROOT', str(tmp_path))
    return tmp_path


def annotated_boxes(
    head, x, batch_img_metas, rpn_results_list, rcnn_test_cfg, rescale=False
):
    """Stand in for the detector: every garment, found exactly."""
    assert rescale
    return [
        InstanceData(
            bboxes=torch.tensor([PICTURES[meta['img_id']][3]]).float(),
            scores=torch.tensor([0.9]),
            labels=torch.tensor([0]),
        )
        for meta in batch_img_metas
    ]


def small_config(repo_root, work_dir):
    """The example config with a small backbone and small images."""
    name = 'retrieval_faster_rcnn_r50.py'
    config = Config.fromfile(repo_root / 'configs' / 'deepfashion2' / name)
    config.work_dir = str(work_dir)
    config.default_scope = 'mmdet'
    config.model.backbone.update(
        depth=18, base_channels=16, stem_channels=16, init_cfg=None
    )
    config.model.neck.in_channels = [16, 32, 64, 128]
    config.test_dataloader.update(num_workers=0, persistent_workers=False)
    for step in config.test_dataloader.dataset.get('pipeline', []):
        if step.type == 'Resize':
            step.scale = (320, 240)
    return config


def test_identical_garments_come_first(
    pair_set, repo_root, tmp_path, monkeypatch
):
    monkeypatch.setattr(StandardRoIHead, 'predict_bbox', annotated_boxes)
    torch.manual_seed(0)
    config = small_config(repo_root, tmp_path / 'work')
    results = tmp_path / 'results.json'
    config.test_evaluator.results_file = str(results)
    got = Runner.from_cfg(config).test()
    assert got['deepfashion2/top-1'] == 100
    assert got['deepfashion2/missed'] == 0

    # The official file says the same, and in original pixels.
    entries = json.loads(results.read_text())
    assert [entry['query_image_id'] for entry in entries] == [1, 2, 3]
    first = [entry['gallery_image_id'][0] for entry in entries]
    assert first == [5, 6, 4]
    for entry in entries:
        assert len(entry['gallery_image_id']) == 3
        assert entry['query_bbox'] == list(
            PICTURES[entry['query_image_id']][3]
        )
        assert entry['gallery_bbox'][0] == list(
            PICTURES[entry['gallery_image_id'][0]][3]
        )
    annotations = pair_set / 'annotations'
    files = [
        annotations / f'validation_{name}.json'
        for name in ('query', 'gallery')
    ]
    outcome = evaluate_retrieval_files(*files, results)
    assert outcome.result.ranks.tolist() == [0, 0, 0]
