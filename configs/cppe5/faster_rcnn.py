"""Faster R-CNN, ResNet-101 FPN, 24 epochs: as released with the paper."""

_base_ = [
    'mmdet::faster_rcnn/faster-rcnn_r101_fpn_2x_coco.py',
    '../_base_/datasets/cppe5.py',
]

from mmdet_cppe5.zoo.protocol import use_protocol

model = dict(roi_head=dict(bbox_head=dict(num_classes=5)))

globals().update(use_protocol(_base_))
