"""The demo's detector, made to learn the 29 public test photos by heart.

Its scores say that the data, the labels, the training and the evaluation
fit together; they say nothing about detection. Used by ``check_real.py``.
"""

_base_ = '../configs/cppe5/demo_fcos.py'

epochs = 80
resize = dict(type='Resize', scale=(448, 448), keep_ratio=True)

# Nothing random is done to the photos: they are to be learnt as they are.
photos = dict(
    **_base_.cppe5_protocol.dataset,
    **_base_.cppe5_protocol.test,
    pipeline=[
        dict(type='LoadImageFromFile'),
        dict(type='LoadAnnotations', with_bbox=True),
        resize,
        dict(type='PackDetInputs'),
    ],
)
test_pipeline = _base_.test_pipeline
test_pipeline[1] = resize

train_dataloader = dict(dataset=dict(_delete_=True, **photos))
val_dataloader = dict(dataset=dict(pipeline=test_pipeline))
test_dataloader = val_dataloader
train_cfg = dict(max_epochs=epochs, val_interval=epochs)
param_scheduler = [
    dict(type='LinearLR', start_factor=0.05, by_epoch=False, end=100),
    dict(
        type='CosineAnnealingLR',
        T_max=epochs,
        eta_min_ratio=0.01,
        convert_to_iter_based=True,
    ),
]
default_hooks = dict(
    logger=dict(interval=8), checkpoint=dict(interval=epochs, save_best=None)
)
