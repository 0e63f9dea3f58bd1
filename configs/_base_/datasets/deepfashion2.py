"""DeepFashion2: train on `train`, validate and test on `validation`.

The data root holds the archives' folders `train` and `validation`, each with
`image` and `annos`, and what `mmdet-cppe5 deepfashion2-convert` makes of them
in `annotations/train.json` and `annotations/validation.json`. Set the
environment variable DEEPFASHION2_DATA_ROOT when it lies elsewhere.
"""

deepfashion2_protocol = dict(
    dataset=dict(
        type='DeepFashion2Dataset',
        data_root='{{$DEEPFASHION2_DATA_ROOT:data/deepfashion2}}/',
    ),
    train=[
        dict(
            ann_file='annotations/train.json',
            data_prefix=dict(img='train/image/'),
        )
    ],
    test=dict(
        ann_file='annotations/validation.json',
        data_prefix=dict(img='validation/image/'),
    ),
    evaluator=dict(type='DeepFashion2Metric'),
    best='deepfashion2/bbox_AP',
)
