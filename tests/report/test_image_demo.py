"""tools/image_demo.py on a folder, files and a video, with bad ones."""

import json

import cv2
import numpy as np
import pytest
import torch
from mmdet.apis import init_detector
from mmengine.config import Config
from PIL import Image

from mmdet_cppe5.classes import CLASSES

CONFIG = """
custom_imports = dict(imports=['mmdet_cppe5.plugin'])
default_scope = 'mmdet'
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
    test_cfg=dict(nms_pre=100, score_thr=0.0, max_per_img=3,
                  nms=dict(type='nms', iou_threshold=0.5)))
test_dataloader = dict(dataset=dict(
    type='CPPE5Dataset', ann_file='none.json', test_mode=True,
    pipeline=[
        dict(type='LoadImageFromFile'),
        dict(type='Resize', scale=(96, 64), keep_ratio=True),
        dict(type='PackDetInputs',
             meta_keys=('img_id', 'ori_shape', 'img_shape', 'scale_factor')),
    ]))
visualizer = dict(type='DetLocalVisualizer', name='image_demo_test')
"""


@pytest.fixture(scope='module')
def demo(tool):
    return tool('image_demo')


@pytest.fixture(scope='module')
def detector(tmp_path_factory):
    """A config and a checkpoint of random weights."""
    folder = tmp_path_factory.mktemp('detector')
    config = folder / 'tiny.py'
    config.write_text(CONFIG)
    torch.manual_seed(0)
    model = init_detector(Config.fromfile(config), device='cpu')
    saved = {
        'state_dict': model.state_dict(),
        'meta': {'dataset_meta': {'classes': CLASSES}},
    }
    torch.save(saved, folder / 'tiny.pth')
    return str(config), str(folder / 'tiny.pth')


@pytest.fixture(scope='module')
def outcome(demo, detector, tmp_path_factory):
    """Run the demo on a folder with good and bad files, and on a video."""
    folder = tmp_path_factory.mktemp('photos')
    out = tmp_path_factory.mktemp('out')
    rng = np.random.default_rng(0)
    (folder / 'ward' / 'a').mkdir(parents=True)
    pixels = rng.integers(0, 255, (64, 96, 3), dtype=np.uint8)
    for name in ('ward/one.png', 'ward/a/one.png', 'ward/<script>.jpg'):
        Image.fromarray(pixels).save(folder / name)
    (folder / 'ward' / 'notes.txt').write_text('not a picture')
    half = (folder / 'ward' / 'one.png').read_bytes()[:300]
    (folder / 'ward' / 'half.png').write_bytes(half)
    video = cv2.VideoWriter(
        str(folder / 'walk.avi'),
        cv2.VideoWriter_fourcc(*'MJPG'),
        10,
        (96, 64),
    )
    for _ in range(7):
        video.write(pixels)
    video.release()
    (folder / 'broken.mp4').write_bytes(b'no video')
    inputs = ['ward', 'walk.avi', 'broken.mp4', 'absent.png']
    code = demo.main(
        [
            *(str(folder / name) for name in inputs),
            *detector,
            '--out-dir',
            str(out),
            '--score-thr',
            '0.0',
            '--every',
            '3',
            '--device',
            'cpu',
        ]
    )
    return code, out


NAMES = [
    '<script>.jpg',
    'a/one.png',
    'one.png',
    'walk.avi#000000',
    'walk.avi#000003',
    'walk.avi#000006',
]


def test_every_readable_picture_is_drawn(outcome):
    code, out = outcome
    assert code == 0
    drawn = sorted(path.name for path in (out / 'pictures').iterdir())
    assert len(drawn) == 6
    assert {'one.png.jpg', 'a_one.png.jpg'} <= set(drawn)
    with Image.open(out / 'pictures' / 'one.png.jpg') as picture:
        assert picture.size == (96, 64)


def test_results_are_in_coco_form(outcome):
    _, out = outcome
    images = json.loads((out / 'images.json').read_text())
    assert [image['file_name'] for image in images['images']] == NAMES
    assert [c['name'] for c in images['categories']] == list(CLASSES)
    results = json.loads((out / 'results.bbox.json').read_text())
    assert {each['image_id'] for each in results} == {1, 2, 3, 4, 5, 6}
    # One picture under two names has the same detections.
    second, third = (
        [each['bbox'] for each in results if each['image_id'] == number]
        for number in (2, 3)
    )
    assert second == third
    assert all(each['bbox'][2] >= 0 for each in results)


def test_unreadable_files_are_listed_at_the_end(outcome, demo, detector):
    _, out = outcome
    text = (out / 'index.html').read_text()
    part = text[text.index('id="unreadable"') :]
    for name in ('notes.txt', 'half.png', 'broken.mp4', 'absent.png'):
        assert f'<dt>{name}</dt>' in part


def test_nothing_readable_is_exit_code_1(demo, detector, tmp_path, capsys):
    arguments = [str(tmp_path / 'no.png'), *detector]
    code = demo.main([*arguments, '--out-dir', str(tmp_path / 'out')])
    assert code == 1
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == '  no.png: no such file'


def test_page_opens_without_a_fault(outcome, open_page):
    _, out = outcome
    page, faults = open_page(out / 'index.html')
    assert page.locator('.card').count() == 6
    first = page.locator('.card .where').first
    assert first.inner_text() == '<script>.jpg'
    page.locator('.card button').first.click()
    assert page.locator('#lightbox-title').inner_text() == '<script>.jpg'
    assert page.locator('.stage rect.det').count() == 3
    assert faults == []
