"""A folder in which every documented command finds the files it names."""

import json
import shutil
import sys
from pathlib import Path

import torch
from builders import speed_record, write
from report_builders import jittered
from tiny_detector import write_workplace

from mmdet_cppe5.cli.main import main

# Builders of other tests; the tests of this folder use them as well.
for _room in ('data', 'deepfashion2'):
    sys.path.append(str(Path(__file__).parent.parent / _room))

from deepfashion2_builders import raw_item, write_raw  # noqa: E402

# Every config that a document names is the tiny one here.
CONFIGS = ('faster_rcnn', 'fcos', 'atss')
CHECKPOINTS = (
    'work_dirs/faster_rcnn/epoch_24.pth',
    'work_dirs/released/fcos.pth',
    'ckpt.pth',
)
RESULTS = ('RESULTS', 'A', 'B', 'C', 'results', 'mine', 'baseline', 'a.bbox',
           'b.bbox', 'c.bbox', 'work_dirs/demo/results.bbox')  # fmt: skip
FASHION_CONFIGS = ('faster_rcnn_r50', 'mask_rcnn_r50', 'landmark_rcnn_r50')


def build_stage(folder, repo_root, drawn):
    """Fill a folder.

    Args:
        folder: where the commands will run.
        repo_root: the project, whose tools and scripts are linked.
        drawn: root of a drawn data set.
    """
    write_workplace(folder, repo_root)
    tiny = (folder / 'tiny.py').read_text()
    shutil.rmtree(folder / 'data')
    for name in ('tools', 'scripts', 'benchmarks'):
        (folder / name).symlink_to(repo_root / name)
    for config in CONFIGS:
        _put(folder / f'configs/cppe5/{config}.py', tiny)
    _put_checkpoints(folder)
    for place in ('data/cppe5', 'work_dirs/demo/data'):
        shutil.copytree(drawn, folder / place)
    test = 'data/cppe5/annotations/test.json'
    truth = json.loads((folder / test).read_text())
    for name in ('GT', 'test', 'val'):
        shutil.copy(folder / test, folder / f'{name}.json')
    for seed, name in enumerate(RESULTS):
        write(folder / f'{name}.json', jittered(truth, seed))
    for name in ('a', 'b', 'mine_speed', 'baseline_speed'):
        write(folder / f'{name}.json', speed_record(name[0]))
    for name in ('images', 'photos', 'PHOTOS'):
        shutil.copytree(folder / 'data/cppe5/images', folder / name)
    _convertible(folder, truth)
    _fashion(folder / 'fashion', folder, tiny)


def _put(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def _put_checkpoints(folder):
    from mmdet.registry import MODELS
    from mmengine.config import Config
    from mmengine.registry import init_default_scope

    init_default_scope('mmdet')
    model = MODELS.build(Config.fromfile(folder / 'tiny.py').model)
    for name in CHECKPOINTS:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        content = {'state_dict': model.state_dict(), 'meta': {}}
        torch.save(content, folder / name)


def _convertible(folder, truth):
    """YOLO, VOC and Ultralytics files of the same annotations."""
    annotations, images = str(folder / 'test.json'), str(folder / 'images')
    for place, split in (
        (folder, 'val'),
        (folder / 'data/cppe5_yolo', 'test'),
    ):
        options = ['--split', split, '--images', images]
        assert not main(
            ['convert', 'to-yolo', annotations, str(place), *options]
        )
    predictions = [
        {
            'image_id': str(item['image_id']),
            'category_id': item['category_id'],
            'bbox': item['bbox'],
            'score': 0.5,
        }
        for item in truth['annotations']
    ]
    write(folder / 'predictions.json', predictions)
    first = truth['images'][0]
    _put(
        folder / 'xml' / 'photo.xml',
        f'<annotation><filename>{first["file_name"]}</filename><size>'
        f'<width>{first["width"]}</width><height>{first["height"]}</height>'
        '<depth>3</depth></size><object><name>Mask</name><bndbox>'
        '<xmin>1</xmin><ymin>1</ymin><xmax>9</xmax><ymax>9</ymax>'
        '</bndbox></object></annotation>',
    )


def _fashion(folder, stage, tiny):
    """DeepFashion2: a skirt in a user's image 1, again in a shop's image 2."""
    user = {'item1': raw_item(), 'source': 'user', 'pair_id': 3}
    shop = {'item1': raw_item(v=1), 'source': 'shop', 'pair_id': 3}
    for place in (
        '.',
        'data/deepfashion2/train',
        'data/deepfashion2/validation',
    ):
        write_raw(folder / place, {1: user, 2: shop})
    names = {
        'out': 'validation',
        'queries-out': 'val_query',
        'gallery-out': 'val_gallery',
    }
    options = [
        word
        for option, name in names.items()
        for word in (f'--{option}', str(folder / f'{name}.json'))
    ]
    raw = [str(folder / 'annos'), str(folder / 'image')]
    assert not main(['deepfashion2-convert', *raw, *options])
    annotations = folder / 'data/deepfashion2/annotations'
    annotations.mkdir()
    shutil.copy(folder / 'validation.json', annotations)
    truth = json.loads((folder / 'validation.json').read_text())
    for name, key in (('results', 'bbox'), ('landmarks', 'keypoints')):
        kept = ('image_id', 'category_id', key)
        entries = [
            {**{k: item[k] for k in kept}, 'score': 0.9}
            for item in truth['annotations']
        ]
        write(folder / f'{name}.json', entries)
    retrieved = {
        'query_image_id': 1,
        'query_bbox': [10, 20, 40, 60],
        'query_cls': 9,
        'query_score': 0.5,
        'gallery_image_id': [2],
        'gallery_bbox': [[10, 20, 40, 60]],
    }
    write(folder / 'retrieval_results.json', [retrieved])
    (folder / 'tools').symlink_to(stage / 'tools')
    for config in FASHION_CONFIGS:
        _put(folder / f'configs/deepfashion2/{config}.py', tiny)
