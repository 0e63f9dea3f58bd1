"""Grid R-CNN, ResNeXt-101-64x4d FPN, 25 epochs: as released, but its warm-up.

The released warm-up takes 3665 iterations, fitted to COCO; the whole run has
1575 on 1000 images at batch 16, so the learning rate never got there. Here it
takes 500, as the other models do; ``released/grid_rcnn_released.py`` keeps the 3665.
"""

_base_ = [
    'mmdet::grid_rcnn/grid-rcnn_x101-64x4d_fpn_gn-head_2x_coco.py',
    '../_base_/datasets/cppe5.py',
]

from mmdet_cppe5.zoo.protocol import use_protocol

model = dict(roi_head=dict(bbox_head=dict(num_classes=5)))

globals().update(use_protocol(_base_))

param_scheduler = [
    dict(_base_.param_scheduler[0], end=500),
    _base_.param_scheduler[1],
]
