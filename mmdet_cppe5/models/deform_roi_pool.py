"""Deformable RoI pooling in plain torch, for where mmcv has no kernel.

mmcv 2.1 implements ``deform_roi_pool`` on GPUs only. This is the arithmetic of
its CUDA kernels (``deform_roi_pool_cuda_kernel.cuh``), sample for sample, the
backward pass included: at a border the kernel derives the pixels it read at
the coordinate before clamping, and so does this.

RoIs are ``(image, x1, y1, x2, y2)`` in input pixels; the centre of a feature
map's first cell has the coordinate 0. Letters of shapes: B images, C channels,
H x W cells, N RoIs (n in one part), P x Q bins, S samples of a bin.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from mmcv.ops import ModulatedDeformRoIPoolPack
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable

# Values gathered at once; bounds the memory that large RoIs take.
_PART_VALUES = 1 << 24


class _Geometry(NamedTuple):
    """The arguments of mmcv's operator that are not tensors."""

    output_size: tuple[int, int]
    spatial_scale: float
    sampling_ratio: int
    gamma: float


class _Samples(NamedTuple):
    """Where the bins of some RoIs read the feature map."""

    chosen: Tensor  # [n] positions of the RoIs
    corners: Tensor  # [4, n, P*Q, S] rows of the flattened map
    weights: Tensor  # [4, n, P*Q, S] zero outside the map
    from_low: Tensor  # [2, n, P*Q, S] unclamped x, y less the lower corner
    to_high: Tensor  # [2, n, P*Q, S] the upper corner less unclamped x, y
    inside: Tensor  # [n, P*Q, S]


def deform_roi_pool_torch(
    features: Tensor,
    rois: Tensor,
    offset: Tensor | None,
    output_size: tuple[int, int],
    spatial_scale: float = 1.0,
    sampling_ratio: int = 0,
    gamma: float = 0.1,
) -> Tensor:
    """Average-pool RoIs whose bins are shifted, as mmcv's CUDA operator does.

    Args:
        features: feature maps, [B, C, H, W].
        rois: [N, 5], ``(image, x1, y1, x2, y2)`` in input pixels.
        offset: [N, 2, P, Q], the x and y shift of each bin; 1 is the fraction
            ``gamma`` of the RoI's width or height. ``None`` for no shift.
        output_size: bins of a RoI, (P, Q).
        spatial_scale: feature cells per input pixel.
        sampling_ratio: samples per bin and axis; 0 takes one per cell.
        gamma: see ``offset``.

    Returns:
        Pooled features, [N, C, P, Q]. A RoI without samples (an empty or
        inverted one with ``sampling_ratio`` 0) is zero, as in the kernel.
    """
    geometry = _Geometry(output_size, spatial_scale, sampling_ratio, gamma)
    return _DeformRoIPool.apply(features, rois, offset, geometry)


class AnywhereModulatedDeformRoIPool(ModulatedDeformRoIPoolPack):
    """``ModulatedDeformRoIPoolPack`` that also runs on a CPU.

    Parameters and their names are mmcv's, so checkpoints fit both ways. On a
    GPU it is mmcv's module, unchanged.
    """

    def forward(self, features: Tensor, rois: Tensor) -> Tensor:
        """Pool RoIs with learnt shifts and weights of their bins.

        Args:
            features: feature maps, [B, C, H, W].
            rois: [N, 5], ``(image, x1, y1, x2, y2)`` in input pixels.

        Returns:
            Pooled features, [N, C, P, Q].
        """
        if features.is_cuda:
            return super().forward(features, rois)
        plain = self._pool(features, rois, None).flatten(1)
        offset = self.offset_fc(plain).view(-1, 2, *self.output_size)
        mask = self.mask_fc(plain).view(-1, 1, *self.output_size)
        return self._pool(features, rois, offset) * mask

    def _pool(
        self, features: Tensor, rois: Tensor, offset: Tensor | None
    ) -> Tensor:
        return deform_roi_pool_torch(
            features,
            rois,
            offset,
            self.output_size,
            self.spatial_scale,
            self.sampling_ratio,
            self.gamma,
        )


class _DeformRoIPool(Function):
    """The operator with the derivative that the kernel computes."""

    @staticmethod
    def forward(
        ctx: Any,
        features: Tensor,
        rois: Tensor,
        offset: Tensor | None,
        geometry: _Geometry,
    ) -> Tensor:
        """Pool, see ``deform_roi_pool_torch``."""
        ctx.save_for_backward(features, rois, offset)
        ctx.geometry = geometry
        rows = features.permute(0, 2, 3, 1).flatten(0, 2)  # [B*H*W, C]
        bins = geometry.output_size[0] * geometry.output_size[1]
        pooled = rows.new_zeros(len(rois), bins, rows.shape[1])
        for part in _samples(features, rois, offset, geometry):
            values = rows[part.corners]  # [4, n, P*Q, S, C]
            total = (values * part.weights[..., None]).sum(dim=(0, 3))
            pooled[part.chosen] = total / part.inside.shape[-1]
        return pooled.transpose(1, 2).unflatten(2, geometry.output_size)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_output: Tensor) -> tuple:
        """Derive by the features and the offsets."""
        features, rois, offset = ctx.saved_tensors
        rows = features.permute(0, 2, 3, 1).flatten(0, 2)
        grad_rows = torch.zeros_like(rows)
        grad_offset = None if offset is None else torch.zeros_like(offset)
        upstream = grad_output.flatten(2).transpose(1, 2)  # [N, P*Q, C]
        for part in _samples(features, rois, offset, ctx.geometry):
            grad = upstream[part.chosen, :, None] / part.inside.shape[-1]
            spread = grad * part.weights[..., None]  # [4, n, P*Q, S, C]
            grad_rows.index_add_(
                0, part.corners.flatten(), spread.flatten(0, -2)
            )
            if grad_offset is not None:
                _, extent = _frame(rois[part.chosen], ctx.geometry)
                slope = _slope((rows[part.corners] * grad).sum(-1), part)
                slope = slope * ctx.geometry.gamma * extent[..., None]
                grad_offset[part.chosen] = slope.view_as(offset[part.chosen])
        batch, channels, height, width = features.shape
        grad_features = grad_rows.view(batch, height, width, channels)
        return grad_features.permute(0, 3, 1, 2), None, grad_offset, None


