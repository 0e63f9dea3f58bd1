"""Faster R-CNN with empirical attention 1111 and DCN, ResNet-50: as released."""

_base_ = [
    'mmdet::empirical_attention/faster-rcnn_r50-attn1111-dcn_fpn_1x_coco.py',
    '../_base_/datasets/cppe5.py',
]

from mmdet_cppe5.zoo.protocol import use_protocol

model = dict(roi_head=dict(bbox_head=dict(num_classes=5)))

globals().update(use_protocol(_base_))
