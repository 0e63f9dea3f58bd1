"""The paper's protocol: train on all 1029 public images, test on yours.

The paper trained on the 1000 + 29 public images and tested on 100 further
ones, which were never released. So the test set is for you to supply, in the
form of the public one. Never put numbers of two protocols in one table.
"""

cppe5_paper_protocol = dict(
    dataset=dict(
        type='CPPE5Dataset',
        data_root='{{$CPPE5_DATA_ROOT:data/cppe5}}/',
        data_prefix=dict(img='images/'),
    ),
    train=[
        dict(ann_file='annotations/train.json'),
        dict(ann_file='annotations/test.json'),
    ],
    test=dict(
        ann_file='annotations/held_out.json',
        data_prefix=dict(img='held_out/'),
    ),
    evaluator=dict(type='CPPE5Metric'),
    best='cppe5/AP',
)
