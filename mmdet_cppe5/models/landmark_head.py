"""Landmarks of garments, in the place of a two-stage detector's mask head."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

import torch
from mmcv.cnn import ConvModule
from mmdet.models.roi_heads import StandardRoIHead
from mmdet.models.task_modules.samplers import SamplingResult
from mmdet.registry import MODELS
from mmdet.structures.bbox import get_box_tensor, scale_boxes
from mmengine.model import BaseModule
from mmengine.structures import InstanceData
from torch import nn
from torch.nn import functional

from mmdet_cppe5.deepfashion2.categories import NUM_LANDMARKS

# How far around its region a landmark is looked for, in its width or height:
# a detected box may cut a garment.
_MARGIN = 0.25


@MODELS.register_module()
class LandmarkHead(BaseModule):
    """All 294 landmarks of a region, as the mean places of heat maps.

    One map for each landmark is turned into shares by softmax, and the mean
    place under these shares is the landmark (integral regression, Sun et
    al., arXiv:1711.08229). Places are learnt directly, so that maps of 14 x
    14 cells suffice where classified cells would need several times as many;
    with 294 landmarks a region that is what memory allows. Only the labelled
    landmarks of a region's garment are learnt from. Which garment it is, the
    box head says: of the predicted landmarks only those of the predicted
    category mean something.

    Args:
        in_channels: of the region's features.
        channels: of the convolutions.
        num_convs: number of convolutions before the maps.
        loss_weight: of the smooth L1 loss of places, the region's width and
            height being 1.
        init_cfg: as in ``BaseModule``.
    """

    def __init__(
        self,
        in_channels: int = 256,
        channels: int = 256,
        num_convs: int = 4,
        loss_weight: float = 5.0,
        init_cfg: Optional[dict[str, Any]] = None,
    ) -> None:
        super().__init__(init_cfg)
        widths = [in_channels, *[channels] * num_convs]
        self.convs = nn.Sequential(
            *(
                ConvModule(before, after, 3, padding=1)
                for before, after in zip(widths, widths[1:])
            )
        )
        # Softmax over a map's cells does not see a constant.
        self.maps = nn.Conv2d(widths[-1], NUM_LANDMARKS, 1, bias=False)
        self.loss_weight = loss_weight

    def forward(self, regions: torch.Tensor) -> torch.Tensor:
        """Return where landmarks lie in their regions.

        Args:
            regions: features ``(n, C, h, w)``.

        Returns:
            x, y of each, ``(n, 294, 2)``; a region reaches from 0 to 1.
        """
        maps = self.maps(self.convs(regions))  # (n, 294, h, w)
        shares = maps.flatten(2).softmax(dim=2)
        height, width = maps.shape[2:]
        ys, xs = (
            torch.linspace(-_MARGIN, 1 + _MARGIN, cells, device=maps.device)
            for cells in (height, width)
        )
        grid = torch.stack(
            [xs.repeat(height), ys.repeat_interleave(width)], dim=1
        )  # (h * w, 2)
        return shares @ grid.to(shares.dtype)

    def loss_and_target(
        self,
        mask_preds: torch.Tensor,
        sampling_results: Sequence[SamplingResult],
        batch_gt_instances: Sequence[InstanceData],
        rcnn_train_cfg: Any,
    ) -> dict[str, Any]:
        """Return the loss, as ``StandardRoIHead`` asks a mask head for it.

        Args:
            mask_preds: places in the positive regions, ``(n, 294, 2)``.
            sampling_results: which regions are positive, and for what.
            batch_gt_instances: annotations with ``landmarks``
                ``(items, 294, 3)``.
            rcnn_train_cfg: not used.
        """
        targets, labelled = [], []
        for sampled, truth in zip(sampling_results, batch_gt_instances):
            own = truth.landmarks[sampled.pos_assigned_gt_inds]
            low, size = _corner_and_size(sampled.pos_priors)
            targets.append((own[:, :, :2] - low) / size)
            labelled.append(own[:, :, 2] > 0)
        weight = torch.cat(labelled)[:, :, None].to(mask_preds.dtype)
        distance = functional.smooth_l1_loss(
            mask_preds, torch.cat(targets), reduction='none', beta=0.05
        )
        mean = (distance * weight).sum() / (2 * weight.sum()).clamp(min=1)
        loss = {'loss_landmark': self.loss_weight * mean}
        return {'loss_mask': loss, 'mask_targets': None}

    def predict_by_feat(
        self,
        mask_preds: Sequence[torch.Tensor],
        results_list: list[InstanceData],
        batch_img_metas: Sequence[dict[str, Any]],
        rcnn_test_cfg: Any,
        rescale: bool = False,
    ) -> list[InstanceData]:
        """Add ``keypoints`` ``(n, 294, 2)`` to the detections.

        Args:
            mask_preds: places in each image's detected boxes.
            results_list: detections in the network's input.
            batch_img_metas: meta information of the images.
            rcnn_test_cfg: not used.
            rescale: return boxes and landmarks in original pixels.
        """
        for places, found, meta in zip(
            mask_preds, results_list, batch_img_metas
        ):
            if rescale:
                back = [1 / factor for factor in meta['scale_factor']]
                found.bboxes = scale_boxes(found.bboxes, back)
            low, size = _corner_and_size(get_box_tensor(found.bboxes))
            found.keypoints = low + places * size
        return results_list


@MODELS.register_module()
class LandmarkRoIHead(StandardRoIHead):
    """``StandardRoIHead`` with a :class:`LandmarkHead` as its mask head."""

    def predict_mask(
        self,
        x: tuple[torch.Tensor, ...],
        batch_img_metas: list[dict[str, Any]],
        results_list: list[InstanceData],
        rescale: bool = False,
    ) -> list[InstanceData]:
        """Add landmarks to the detections, where there are any."""
        if any(len(found) for found in results_list):
            return super().predict_mask(
                x, batch_img_metas, results_list, rescale
            )
        for found in results_list:
            none = found.bboxes.new_zeros((0, NUM_LANDMARKS, 2))
            found.keypoints = none
        return results_list


def _corner_and_size(
    boxes: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return x1, y1 and width, height of boxes ``(n, 4)``, ``(n, 1, 2)``."""
    boxes = get_box_tensor(boxes)[:, None]
    return boxes[..., :2], (boxes[..., 2:] - boxes[..., :2]).clamp(min=1e-3)
