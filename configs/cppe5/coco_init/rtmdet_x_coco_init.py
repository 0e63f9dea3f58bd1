"""RTMDet-x from COCO weights of the same network, by MMDetection."""

_base_ = '../rtmdet_x.py'

from mmdet_cppe5.zoo.upstream import coco_checkpoint

model = dict(backbone=dict(init_cfg=None))
load_from = coco_checkpoint('rtmdet/rtmdet_x_8xb32-300e_coco.py')
