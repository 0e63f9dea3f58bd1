"""RepPoints from COCO weights of the same network, by MMDetection."""

_base_ = '../reppoints.py'

from mmdet_cppe5.zoo.upstream import coco_checkpoint

model = dict(backbone=dict(init_cfg=None))
load_from = coco_checkpoint(
    'reppoints/reppoints-moment_r50_fpn-gn_head-gn_2x_coco.py'
)
