"""CPPE-5's public protocol: 1000 training images, 29 test images.

There is no validation split, so validation uses the test images, as the
released configs did; ``cppe5_trainval_split.py`` keeps them apart. Set the
environment variable CPPE5_DATA_ROOT when the data lie elsewhere.
"""

cppe5_protocol = dict(
    dataset=dict(
        type='CPPE5Dataset',
        data_root='{{$CPPE5_DATA_ROOT:data/cppe5}}/',
        data_prefix=dict(img='images/'),
    ),
    train=[dict(ann_file='annotations/train.json')],
    test=dict(ann_file='annotations/test.json'),
    evaluator=dict(type='CPPE5Metric'),
    best='cppe5/AP',
)
