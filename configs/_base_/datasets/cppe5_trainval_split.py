"""CPPE-5 with a validation split of its own, so that the test set stays so.

Train on a part of the 1000 training images, choose checkpoints and settings
on the rest, and look at the 29 test images once. First make the two files:

    mmdet-cppe5 split data/cppe5/annotations/train.json \
        --images data/cppe5/images --out-dir data/cppe5/annotations/split
"""

cppe5_trainval_split_protocol = dict(
    dataset=dict(
        type='CPPE5Dataset',
        data_root='{{$CPPE5_DATA_ROOT:data/cppe5}}/',
        data_prefix=dict(img='images/'),
    ),
    train=[dict(ann_file='annotations/split/train.json')],
    val=dict(ann_file='annotations/split/val.json'),
    test=dict(ann_file='annotations/test.json'),
    evaluator=dict(type='CPPE5Metric'),
    best='cppe5/AP',
)
