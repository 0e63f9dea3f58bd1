"""RegNetX-4GF, which the name of the released RegNet file speaks of."""

_base_ = '../regnet.py'

model = dict(
    backbone=dict(
        arch='regnetx_4.0gf',
        init_cfg=dict(checkpoint='open-mmlab://regnetx_4.0gf'),
    ),
    neck=dict(in_channels=[80, 240, 560, 1360]),
)
