"""Deformable DETR from COCO weights of the same network, by MMDetection."""

_base_ = '../deformable_detr.py'

from mmdet_cppe5.zoo.upstream import coco_checkpoint

model = dict(backbone=dict(init_cfg=None))
load_from = coco_checkpoint(
    'deformable_detr/deformable-detr-refine_r50_16xb2-50e_coco.py'
)
