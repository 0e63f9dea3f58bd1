"""YOLOv3 with the released warm-up: 2000 of the 4368 iterations."""

_base_ = '../yolov3.py'

param_scheduler = [
    dict(_base_.param_scheduler[0], end=2000),
    _base_.param_scheduler[1],
]
