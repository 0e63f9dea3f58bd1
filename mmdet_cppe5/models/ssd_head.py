"""SSD's head with the attribute that MMDetection 3.3.0's prediction reads."""

from mmdet.models.dense_heads import SSDHead
from mmdet.registry import MODELS


@MODELS.register_module()
class FixedSSDHead(SSDHead):
    """``SSDHead`` that can predict.

    The shared prediction code asks every head's ``loss_cls`` whether it has
    classification channels of its own. MMDetection 3.3.0's SSDHead computes
    its loss by itself, has no such attribute, and stops with an
    AttributeError. Without a loss module the answer is no.
    """

    loss_cls = None
