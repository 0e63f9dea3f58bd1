"""Faster R-CNN with modulated deformable RoI pooling, ResNet-50, 12 epochs.

As released. There is no deformable convolution in it: "DCN" is the pooling.
mmcv pools on a GPU only; ``AnywhereRoIExtractor`` runs mmcv's kernel there and
the same arithmetic in plain torch on a CPU.
"""

_base_ = [
    'mmdet::dcnv2/faster-rcnn_r50_fpn_mdpool_1x_coco.py',
    '../_base_/datasets/cppe5.py',
]

model = dict(
    roi_head=dict(
        bbox_roi_extractor=dict(type='AnywhereRoIExtractor'),
        bbox_head=dict(num_classes=5),
    )
)

train_dataloader = dict(dataset=_base_.cppe5_train)
val_dataloader = dict(dataset=_base_.cppe5_test)
test_dataloader = val_dataloader
val_evaluator = dict(_delete_=True, **_base_.cppe5_evaluator)
test_evaluator = val_evaluator
default_hooks = _base_.cppe5_hooks
