"""Sparse R-CNN from COCO weights of the same network, by MMDetection."""

_base_ = '../sparse_rcnn.py'

from mmdet_cppe5.zoo.upstream import coco_checkpoint

model = dict(backbone=dict(init_cfg=None))
load_from = coco_checkpoint(
    'sparse_rcnn/sparse-rcnn_r101_fpn_300-proposals_crop-ms-480-800-3x_coco.py'
)
