"""TridentNet, ResNet-50 (Caffe), 36 epochs: as MMDetection 3.3.0 has it.

The release leaves the last stage, which the RoI head uses, randomly
initialised under frozen batch norm and drops anchors that cross the image
border; ``released/tridentnet_released.py`` does so too. This one starts that stage from
ImageNet weights and keeps the anchors.
"""

_base_ = [
    'mmdet::tridentnet/tridentnet_r50-caffe_ms-3x_coco.py',
    '../_base_/datasets/cppe5.py',
]

from mmdet_cppe5.zoo.protocol import use_protocol

model = dict(roi_head=dict(bbox_head=dict(num_classes=5)))

globals().update(use_protocol(_base_))
