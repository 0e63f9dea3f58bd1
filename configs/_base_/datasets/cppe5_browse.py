"""Images and boxes as they are, for `mmdet-cppe5 browse`."""

_base_ = './cppe5.py'

custom_imports = dict(
    imports=['mmdet_cppe5.plugin'], allow_failed_imports=False
)
default_scope = 'mmdet'
visualizer = dict(type='DetLocalVisualizer', name='visualizer')
train_dataloader = dict(
    dataset=dict(
        **_base_.cppe5_protocol.dataset,
        **_base_.cppe5_protocol.train[0],
        pipeline=[
            dict(type='LoadImageFromFile'),
            dict(type='LoadAnnotations', with_bbox=True),
            dict(type='PackDetInputs'),
        ],
    )
)
