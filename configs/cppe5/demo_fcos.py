"""A small FCOS that learns the drawn data set on a CPU in minutes.

Random weights, a ResNet-18 of a quarter of the usual width, three levels.
The data: ``mmdet-cppe5 draw-dataset data/cppe5-drawn``; set
CPPE5_DATA_ROOT to their folder. ``tools/demo.py`` does all of it.
"""

_base_ = [
    'mmdet::fcos/fcos_r50-caffe_fpn_gn-head-center-normbbox-centeronreg-giou'
    '_1x_coco.py',
    '../_base_/datasets/cppe5.py',
]

from mmdet_cppe5.zoo.protocol import use_protocol

model = dict(
    backbone=dict(
        _delete_=True,
        type='ResNet',
        depth=18,
        base_channels=16,
        stem_channels=16,
        out_indices=(1, 2, 3),
        norm_eval=False,
    ),
    neck=dict(
        _delete_=True,
        type='FPN',
        in_channels=[32, 64, 128],
        out_channels=64,
        num_outs=3,
    ),
    bbox_head=dict(
        num_classes=5,
        in_channels=64,
        feat_channels=64,
        stacked_convs=2,
        norm_cfg=dict(type='GN', num_groups=8, requires_grad=True),
        strides=[8, 16, 32],
        regress_ranges=((-1, 48), (48, 112), (112, 1e8)),
    ),
)

# The drawings' longer sides are 336 to 432 pixels. All batches have one shape:
# on a CPU each new shape makes oneDNN set up its convolutions again.
train_pipeline = [
    dict(type='LoadImageFromFile'),
    dict(type='LoadAnnotations', with_bbox=True),
    dict(
        type='RandomResize',
        scale=(432, 432),
        ratio_range=(0.5, 0.9),
        keep_ratio=True,
    ),
    dict(type='RandomCrop', crop_size=(288, 288), allow_negative_crop=True),
    dict(type='RandomFlip', prob=0.5),
    dict(type='Pad', size=(288, 288), pad_val=dict(img=(104, 116, 124))),
    dict(type='PackDetInputs'),
]
test_pipeline = [
    dict(type='LoadImageFromFile'),
    dict(type='Resize', scale=(400, 400), keep_ratio=True),
    dict(type='LoadAnnotations', with_bbox=True),
    _base_.test_pipeline[-1],
]
globals().update(
    use_protocol(
        _base_,
        train=dict(pipeline=train_pipeline),
        test=dict(pipeline=test_pipeline),
    )
)
train_dataloader.update(batch_size=4, num_workers=0, persistent_workers=False)
val_dataloader.update(num_workers=0, persistent_workers=False)
test_dataloader.update(num_workers=0, persistent_workers=False)

train_cfg = dict(max_epochs=20, val_interval=20)
optim_wrapper = dict(
    _delete_=True,
    type='OptimWrapper',
    optimizer=dict(type='AdamW', lr=2e-3, weight_decay=0.05),
    paramwise_cfg=dict(norm_decay_mult=0.0, bias_decay_mult=0.0),
    clip_grad=dict(max_norm=10),
)
param_scheduler = [
    dict(type='LinearLR', start_factor=0.05, by_epoch=False, end=100),
    dict(
        type='CosineAnnealingLR',
        begin=2,
        T_max=18,
        eta_min_ratio=0.01,
        convert_to_iter_based=True,
    ),
]
default_hooks.update(
    logger=dict(interval=50),
    checkpoint=dict(interval=2, max_keep_ckpts=2),
    visualization=dict(score_thr=0.35),
)
randomness = dict(seed=0)
auto_scale_lr = dict(base_batch_size=4)
