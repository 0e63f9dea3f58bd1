"""FSAF from COCO weights of the same network, by MMDetection."""

_base_ = '../fsaf.py'

from mmdet_cppe5.zoo.upstream import coco_checkpoint

model = dict(backbone=dict(init_cfg=None))
load_from = coco_checkpoint('fsaf/fsaf_x101-64x4d_fpn_1x_coco.py')
