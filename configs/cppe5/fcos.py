"""FCOS, ResNet-101 (Caffe) FPN, group-norm head, 24 epochs: as released."""

_base_ = [
    'mmdet::fcos/fcos_r101-caffe_fpn_gn-head_ms-640-800-2x_coco.py',
    '../_base_/datasets/cppe5.py',
]

from mmdet_cppe5.zoo.protocol import use_protocol

model = dict(bbox_head=dict(num_classes=5))

globals().update(use_protocol(_base_))
