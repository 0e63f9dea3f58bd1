"""FCOS, ResNet-101 (Caffe) FPN, group-norm head, 24 epochs: as released."""

_base_ = [
    'mmdet::fcos/fcos_r101-caffe_fpn_gn-head_ms-640-800-2x_coco.py',
    '../_base_/datasets/cppe5.py',
]

model = dict(bbox_head=dict(num_classes=5))

train_dataloader = dict(dataset=_base_.cppe5_train)
val_dataloader = dict(dataset=_base_.cppe5_test)
test_dataloader = val_dataloader
val_evaluator = dict(_delete_=True, **_base_.cppe5_evaluator)
test_evaluator = val_evaluator
default_hooks = _base_.cppe5_hooks
