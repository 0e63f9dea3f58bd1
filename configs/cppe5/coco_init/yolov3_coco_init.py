"""YOLOv3 from COCO weights of the same network, by MMDetection."""

_base_ = '../yolov3.py'

from mmdet_cppe5.zoo.upstream import coco_checkpoint

model = dict(backbone=dict(init_cfg=None))
load_from = coco_checkpoint('yolo/yolov3_d53_8xb8-ms-608-273e_coco.py')
