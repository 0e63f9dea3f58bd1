"""Localization Distillation, ResNet-50 from a ResNet-101 teacher: as released.

The teacher is MMDetection's GFL R101 on COCO's 80 classes (only its box
distributions are distilled). ``LocalizationDistiller`` reads the teacher's
config from the installed MMDetection and its weights when training starts;
the stock detector wants a path that exists in an MMDetection clone only, and
downloads the teacher even to test. ``released/ld_released.py`` uses the stock one.
"""

_base_ = [
    'mmdet::ld/ld_r50-gflv1-r101_fpn_1x_coco.py',
    '../_base_/datasets/cppe5.py',
]

from mmdet_cppe5.zoo.protocol import use_protocol

model = dict(
    type='LocalizationDistiller',
    teacher_config='mmdet::gfl/gfl_r101_fpn_ms-2x_coco.py',
    bbox_head=dict(num_classes=5),
)

globals().update(use_protocol(_base_))
