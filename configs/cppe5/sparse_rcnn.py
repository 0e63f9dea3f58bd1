"""Sparse R-CNN, ResNet-101 FPN, 300 proposals, 36 epochs: as released."""

_base_ = [
    'mmdet::sparse_rcnn/sparse-rcnn_r101_fpn_300-proposals_crop-ms-480-800-3x_coco.py',
    '../_base_/datasets/cppe5.py',
]

# A list replaces the inherited one whole, so all six stages are restated.
model = dict(
    roi_head=dict(
        # Pools the inverted boxes that stop mmcv's RoIAlign on a CPU.
        bbox_roi_extractor=dict(type='AnywhereRoIExtractor'),
        bbox_head=[
            dict(head, num_classes=5)
            for head in _base_.model.roi_head.bbox_head
        ],
    )
)

train_dataloader = dict(dataset=_base_.cppe5_train)
val_dataloader = dict(dataset=_base_.cppe5_test)
test_dataloader = val_dataloader
val_evaluator = dict(_delete_=True, **_base_.cppe5_evaluator)
test_evaluator = val_evaluator
default_hooks = _base_.cppe5_hooks
