"""DDQ-DETR from COCO weights of the same network, by MMDetection."""

_base_ = '../ddq_detr_r50.py'

from mmdet_cppe5.zoo.upstream import coco_checkpoint

model = dict(backbone=dict(init_cfg=None))
load_from = coco_checkpoint('ddq/ddq-detr-4scale_r50_8xb2-12e_coco.py')
