"""Sparse R-CNN, ResNet-101 FPN, 300 proposals, 36 epochs: as released."""

_base_ = [
    'mmdet::sparse_rcnn/sparse-rcnn_r101_fpn_300-proposals_crop-ms-480-800-3x_coco.py',
    '../_base_/datasets/cppe5.py',
]

from mmdet_cppe5.zoo.protocol import use_protocol

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

globals().update(use_protocol(_base_))