def _frame(rois: Tensor, geometry: _Geometry) -> tuple[Tensor, Tensor]:
    """Return start and extent (x, y) of RoIs in cells, [N, 2] each."""
    corners = rois[:, 1:] * geometry.spatial_scale - 0.5
    return corners[:, :2], corners[:, 2:] - corners[:, :2]


def _slope(values: Tensor, part: _Samples) -> Tensor:
    """Return the derivative of a bin by its shift in cells, [n, 2, P*Q].

    Args:
        values: the four corners that a sample reads, times the upstream
            gradient and summed over channels, [4, n, P*Q, S].
        part: the samples.
    """
    v00, v01, v10, v11 = values  # upper left, upper right, lower left, ...
    (x_from, y_from), (x_to, y_to) = part.from_low, part.to_high
    by_x = (v11 - v10) * y_from + (v01 - v00) * y_to
    by_y = (v11 - v01) * x_from + (v10 - v00) * x_to
    return (torch.stack([by_x, by_y], dim=1) * part.inside[:, None]).sum(-1)


def _samples(
    features: Tensor,
    rois: Tensor,
    offset: Tensor | None,
    geometry: _Geometry,
) -> Iterator[_Samples]:
    """Yield the samples of all RoIs that have some, in bounded parts."""
    rows, columns = geometry.output_size
    _, extent = _frame(rois, geometry)
    per_bin = extent / extent.new_tensor([columns, rows])
    if geometry.sampling_ratio > 0:
        counts = torch.full_like(per_bin, geometry.sampling_ratio).long()
    else:
        counts = per_bin.ceil().long()
    for across, down in torch.unique(counts, dim=0).tolist():
        if across <= 0 or down <= 0:
            continue
        same = (counts == counts.new_tensor([across, down])).all(1)
        values = 4 * rows * columns * across * down * features.shape[1]
        for chosen in same.nonzero()[:, 0].split(
            max(1, _PART_VALUES // values)
        ):
            shift = None if offset is None else offset[chosen]
            x, y = _coordinates(rois[chosen], shift, (across, down), geometry)
            yield _read(features, rois[chosen, 0], chosen, x, y)


def _coordinates(
    rois: Tensor,
    offset: Tensor | None,
    counts: tuple[int, int],
    geometry: _Geometry,
) -> tuple[Tensor, Tensor]:
    """Return x and y of all samples in cells, [n, P*Q, S] each."""
    start, extent = _frame(rois, geometry)
    rows, columns = geometry.output_size
    size = extent / extent.new_tensor([columns, rows])
    origin = start.T[:, :, None, None].expand(-1, -1, rows, columns)
    if offset is not None:
        shift = geometry.gamma * extent.T[:, :, None, None]
        origin = origin + shift * offset.transpose(0, 1)  # [2, n, P, Q]
    column = torch.arange(columns).to(start)
    row = torch.arange(rows).to(start)
    x = origin[0] + column * size[:, 0, None, None]
    y = origin[1] + row[:, None] * size[:, 1, None, None]
    across, down = (
        (torch.arange(count).to(start) + 0.5) / count for count in counts
    )
    x = x[..., None, None] + across * size[:, 0, None, None, None, None]
    y = y[..., None, None] + down[:, None] * size[:, 1, None, None, None, None]
    x, y = torch.broadcast_tensors(x, y)  # [n, P, Q, down, across]
    return x.flatten(3).flatten(1, 2), y.flatten(3).flatten(1, 2)


def _read(
    features: Tensor, images: Tensor, chosen: Tensor, x: Tensor, y: Tensor
) -> _Samples:
    """Return the corners and weights with which samples read the map."""
    height, width = features.shape[2:]
    inside = (y >= -1) & (y <= height) & (x >= -1) & (x <= width)
    low, high, fraction = [], [], []
    for value, size in ((x, width), (y, height)):
        clamped = value.clamp(min=0)
        lower = clamped.long().clamp(max=size - 1)
        low.append(lower)
        high.append((lower + 1).clamp(max=size - 1))
        # The last cell reads itself, whatever the coordinate.
        fraction.append(
            torch.where(lower == size - 1, 0.0, clamped - lower).to(value)
        )
    fx, fy = fraction
    first = images.long()[:, None, None] * height
    upper, lower = (first + low[1]) * width, (first + high[1]) * width
    corners = torch.stack(
        [upper + low[0], upper + high[0], lower + low[0], lower + high[0]]
    )
    weights = torch.stack(
        [(1 - fy) * (1 - fx), (1 - fy) * fx, fy * (1 - fx), fy * fx]
    )
    position = torch.stack([x, y])
    return _Samples(
        chosen,
        corners,
        weights * inside,
        position - torch.stack(low),
        torch.stack(high) - position,
        inside,
    )
