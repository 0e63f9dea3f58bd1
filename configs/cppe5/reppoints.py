"""RepPoints (moment), ResNet-50 FPN, group norm, 24 epochs: as released."""

_base_ = [
    'mmdet::reppoints/reppoints-moment_r50_fpn-gn_head-gn_2x_coco.py',
    '../_base_/datasets/cppe5.py',
]

model = dict(bbox_head=dict(num_classes=5))

train_dataloader = dict(dataset=_base_.cppe5_train)
val_dataloader = dict(dataset=_base_.cppe5_test)
test_dataloader = val_dataloader
val_evaluator = dict(_delete_=True, **_base_.cppe5_evaluator)
test_evaluator = val_evaluator
default_hooks = _base_.cppe5_hooks
