"""TridentNet as released: last stage random, no anchors across the border."""

_base_ = '../tridentnet.py'

model = dict(
    roi_head=dict(shared_head=dict(init_cfg=None)),
    train_cfg=dict(rpn=dict(allowed_border=0)),
)
