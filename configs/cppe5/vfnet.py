"""VarifocalNet, ResNet-101 with DCNv2, 24 epochs: as released."""

_base_ = [
    'mmdet::vfnet/vfnet_r101-mdconv-c3-c5_fpn_ms-2x_coco.py',
    '../_base_/datasets/cppe5.py',
]

from mmdet_cppe5.zoo.protocol import use_protocol

model = dict(bbox_head=dict(num_classes=5))

globals().update(use_protocol(_base_))
