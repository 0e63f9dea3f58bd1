"""RepPoints (moment), ResNet-50 FPN, group norm, 24 epochs: as released."""

_base_ = [
    'mmdet::reppoints/reppoints-moment_r50_fpn-gn_head-gn_2x_coco.py',
    '../_base_/datasets/cppe5.py',
]

from mmdet_cppe5.zoo.protocol import use_protocol

model = dict(bbox_head=dict(num_classes=5))

globals().update(use_protocol(_base_))
