"""RTMDet-tiny, 300 epochs."""

_base_ = [
    'mmdet::rtmdet/rtmdet_tiny_8xb32-300e_coco.py',
    '../_base_/datasets/cppe5.py',
]

model = dict(bbox_head=dict(num_classes=5))

train_dataloader = dict(dataset=_base_.cppe5_train)
val_dataloader = dict(dataset=_base_.cppe5_test)
test_dataloader = val_dataloader
val_evaluator = dict(_delete_=True, **_base_.cppe5_evaluator)
test_evaluator = val_evaluator
default_hooks = _base_.cppe5_hooks

# Upstream's 1000 iterations are most of the 1200 of 300 epochs at batch 256.
param_scheduler = [
    dict(_base_.param_scheduler[0], end=100),
    _base_.param_scheduler[1],
]
# Upstream inherits 16, while its learning rate belongs to 8 x 32 images.
auto_scale_lr = dict(base_batch_size=256)
