"""DINO (5 scales), Swin-L, 12 epochs."""

_base_ = [
    'mmdet::dino/dino-5scale_swin-l_8xb2-12e_coco.py',
    '../_base_/datasets/cppe5.py',
]

from mmdet_cppe5.zoo.protocol import use_protocol

model = dict(bbox_head=dict(num_classes=5))

globals().update(use_protocol(_base_))

# Upstream leaves `enable` out, and --auto-scale-lr then stops with an error.
auto_scale_lr = dict(enable=False, base_batch_size=16)
