"""DeepFashion2's data as building blocks, for configs that inherit.

The data root holds the archives' folders `train` and `validation`, each with
`image` and `annos`, and what `mmdet-cppe5 deepfashion2-convert` makes of them
in `annotations/train.json` and `annotations/validation.json`. Set the
environment variable DEEPFASHION2_DATA_ROOT when it lies elsewhere.
"""

custom_imports = dict(
    imports=['mmdet_cppe5.plugin'], allow_failed_imports=False
)

deepfashion2_root = '{{$DEEPFASHION2_DATA_ROOT:data/deepfashion2}}/'

deepfashion2_train = dict(
    type='DeepFashion2Dataset',
    data_root=deepfashion2_root,
    ann_file='annotations/train.json',
    data_prefix=dict(img='train/image/'),
)
deepfashion2_val = dict(
    type='DeepFashion2Dataset',
    data_root=deepfashion2_root,
    ann_file='annotations/validation.json',
    data_prefix=dict(img='validation/image/'),
)
# Use as dict(_delete_=True, **_base_.deepfashion2_evaluator): the CocoMetric
# that is inherited has other arguments.
deepfashion2_evaluator = dict(
    type='DeepFashion2Metric',
    ann_file=deepfashion2_root + 'annotations/validation.json',
)
deepfashion2_hooks = dict(
    checkpoint=dict(
        save_best='deepfashion2/bbox_AP', rule='greater', max_keep_ckpts=2
    )
)
