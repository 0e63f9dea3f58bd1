"""DINO, Swin-L, from COCO weights of the same network, by MMDetection."""

_base_ = '../dino_swin_l.py'

from mmdet_cppe5.zoo.upstream import coco_checkpoint

model = dict(backbone=dict(init_cfg=None))
load_from = coco_checkpoint('dino/dino-5scale_swin-l_8xb2-12e_coco.py')
