"""Faster R-CNN, ResNet-50 FPN, 12 epochs: boxes of DeepFashion2."""

_base_ = [
    'mmdet::faster_rcnn/faster-rcnn_r50_fpn_1x_coco.py',
    '../_base_/datasets/deepfashion2.py',
]

model = dict(roi_head=dict(bbox_head=dict(num_classes=13)))

train_dataloader = dict(dataset=_base_.deepfashion2_train)
val_dataloader = dict(dataset=_base_.deepfashion2_val)
test_dataloader = val_dataloader
val_evaluator = dict(_delete_=True, **_base_.deepfashion2_evaluator)
test_evaluator = val_evaluator
default_hooks = _base_.deepfashion2_hooks
