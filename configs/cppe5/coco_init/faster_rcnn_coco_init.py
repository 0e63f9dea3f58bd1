"""Faster R-CNN from COCO weights of the same network, by MMDetection."""

_base_ = '../faster_rcnn.py'

from mmdet_cppe5.zoo.upstream import coco_checkpoint

model = dict(backbone=dict(init_cfg=None))
load_from = coco_checkpoint('faster_rcnn/faster-rcnn_r101_fpn_2x_coco.py')
