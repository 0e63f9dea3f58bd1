"""The paper's protocol: train on all 1029 public images, test on yours.

The paper trained on the 1000 + 29 public images and tested on 100 further
ones, which were never released. So the test set is for you to supply, in the
form of the public one; its place stands in ``held_out`` below, relative to
the data root.
"""

_base_ = './cppe5_detection.py'

held_out = dict(
    ann_file='annotations/held_out.json', data_prefix=dict(img='held_out/')
)

public_train = _base_.train_dataloader.dataset
train_dataloader = dict(
    dataset=dict(
        _delete_=True,
        type='ConcatDataset',
        datasets=[
            public_train,
            dict(public_train, ann_file=_base_.cppe5_test.ann_file),
        ],
    )
)
val_dataloader = dict(dataset=held_out)
test_dataloader = val_dataloader

val_evaluator = dict(ann_file=_base_.cppe5_root + held_out['ann_file'])
test_evaluator = val_evaluator
