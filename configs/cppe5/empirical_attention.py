"""Faster R-CNN with empirical attention 1111 and DCN, ResNet-50: as released."""

_base_ = [
    'mmdet::empirical_attention/faster-rcnn_r50-attn1111-dcn_fpn_1x_coco.py',
    '../_base_/datasets/cppe5.py',
]

model = dict(roi_head=dict(bbox_head=dict(num_classes=5)))

train_dataloader = dict(dataset=_base_.cppe5_train)
val_dataloader = dict(dataset=_base_.cppe5_test)
test_dataloader = val_dataloader
val_evaluator = dict(_delete_=True, **_base_.cppe5_evaluator)
test_evaluator = val_evaluator
default_hooks = _base_.cppe5_hooks
