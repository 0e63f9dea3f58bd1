"""Grid R-CNN with the released warm-up, which outlasts the training."""

_base_ = '../grid_rcnn.py'

param_scheduler = [
    dict(_base_.param_scheduler[0], end=3665),
    _base_.param_scheduler[1],
]
