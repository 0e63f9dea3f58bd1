"""The paper's "SSD", as near as MMDetection's parts come: not the same network.

The paper trained TensorFlow's ``ssd_mobilenet_v1_fpn_keras``: a RetinaNet with
a shared, separately normalised head on MobileNet-V1. Its weights exist for
TensorFlow only. Here are the same pyramid, head, anchors, box coding, losses,
matching, input size and schedule. What differs: MobileNet-V2 (MMDetection has
no V1), a start from ImageNet where the paper started from a COCO detector, and
the normalisation of images, which is that of the ImageNet weights loaded.
``ssd512.py`` is the SSD of Liu et al.
"""

_base_ = [
    'mmdet::_base_/models/retinanet_r50_fpn.py',
    'mmdet::_base_/datasets/coco_detection.py',
    'mmdet::_base_/default_runtime.py',
    '../_base_/datasets/cppe5.py',
]

from mmdet_cppe5.zoo.protocol import use_protocol

norm_cfg = dict(type='BN', momentum=0.003, eps=0.001)
model = dict(
    backbone=dict(
        _delete_=True,
        type='MobileNetV2',
        out_indices=(2, 4, 6),
        norm_cfg=norm_cfg,
        init_cfg=dict(
            type='Pretrained', checkpoint='open-mmlab://mmdet/mobilenet_v2'
        ),
    ),
    neck=dict(
        in_channels=[32, 96, 320],
        start_level=0,
        add_extra_convs='on_output',
        norm_cfg=norm_cfg,
        act_cfg=dict(type='ReLU6'),
    ),
    bbox_head=dict(
        type='RetinaSepBNHead',
        num_classes=5,
        num_ins=5,
        norm_cfg=norm_cfg,
        anchor_generator=dict(scales_per_octave=2),
        bbox_coder=dict(target_stds=[0.1, 0.1, 0.2, 0.2]),
        # The release divides by the four coordinates; MMDetection sums them.
        loss_bbox=dict(
            _delete_=True, type='SmoothL1Loss', beta=1.0, loss_weight=0.25
        ),
    ),
    train_cfg=dict(assigner=dict(neg_iou_thr=0.5)),
    test_cfg=dict(score_thr=1e-8, nms=dict(iou_threshold=0.6)),
)
# MobileNetV2's last convolution is built but feeds no level of the pyramid.
find_unused_parameters = True

resize = dict(type='Resize', scale=(640, 640), keep_ratio=False)
train_pipeline = [
    *_base_.train_pipeline[:2],
    resize,
    *_base_.train_pipeline[3:],
]
test_pipeline = [
    _base_.test_pipeline[0],
    resize,
    *_base_.test_pipeline[2:],
]
globals().update(
    use_protocol(
        _base_,
        train=dict(pipeline=train_pipeline),
        test=dict(pipeline=test_pipeline),
    )
)
train_dataloader.update(batch_size=8, sampler=dict(type='InfiniteSampler'))

# 8 GPUs x 8 images; 25000 iterations are 1600 epochs of 1000 images.
max_iters = 25000
train_cfg = dict(
    type='IterBasedTrainLoop', max_iters=max_iters, val_interval=500
)
val_cfg = dict(type='ValLoop')
test_cfg = dict(type='TestLoop')
optim_wrapper = dict(
    type='OptimWrapper',
    optimizer=dict(type='SGD', lr=0.04, momentum=0.9, weight_decay=4e-5),
)
param_scheduler = [
    dict(
        type='LinearLR', start_factor=1 / 3, by_epoch=False, begin=0, end=2000
    ),
    dict(
        type='CosineAnnealingLR',
        by_epoch=False,
        begin=2000,
        end=max_iters,
        T_max=max_iters - 2000,
        eta_min=0,
    ),
]
auto_scale_lr = dict(enable=False, base_batch_size=64)
default_hooks['checkpoint'].update(by_epoch=False, interval=500)
log_processor = dict(by_epoch=False)
