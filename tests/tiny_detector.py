"""A detector so small that it trains in a second, and pictures for it."""

import json

from builders import annotation, coco_dataset
from PIL import Image, ImageDraw

from mmdet_cppe5.classes import CLASSES, PALETTE

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
auto_scale_lr = dict(enable=False, base_batch_size=16)
"""


def write_workplace(folder, repo_root, images=4):
    """Write ``tiny.py`` and ``data/``, one coloured square a picture."""
    (folder / 'data' / 'annotations').mkdir(parents=True)
    (folder / 'data' / 'images').mkdir()
    boxes = []
    for image_id in range(1, images + 1):
        place = (image_id - 1) % 4 + 1
        picture = Image.new('RGB', (96, 64), 'white')
        corners = [8 * place, 8, 8 * place + 40, 48]
        ImageDraw.Draw(picture).rectangle(corners, PALETTE[place])
        picture.save(folder / 'data' / 'images' / f'{image_id}.png')
        boxes.append(annotation(image_id, place, [*corners[:2], 40, 40]))
    data = coco_dataset(
        boxes,
        image_ids=range(1, images + 1),
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
