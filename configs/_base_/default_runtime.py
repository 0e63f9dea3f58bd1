"""MMDetection's runtime; keeps the best checkpoint by CPPE-5's AP."""

_base_ = 'mmdet::_base_/default_runtime.py'

default_hooks = dict(
    checkpoint=dict(save_best='cppe5/AP', rule='greater', max_keep_ckpts=2)
)
