"""Mask R-CNN, ResNet-50 FPN, 12 epochs: boxes and masks of DeepFashion2."""

_base_ = [
    'mmdet::mask_rcnn/mask-rcnn_r50_fpn_1x_coco.py',
    '../_base_/datasets/deepfashion2.py',
]

from mmdet_cppe5.zoo.protocol import use_protocol

model = dict(
    roi_head=dict(
        bbox_head=dict(num_classes=13), mask_head=dict(num_classes=13)
    )
)

globals().update(use_protocol(_base_, evaluator=dict(tasks=('bbox', 'segm'))))
