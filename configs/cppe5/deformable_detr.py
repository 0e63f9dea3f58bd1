"""Deformable DETR with box refinement, ResNet-50, 50 epochs: as released."""

_base_ = [
    'mmdet::deformable_detr/deformable-detr-refine_r50_16xb2-50e_coco.py',
    '../_base_/datasets/cppe5.py',
]

model = dict(bbox_head=dict(num_classes=5))

train_dataloader = dict(dataset=_base_.cppe5_train)
val_dataloader = dict(dataset=_base_.cppe5_test)
test_dataloader = val_dataloader
val_evaluator = dict(_delete_=True, **_base_.cppe5_evaluator)
test_evaluator = val_evaluator
default_hooks = _base_.cppe5_hooks

# Upstream leaves `enable` out, and --auto-scale-lr then stops with an error.
auto_scale_lr = dict(enable=False, base_batch_size=32)
