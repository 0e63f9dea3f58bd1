"""Grid R-CNN from COCO weights of the same network, by MMDetection."""

_base_ = '../grid_rcnn.py'

from mmdet_cppe5.zoo.upstream import coco_checkpoint

model = dict(backbone=dict(init_cfg=None))
load_from = coco_checkpoint(
    'grid_rcnn/grid-rcnn_x101-64x4d_fpn_gn-head_2x_coco.py'
)
