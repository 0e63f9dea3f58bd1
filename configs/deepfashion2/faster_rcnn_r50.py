"""Faster R-CNN, ResNet-50 FPN, 12 epochs: boxes of DeepFashion2."""

_base_ = [
    'mmdet::faster_rcnn/faster-rcnn_r50_fpn_1x_coco.py',
    '../_base_/datasets/deepfashion2.py',
]

from mmdet_cppe5.zoo.protocol import use_protocol

model = dict(roi_head=dict(bbox_head=dict(num_classes=13)))

globals().update(use_protocol(_base_))
