"""YOLOv3, Darknet-53, 608, 273 epochs: as released, but for its warm-up.

The released 2000 iterations of warm-up, fitted to COCO, are 125 of the 273
epochs on 1000 images at batch 64; here it takes 500, as the other models do.
``released/yolov3_released.py`` keeps the 2000.
"""

_base_ = [
    'mmdet::yolo/yolov3_d53_8xb8-ms-608-273e_coco.py',
    '../_base_/datasets/cppe5.py',
]

from mmdet_cppe5.zoo.protocol import use_protocol

model = dict(bbox_head=dict(num_classes=5))

# The release distorts colours before it pads and crops, MMDetection 3 after.
train_pipeline = [
    dict(_base_.train_pipeline[0], to_float32=True),
    _base_.train_pipeline[1],
    dict(type='PhotoMetricDistortion'),
    *_base_.train_pipeline[2:6],
    dict(type='PackDetInputs'),
]

globals().update(use_protocol(_base_, train=dict(pipeline=train_pipeline)))

train_cfg = dict(val_interval=1)
default_hooks['checkpoint'].update(interval=1)
param_scheduler = [
    dict(_base_.param_scheduler[0], end=500),
    _base_.param_scheduler[1],
]
