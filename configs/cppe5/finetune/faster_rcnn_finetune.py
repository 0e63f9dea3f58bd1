"""Faster R-CNN fine-tuned from COCO weights on one GPU, 12 epochs.

Trains on the split's 850 images and chooses its checkpoint on the other 150;
the test images are looked at once. First make the split; see
``_base_/datasets/cppe5_trainval_split.py``.
"""

_base_ = [
    '../coco_init/faster_rcnn_coco_init.py',
    '../../_base_/datasets/cppe5_trainval_split.py',
]

from mmdet_cppe5.zoo.protocol import use_protocol

globals().update(use_protocol(_base_))

# The released rate of 0.02 belongs to batches of 16; here they are of 2.
optim_wrapper = dict(
    optimizer=dict(lr=0.0025), clip_grad=dict(max_norm=35, norm_type=2)
)
auto_scale_lr = dict(base_batch_size=2)

# 12 epochs are 5100 iterations, of which 500 warm up.
train_cfg = dict(max_epochs=12, val_interval=1)
param_scheduler = [
    _base_.param_scheduler[0],
    dict(_base_.param_scheduler[1], end=12, milestones=[8, 11]),
]
custom_hooks = [
    dict(
        type='EarlyStoppingHook',
        monitor='cppe5/AP',
        rule='greater',
        min_delta=0.1,
        patience=4,
    )
]
