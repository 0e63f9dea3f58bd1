"""Deformable DETR with box refinement, ResNet-50, 50 epochs: as released."""

_base_ = [
    'mmdet::deformable_detr/deformable-detr-refine_r50_16xb2-50e_coco.py',
    '../_base_/datasets/cppe5.py',
]

from mmdet_cppe5.zoo.protocol import use_protocol

model = dict(bbox_head=dict(num_classes=5))

globals().update(use_protocol(_base_))

# Upstream leaves `enable` out, and --auto-scale-lr then stops with an error.
auto_scale_lr = dict(enable=False, base_batch_size=32)
