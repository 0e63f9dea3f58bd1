"""Parameters and multiply-accumulates as the paper's table counts them.

The table was made with MMCV's counter, so this calls the same counter. What
it counts: convolutions, linear layers, normalisation (two per value),
activations and pooling of the layer types it knows. What it does not: the
operations inside deformable convolution, attention and RoI pooling. Each
network runs as MMDetection 2.x ran it for this purpose: no suppression of
boxes, and RoI heads on 1000 boxes whatever the proposals are.

Networks run on PyTorch's ``meta`` device, which has shapes but no values, so
that the count takes no arithmetic. Transformers read values to steer by, so
they run on the CPU.
"""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from unittest import mock

import torch
from mmcv.cnn import get_model_complexity_info
from mmcv.ops import deform_conv, modulated_deform_conv
from mmdet.models.detectors import TwoStageDetector
from mmdet.models.detectors.base_detr import DetectionTransformer
from mmdet.models.roi_heads import (
    DoubleHeadRoIHead,
    GridRoIHead,
    SparseRoIHead,
)
from mmdet.registry import MODELS
from mmdet.structures import DetDataSample
from mmengine.config import Config
from mmengine.model import revert_sync_batchnorm
from mmengine.registry import DefaultScope
from torch import Tensor, nn

_ROIS = 1000
# Grid R-CNN localises the best hundred only.
_GRID_ROIS = 100
# MMDetection 2.x made its boxes of random corners. Deformable pooling has
# layers of its own, which run only on boxes of positive area: half of them.
_POOLED_ROIS = _ROIS // 2


@dataclass(frozen=True)
class Complexity:
    """Size of a network.

    Attributes:
        trainable: parameters that are trained.
        parameters: all parameters.
        macs: multiply-accumulates for one image, by MMCV's counter.
    """

    trainable: int
    parameters: int
    macs: int


def build_to_count(config: Config) -> nn.Module:
    """Build a config's network to count or to load a checkpoint into.

    Args:
        config: the config; pretrained weights are not read, and a distilled
            student is built without its teacher.

    Returns:
        The detector, on the CPU and set to predict.
    """
    settings = copy.deepcopy(config.model)
    settings.pop('teacher_ckpt', None)
    if settings.pop('teacher_config', None) is not None:
        settings['type'] = 'SingleStageDetector'
    with DefaultScope.overwrite_default_scope('mmdet'):
        return revert_sync_batchnorm(MODELS.build(settings)).eval()


def measure_complexity(
    model: nn.Module, shape: tuple[int, int] = (800, 1280)
) -> Complexity:
    """Count a detector's parameters and multiply-accumulates.

    Args:
        model: the detector; all but transformers come back on the ``meta``
            device, without their weights.
        shape: height and width of the image.

    Returns:
        The counts.
    """
    parameters = sum(weight.numel() for weight in model.parameters())
    if not isinstance(model, DetectionTransformer):
        model.to('meta')
    with _shapes_only(), torch.no_grad():
        macs, trainable = get_model_complexity_info(
            _Pass(model),
            (3, *shape),
            print_per_layer_stat=False,
            as_strings=False,
        )
    return Complexity(int(trainable), parameters, int(macs))


class _Pass(nn.Module):
    """What a detector computes, without choosing boxes."""

    def __init__(self, detector: nn.Module) -> None:
        super().__init__()
        self.detector = detector

    def forward(self, images: Tensor) -> Any:
        """Run the detector on images, [N, 3, H, W]."""
        detector = self.detector
        if isinstance(detector, DetectionTransformer):
            shape = tuple(images.shape[2:])
            sample = DetDataSample(
                metainfo={'img_shape': shape, 'batch_input_shape': shape}
            )
            return detector(torch.zeros_like(images), [sample])
        features = detector.extract_feat(images)
        if not isinstance(detector, TwoStageDetector):
            return detector.bbox_head(features)
        if isinstance(detector.roi_head, SparseRoIHead):
            return _run_sparse_head(detector, images)
        detector.rpn_head(features)
        return _run_roi_head(detector.roi_head, images)


def _pooled(extractor: nn.Module, rois: int, like: Tensor) -> Tensor:
    """Return features as an extractor would, without pooling any."""
    layer = extractor.roi_layers[0]
    channels = extractor.out_channels
    if hasattr(layer, 'offset_fc'):
        plain = like.new_empty(_POOLED_ROIS, channels, *layer.output_size)
        layer.offset_fc(plain.flatten(1))
        layer.mask_fc(plain.flatten(1))
    return like.new_empty(rois, channels, *layer.output_size)


def _run_roi_head(head: nn.Module, images: Tensor) -> None:
    features = _pooled(head.bbox_roi_extractor, _ROIS, images)
    if head.with_shared_head:
        features = head.shared_head(features)
    if isinstance(head, DoubleHeadRoIHead):
        head.bbox_head(features, features)
    else:
        head.bbox_head(features)
    if isinstance(head, GridRoIHead):
        head.grid_head(_pooled(head.grid_roi_extractor, _GRID_ROIS, images))


def _run_sparse_head(detector: nn.Module, images: Tensor) -> None:
    head = detector.roi_head
    proposals = detector.rpn_head.num_proposals
    content = images.new_empty(1, proposals, head.bbox_head[0].in_channels)
    for extractor, stage in zip(head.bbox_roi_extractor, head.bbox_head):
        stage(_pooled(extractor, proposals, images), content)


@contextlib.contextmanager
def _shapes_only() -> Iterator[None]:
    """Let deformable convolutions tell the shape of their output only."""
    plain = mock.patch.object(deform_conv, 'deform_conv2d', _deform_shape)
    modulated = mock.patch.object(
        modulated_deform_conv,
        'modulated_deform_conv2d',
        lambda x, offset, mask, weight, bias, *rest: _deform_shape(
            x, offset, weight, *rest
        ),
    )
    with plain, modulated:
        yield


def _deform_shape(
    x: Tensor,
    offset: Tensor,
    weight: Tensor,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: int,
    *_: Any,
) -> Tensor:
    return nn.functional.conv2d(
        x, weight, None, stride, padding, dilation, groups
    )
