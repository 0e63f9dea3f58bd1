"""VarifocalNet from COCO weights of the same network, by MMDetection."""

_base_ = '../vfnet.py'

from mmdet_cppe5.zoo.upstream import coco_checkpoint

model = dict(backbone=dict(init_cfg=None))
load_from = coco_checkpoint('vfnet/vfnet_r101-mdconv-c3-c5_fpn_ms-2x_coco.py')
