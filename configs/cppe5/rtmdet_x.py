"""RTMDet-x, 300 epochs."""

_base_ = [
    'mmdet::rtmdet/rtmdet_x_8xb32-300e_coco.py',
    '../_base_/datasets/cppe5.py',
]

from mmdet_cppe5.zoo.protocol import use_protocol

model = dict(bbox_head=dict(num_classes=5))

globals().update(use_protocol(_base_))

# Upstream's 1000 iterations are most of the 1200 of 300 epochs at batch 256,
# and its absolute eta_min stays where --auto-scale-lr lowers the rate.
param_scheduler = [
    dict(_base_.param_scheduler[0], end=100),
    dict(_base_.param_scheduler[1], eta_min=None, eta_min_ratio=0.05),
]
# Upstream inherits 16, while its learning rate belongs to 8 x 32 images.
auto_scale_lr = dict(base_batch_size=256)
