"""TridentNet from COCO weights of the same network, by MMDetection."""

_base_ = '../tridentnet.py'

from mmdet_cppe5.zoo.upstream import coco_checkpoint

model = dict(
    backbone=dict(init_cfg=None),
    roi_head=dict(shared_head=dict(init_cfg=None)),
)
load_from = coco_checkpoint('tridentnet/tridentnet_r50-caffe_ms-3x_coco.py')
