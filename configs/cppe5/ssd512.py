"""SSD 512 of Liu et al. on VGG-16: a network the paper names but did not run.

The paper's SSD is another one, see ``ssd.py``.
``FixedSSDHead`` mends what keeps mmdet 3.3.0's SSDHead from testing.
"""

_base_ = [
    'mmdet::ssd/ssd512_coco.py',
    '../_base_/datasets/cppe5.py',
]

from mmdet_cppe5.zoo.protocol import use_protocol

model = dict(bbox_head=dict(type='FixedSSDHead', num_classes=5))

globals().update(use_protocol(_base_))
