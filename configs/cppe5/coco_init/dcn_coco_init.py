"""Faster R-CNN with deformable pooling from COCO weights of the same network, by MMDetection."""

_base_ = '../dcn.py'

from mmdet_cppe5.zoo.upstream import coco_checkpoint

model = dict(backbone=dict(init_cfg=None))
load_from = coco_checkpoint('dcnv2/faster-rcnn_r50_fpn_mdpool_1x_coco.py')
