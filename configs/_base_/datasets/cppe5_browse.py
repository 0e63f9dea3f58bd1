"""Images and boxes as they are, for `mmdet-cppe5 browse`."""

_base_ = './cppe5.py'

default_scope = 'mmdet'
visualizer = dict(type='DetLocalVisualizer', name='visualizer')
train_dataloader = dict(
    dataset=dict(
        **_base_.cppe5_train,
        pipeline=[
            dict(type='LoadImageFromFile'),
            dict(type='LoadAnnotations', with_bbox=True),
            dict(type='PackDetInputs'),
        ],
    )
)
