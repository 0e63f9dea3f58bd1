"""Faster R-CNN on RegNetX-3.2GF FPN, 24 epochs: as released.

The released file is named ``regnet-4GF``, while config, size and FLOPs are
those of 3.2GF; the converter tells from the shapes which one a file holds.
``released/regnet_4gf.py`` is the other network.
"""

_base_ = [
    'mmdet::regnet/faster-rcnn_regnetx-3.2GF_fpn_2x_coco.py',
    '../_base_/datasets/cppe5.py',
]

model = dict(roi_head=dict(bbox_head=dict(num_classes=5)))

train_dataloader = dict(dataset=_base_.cppe5_train)
val_dataloader = dict(dataset=_base_.cppe5_test)
test_dataloader = val_dataloader
val_evaluator = dict(_delete_=True, **_base_.cppe5_evaluator)
test_evaluator = val_evaluator
default_hooks = _base_.cppe5_hooks
