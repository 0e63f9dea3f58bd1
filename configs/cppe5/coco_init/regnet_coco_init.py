"""Faster R-CNN on RegNetX-3.2GF from COCO weights of the same network, by MMDetection."""

_base_ = '../regnet.py'

from mmdet_cppe5.zoo.upstream import coco_checkpoint

model = dict(backbone=dict(init_cfg=None))
load_from = coco_checkpoint('regnet/faster-rcnn_regnetx-3.2GF_fpn_2x_coco.py')
