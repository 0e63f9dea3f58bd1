"""YOLOX-s, 300 epochs."""

_base_ = [
    'mmdet::yolox/yolox_s_8xb8-300e_coco.py',
    '../_base_/datasets/cppe5.py',
]

from mmdet_cppe5.zoo.protocol import use_protocol

model = dict(bbox_head=dict(num_classes=5))

globals().update(use_protocol(_base_))

# Upstream's absolute eta_min stays where --auto-scale-lr lowers the rate.
param_scheduler = [
    _base_.param_scheduler[0],
    dict(_base_.param_scheduler[1], eta_min=None, eta_min_ratio=0.05),
    _base_.param_scheduler[2],
]
