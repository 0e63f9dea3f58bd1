"""Double-Head R-CNN, ResNet-50 FPN, 12 epochs: the true one.

The config released under this name is a copy of the DCN one, and the paper's
parameters and FLOPs of this row are those of DCN measured again. So the row
says nothing about this network; ``released/double_heads_released.py`` is the copy.
"""

_base_ = [
    'mmdet::double_heads/dh-faster-rcnn_r50_fpn_1x_coco.py',
    '../_base_/datasets/cppe5.py',
]

from mmdet_cppe5.zoo.protocol import use_protocol

model = dict(roi_head=dict(bbox_head=dict(num_classes=5)))

globals().update(use_protocol(_base_))
