"""RTMDet-tiny from COCO weights of the same network, by MMDetection."""

_base_ = '../rtmdet_tiny.py'

from mmdet_cppe5.zoo.upstream import coco_checkpoint

model = dict(backbone=dict(init_cfg=None))
load_from = coco_checkpoint('rtmdet/rtmdet_tiny_8xb32-300e_coco.py')
