"""YOLOX-s, 300 epochs."""

_base_ = [
    'mmdet::yolox/yolox_s_8xb8-300e_coco.py',
    '../_base_/datasets/cppe5.py',
]

model = dict(bbox_head=dict(num_classes=5))

# The data set sits inside the wrapper that mixes several images.
train_dataloader = dict(dataset=dict(dataset=_base_.cppe5_train))
val_dataloader = dict(dataset=_base_.cppe5_test)
test_dataloader = val_dataloader
val_evaluator = dict(_delete_=True, **_base_.cppe5_evaluator)
test_evaluator = val_evaluator
default_hooks = _base_.cppe5_hooks
