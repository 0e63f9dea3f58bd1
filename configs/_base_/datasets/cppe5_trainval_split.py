"""CPPE-5 with a validation split of its own, so that the test set stays so.

The same building blocks as ``cppe5.py``, and one more: train on a part of
the 1000 training images, choose checkpoints and settings on the rest, and
look at the 29 test images once. First make the two files:

    mmdet-cppe5 split data/cppe5/annotations/train.json \
        --images data/cppe5/images --out-dir data/cppe5/annotations/split

Then, in a config that inherits from MMDetection and this file:

    train_dataloader = dict(dataset=_base_.cppe5_train)
    val_dataloader = dict(dataset=_base_.cppe5_val)
    test_dataloader = dict(dataset=_base_.cppe5_test)
    val_evaluator = dict(_delete_=True, **_base_.cppe5_val_evaluator)
    test_evaluator = dict(_delete_=True, **_base_.cppe5_evaluator)
"""

_base_ = './cppe5.py'

cppe5_train = dict(ann_file='annotations/split/train.json')
cppe5_val = dict(
    type='CPPE5Dataset',
    data_root=_base_.cppe5_root,
    ann_file='annotations/split/val.json',
    data_prefix=dict(img='images/'),
)
cppe5_val_evaluator = dict(
    type='CPPE5Metric',
    ann_file=_base_.cppe5_root + 'annotations/split/val.json',
)
