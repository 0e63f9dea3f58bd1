"""Faster R-CNN with modulated deformable RoI pooling, ResNet-50, 12 epochs.

As released. There is no deformable convolution in it: "DCN" is the pooling.
mmcv pools on a GPU only; ``AnywhereRoIExtractor`` runs mmcv's kernel there and
the same arithmetic in plain torch on a CPU.
"""

_base_ = [
    'mmdet::dcnv2/faster-rcnn_r50_fpn_mdpool_1x_coco.py',
    '../_base_/datasets/cppe5.py',
]

from mmdet_cppe5.zoo.protocol import use_protocol

model = dict(
    roi_head=dict(
        bbox_roi_extractor=dict(type='AnywhereRoIExtractor'),
        bbox_head=dict(num_classes=5),
    )
)

globals().update(use_protocol(_base_))
