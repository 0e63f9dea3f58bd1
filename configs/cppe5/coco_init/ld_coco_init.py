"""Localization Distillation from COCO weights of the same network, by MMDetection."""

_base_ = '../ld.py'

from mmdet_cppe5.zoo.upstream import coco_checkpoint

model = dict(backbone=dict(init_cfg=None))
load_from = coco_checkpoint('ld/ld_r50-gflv1-r101_fpn_1x_coco.py')
