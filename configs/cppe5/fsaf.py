"""FSAF, ResNeXt-101-64x4d FPN, 12 epochs: as released."""

_base_ = [
    'mmdet::fsaf/fsaf_x101-64x4d_fpn_1x_coco.py',
    '../_base_/datasets/cppe5.py',
]

from mmdet_cppe5.zoo.protocol import use_protocol

model = dict(bbox_head=dict(num_classes=5))

globals().update(use_protocol(_base_))
