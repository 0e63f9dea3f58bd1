"""Faster R-CNN with empirical attention from COCO weights of the same network, by MMDetection."""

_base_ = '../empirical_attention.py'

from mmdet_cppe5.zoo.upstream import coco_checkpoint

model = dict(backbone=dict(init_cfg=None))
load_from = coco_checkpoint(
    'empirical_attention/faster-rcnn_r50-attn1111-dcn_fpn_1x_coco.py'
)
