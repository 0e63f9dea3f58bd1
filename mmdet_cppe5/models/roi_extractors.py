"""A RoI extractor whose pooling runs on CPUs where the stock one cannot."""

from __future__ import annotations

from mmcv.ops import RoIAlign
from mmdet.models.roi_heads.roi_extractors import SingleRoIExtractor
from mmdet.registry import MODELS
from mmdet.utils import ConfigType
from torch import Tensor, nn

from mmdet_cppe5.core.settings import listed
from mmdet_cppe5.models.deform_roi_pool import AnywhereModulatedDeformRoIPool


class AnywhereRoIAlign(RoIAlign):
    """``RoIAlign`` that takes inverted boxes on a CPU too.

    Sparse R-CNN regresses boxes freely, so some come out with a right edge
    left of the left one. mmcv's CUDA kernel samples them mirrored; its CPU
    kernel aborts. Here an inverted box is turned over, pooled and the result
    mirrored, which reads the same samples as the CUDA kernel. With
    ``sampling_ratio`` 0 that kernel takes no sample and gives zero, so does
    this. Other boxes, and all boxes on a GPU, go to mmcv unchanged.
    """

    def forward(self, features: Tensor, rois: Tensor) -> Tensor:
        """Pool RoIs.

        Args:
            features: feature maps, [B, C, H, W].
            rois: [N, 5], ``(image, x1, y1, x2, y2)`` in input pixels.

        Returns:
            Pooled features, [N, C, P, Q].
        """
        inverted = rois[:, 3:] < rois[:, 1:3]  # [N, 2] in x, in y
        if features.is_cuda or not (self.aligned and inverted.any()):
            return super().forward(features, rois)
        first, second = rois[:, 1:3], rois[:, 3:]
        upright = rois.clone()
        upright[:, 1:3] = first.minimum(second)
        upright[:, 3:] = first.maximum(second)
        pooled = super().forward(features, upright)
        if self.sampling_ratio <= 0:
            return pooled * ~inverted.any(1)[:, None, None, None]
        for axis, mirrored in zip((3, 2), inverted.T):
            pooled = pooled.where(
                ~mirrored[:, None, None, None], pooled.flip(axis)
            )
        return pooled


_ANYWHERE = {
    'RoIAlign': AnywhereRoIAlign,
    'ModulatedDeformRoIPoolPack': AnywhereModulatedDeformRoIPool,
}


@MODELS.register_module()
class AnywhereRoIExtractor(SingleRoIExtractor):
    """``SingleRoIExtractor`` whose RoI layer also runs on a CPU.

    The layer is named as for the stock extractor, ``RoIAlign`` or
    ``ModulatedDeformRoIPoolPack``, and has the same parameters.
    """

    def build_roi_layers(
        self, layer_cfg: ConfigType, featmap_strides: list[int]
    ) -> nn.ModuleList:
        """Build one layer for each feature level.

        Raises:
            KeyError: if the layer is one that this extractor does not have.
        """
        layer = layer_cfg['type']
        if layer not in _ANYWHERE:
            raise KeyError(
                'Expected roi_layer.type to be one of '
                f'{listed(sorted(_ANYWHERE))}, but got {layer!r}; '
                'use SingleRoIExtractor for other layers.'
            )
        return super().build_roi_layers(
            dict(layer_cfg, type=_ANYWHERE[layer]), featmap_strides
        )
