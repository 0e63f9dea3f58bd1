"""SSD 512 from COCO weights of the same network, by MMDetection."""

_base_ = '../ssd512.py'

from mmdet_cppe5.zoo.upstream import coco_checkpoint

model = dict(backbone=dict(init_cfg=None))
load_from = coco_checkpoint('ssd/ssd512_coco.py')
