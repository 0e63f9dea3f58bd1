"""Double-Head R-CNN from COCO weights of the same network, by MMDetection."""

_base_ = '../double_heads.py'

from mmdet_cppe5.zoo.upstream import coco_checkpoint

model = dict(backbone=dict(init_cfg=None))
load_from = coco_checkpoint('double_heads/dh-faster-rcnn_r50_fpn_1x_coco.py')
