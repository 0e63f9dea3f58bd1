"""YOLOX-s from COCO weights of the same network, by MMDetection."""

_base_ = '../yolox_s.py'

from mmdet_cppe5.zoo.upstream import coco_checkpoint

model = dict(backbone=dict(init_cfg=None))
load_from = coco_checkpoint('yolox/yolox_s_8xb8-300e_coco.py')
