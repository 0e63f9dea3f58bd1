"""SSD 512 of Liu et al. on VGG-16: a network the paper names but did not run.

The paper's SSD is another one, see ``ssd.py``.
``FixedSSDHead`` mends what keeps mmdet 3.3.0's SSDHead from testing.
"""

_base_ = [
    'mmdet::ssd/ssd512_coco.py',
    '../_base_/datasets/cppe5.py',
]

model = dict(bbox_head=dict(type='FixedSSDHead', num_classes=5))

# The data set sits inside RepeatDataset.
train_dataloader = dict(dataset=dict(dataset=_base_.cppe5_train))
val_dataloader = dict(dataset=_base_.cppe5_test)
test_dataloader = val_dataloader
val_evaluator = dict(_delete_=True, **_base_.cppe5_evaluator)
test_evaluator = val_evaluator
default_hooks = _base_.cppe5_hooks
