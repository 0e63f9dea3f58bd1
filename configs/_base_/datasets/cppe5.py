"""CPPE-5's data as building blocks, for configs that inherit from MMDetection.

MMDetection's full configs bring their own loaders and pipelines, and two
files in one ``_base_`` list may not set the same key. So this file uses names
of its own; a config lays them over the loaders it inherits, which keeps that
model's pipelines, samplers and batch sizes:

    train_dataloader = dict(dataset=_base_.cppe5_train)

Set the environment variable CPPE5_DATA_ROOT when the data lie elsewhere.
Splits: 1000 training images, 29 public test images. There is no validation
split, so validation uses the test images, as the released configs did.
"""

custom_imports = dict(
    imports=['mmdet_cppe5.plugin'], allow_failed_imports=False
)

cppe5_root = '{{$CPPE5_DATA_ROOT:data/cppe5}}/'

cppe5_train = dict(
    type='CPPE5Dataset',
    data_root=cppe5_root,
    ann_file='annotations/train.json',
    data_prefix=dict(img='images/'),
)
cppe5_test = dict(
    type='CPPE5Dataset',
    data_root=cppe5_root,
    ann_file='annotations/test.json',
    data_prefix=dict(img='images/'),
)
# Use as dict(_delete_=True, **_base_.cppe5_evaluator): the CocoMetric that is
# inherited has arguments that CPPE5Metric does not take.
cppe5_evaluator = dict(
    type='CPPE5Metric', ann_file=cppe5_root + 'annotations/test.json'
)
cppe5_hooks = dict(
    checkpoint=dict(save_best='cppe5/AP', rule='greater', max_keep_ckpts=2),
    # Off; see default_runtime.py.
    report=dict(type='ReportHook', test=False, val=False),
)
