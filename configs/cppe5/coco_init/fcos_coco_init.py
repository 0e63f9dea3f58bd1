"""FCOS from COCO weights of the same network, by MMDetection."""

_base_ = '../fcos.py'

from mmdet_cppe5.zoo.upstream import coco_checkpoint

model = dict(backbone=dict(init_cfg=None))
load_from = coco_checkpoint(
    'fcos/fcos_r101-caffe_fpn_gn-head_ms-640-800-2x_coco.py'
)
