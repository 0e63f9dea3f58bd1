"""Faster R-CNN trained on all 1029 public images, tested on yours.

The paper's protocol on an inherited model: any config of this folder takes
the place of the first line's. See ``_base_/datasets/cppe5_paper_protocol.py``.
"""

_base_ = '../faster_rcnn.py'

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
