"""Double-Head R-CNN, ResNet-50 FPN, 12 epochs: the true one.

The config released under this name is a copy of the DCN one, and the paper's
parameters and FLOPs of this row are those of DCN measured again. So the row
says nothing about this network; ``released/double_heads.py`` is the copy.
"""

_base_ = [
    'mmdet::double_heads/dh-faster-rcnn_r50_fpn_1x_coco.py',
    '../_base_/datasets/cppe5.py',
]

model = dict(roi_head=dict(bbox_head=dict(num_classes=5)))

train_dataloader = dict(dataset=_base_.cppe5_train)
val_dataloader = dict(dataset=_base_.cppe5_test)
test_dataloader = val_dataloader
val_evaluator = dict(_delete_=True, **_base_.cppe5_evaluator)
test_evaluator = val_evaluator
default_hooks = _base_.cppe5_hooks
