"""Faster R-CNN on RegNetX-3.2GF FPN, 24 epochs: as released.

The released file is named ``regnet-4GF``, while config, size and FLOPs are
those of 3.2GF; the converter tells from the shapes which one a file holds.
``released/regnet_4gf_released.py`` is the other network.
"""

_base_ = [
    'mmdet::regnet/faster-rcnn_regnetx-3.2GF_fpn_2x_coco.py',
    '../_base_/datasets/cppe5.py',
]

from mmdet_cppe5.zoo.protocol import use_protocol

model = dict(roi_head=dict(bbox_head=dict(num_classes=5)))

globals().update(use_protocol(_base_))
