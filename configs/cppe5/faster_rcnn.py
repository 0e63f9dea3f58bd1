"""Faster R-CNN, ResNet-101 FPN, 24 epochs: as released with the paper."""

_base_ = [
    'mmdet::faster_rcnn/faster-rcnn_r101_fpn_2x_coco.py',
    '../_base_/datasets/cppe5.py',
]

model = dict(roi_head=dict(bbox_head=dict(num_classes=5)))

train_dataloader = dict(dataset=_base_.cppe5_train)
val_dataloader = dict(dataset=_base_.cppe5_test)
test_dataloader = val_dataloader
val_evaluator = dict(_delete_=True, **_base_.cppe5_evaluator)
test_evaluator = val_evaluator
default_hooks = _base_.cppe5_hooks
