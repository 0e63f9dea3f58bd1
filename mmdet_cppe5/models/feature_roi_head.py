"""A RoI head whose detections carry the features that they were seen by."""

from __future__ import annotations

from typing import Any, Optional

import torch
from mmdet.models.roi_heads import StandardRoIHead
from mmdet.registry import MODELS
from mmdet.structures.bbox import bbox2roi, get_box_tensor, scale_boxes
from mmengine.structures import InstanceData


@MODELS.register_module()
class FeatureRoIHead(StandardRoIHead):
    """Give every detection the mean feature of its region.

    ``pred_instances.features``, float ``(n, C)``, are the box head's RoI
    features of the *detected* boxes, averaged over the region's grid: a
    plain descriptor for retrieval that needs no training of its own. Nothing
    else changes, so it takes the checkpoints of ``StandardRoIHead``.
    """

    def predict_bbox(
        self,
        x: tuple[torch.Tensor, ...],
        batch_img_metas: list[dict[str, Any]],
        rpn_results_list: list[InstanceData],
        rcnn_test_cfg: Optional[Any],
        rescale: bool = False,
    ) -> list[InstanceData]:
        """Detect as ``StandardRoIHead`` does and add the features.

        Args:
            x: feature maps of the levels.
            batch_img_metas: meta information of the images.
            rpn_results_list: proposals of the images.
            rcnn_test_cfg: thresholds and limits.
            rescale: return boxes in the original images' pixels.

        Returns:
            One ``InstanceData`` for each image.
        """
        found = super().predict_bbox(
            x, batch_img_metas, rpn_results_list, rcnn_test_cfg, rescale
        )
        boxes = []
        for each, meta in zip(found, batch_img_metas):
            own = get_box_tensor(each.bboxes)
            # Features lie where the boxes are in the network's input.
            factors = meta['scale_factor'] if rescale else (1, 1)
            boxes.append(scale_boxes(own, factors))
        for each, features in zip(found, self._mean_features(x, boxes)):
            each.features = features
        return found

    def _mean_features(
        self, x: tuple[torch.Tensor, ...], boxes: list[torch.Tensor]
    ) -> tuple[torch.Tensor, ...]:
        """Return each image's features ``(n, C)`` of its boxes ``(n, 4)``."""
        extractor = self.bbox_roi_extractor
        levels = x[: extractor.num_inputs]
        rois = bbox2roi(boxes)
        if len(rois):
            regions = extractor(levels, rois)  # (n, C, h, w)
            means = regions.mean(dim=(2, 3))
        else:
            means = levels[0].new_zeros((0, extractor.out_channels))
        return means.split([len(each) for each in boxes])
