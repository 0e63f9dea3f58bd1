"""The CPU deformable RoI pooling against mmcv's roi_align and by hand."""

import pytest
import torch
from mmcv.ops import ModulatedDeformRoIPoolPack, roi_align

from mmdet_cppe5.models import deform_roi_pool
from mmdet_cppe5.models.deform_roi_pool import (
    AnywhereModulatedDeformRoIPool,
    deform_roi_pool_torch,
)


def random_case(seed, rois=40, dtype=torch.float64):
    """Maps of 2 images and RoIs of all sizes, some beyond the border."""
    generator = torch.Generator().manual_seed(seed)
    features = torch.randn(2, 3, 13, 17, generator=generator, dtype=dtype)
    corners = torch.rand(rois, 2, generator=generator, dtype=dtype)
    corners = corners * torch.tensor([80.0, 60.0]) - 10
    sizes = torch.rand(rois, 2, generator=generator, dtype=dtype) * 70
    image = torch.randint(2, (rois, 1), generator=generator).to(dtype)
    return features, torch.cat([image, corners, corners + sizes], dim=1)


@pytest.mark.parametrize('sampling_ratio', [0, 1, 2, 3])
@pytest.mark.parametrize('output_size', [(7, 7), (2, 5)])
def test_without_shift_it_is_average_roi_align(sampling_ratio, output_size):
    features, rois = random_case(seed=1)
    ours, theirs = features.clone(), features.clone()
    ours.requires_grad_()
    theirs.requires_grad_()
    zero = torch.zeros(len(rois), 2, *output_size, dtype=torch.float64)

    got = deform_roi_pool_torch(
        ours, rois, zero, output_size, 0.25, sampling_ratio
    )
    want = roi_align(theirs, rois, output_size, 0.25, sampling_ratio)

    torch.testing.assert_close(got, want, rtol=0, atol=1e-12)
    weight = torch.linspace(-1, 1, got.numel(), dtype=torch.float64)
    (got.flatten() * weight).sum().backward()
    (want.flatten() * weight).sum().backward()
    torch.testing.assert_close(ours.grad, theirs.grad, rtol=0, atol=1e-11)


def test_one_shift_for_all_bins_moves_the_roi():
    features, rois = random_case(seed=2)
    gamma, scale = 0.1, 0.25
    move = torch.tensor([1.5, -0.75], dtype=torch.float64)
    offset = move[None, :, None, None].expand(len(rois), 2, 4, 4)
    size = rois[:, 3:] - rois[:, 1:3]
    moved = rois.clone()
    moved[:, 1:3] += gamma * size * move
    moved[:, 3:] += gamma * size * move

    got = deform_roi_pool_torch(
        features, rois, offset, (4, 4), scale, 2, gamma
    )

    want = roi_align(features, moved, (4, 4), scale, 2)
    torch.testing.assert_close(got, want, rtol=0, atol=1e-12)


def test_each_bin_with_its_shift_is_a_roi_of_its_own():
    features, rois = random_case(seed=3, rois=6)
    generator = torch.Generator().manual_seed(4)
    offset = torch.randn(6, 2, 2, 3, generator=generator, dtype=torch.float64)
    gamma = 0.3

    got = deform_roi_pool_torch(features, rois, offset, (2, 3), 1.0, 2, gamma)

    for n, (image, x1, y1, x2, y2) in enumerate(rois):
        width, height = (x2 - x1) / 3, (y2 - y1) / 2
        for row in range(2):
            for column in range(3):
                left = x1 + column * width
                left = left + gamma * (x2 - x1) * offset[n, 0, row, column]
                top = y1 + row * height
                top = top + gamma * (y2 - y1) * offset[n, 1, row, column]
                one = torch.stack(
                    [image, left, top, left + width, top + height]
                )
                want = roi_align(features, one[None], (1, 1), 1.0, 2)
                torch.testing.assert_close(
                    got[n, :, row, column], want[0, :, 0, 0]
                )


# One image, one channel, value 10 * row + column, so a sample inside the map
# reads 10 * y + x.
RAMP = (torch.arange(4.0)[:, None] * 10 + torch.arange(5.0)[None]).double()[
    None, None
]


def pool_ramp(roi, offset=(0.0, 0.0), ratio=1, gamma=0.5):
    rois = torch.tensor([[0.0, *roi]], dtype=torch.float64)
    shift = torch.tensor(offset, dtype=torch.float64).view(1, 2, 1, 1)
    shift.requires_grad_()
    features = RAMP.clone().requires_grad_()
    pooled = deform_roi_pool_torch(
        features, rois, shift, (1, 1), 1.0, ratio, gamma
    )
    pooled.sum().backward()
    return pooled.item(), shift.grad.flatten().tolist(), features.grad[0, 0]


def test_one_sample_inside_by_hand():
    # The RoI is 2 wide and 1 high; half a cell is taken off, so its middle
    # (2, 1.5) is the sample (1.5, 1.0), shifted by 0.5 * 2 * 0.5 in x and by
    # 0.5 * 1 * 0.5 in y.
    value, slope, _ = pool_ramp((1.0, 1.0, 3.0, 2.0), offset=(0.5, 0.5))

    assert value == pytest.approx(10 * (1.0 + 0.25) + (1.5 + 0.5))
    # d value / d x is 1 and d x / d offset is gamma * width; y likewise.
    assert slope == pytest.approx([1 * 0.5 * 2, 10 * 0.5 * 1])


def test_samples_are_averaged_by_hand():
    # 2 x 2 samples of the bin [0.5, 2.5] x [0.5, 2.5] in cells.
    value, _, grad = pool_ramp((1.0, 1.0, 3.0, 3.0), ratio=0)

    assert value == pytest.approx((11 + 12 + 21 + 22) / 4)
    want = torch.zeros(4, 5, dtype=torch.float64)
    want[1:3, 1:3] = 1 / 4
    torch.testing.assert_close(grad, want)


def test_upper_left_border_reads_and_derives_as_the_kernel_by_hand():
    # The sample is (-0.5, -0.25): within a cell of the border, so it reads
    # the first cell, and the kernel derives with the unclamped coordinates:
    # by x: (v11 - v10) * (y - 0) + (v01 - v00) * (1 - y) = 1 * -.25 + 1.25.
    value, slope, grad = pool_ramp((-1.0, -0.75, 1.0, 1.25))

    assert value == 0
    assert slope == pytest.approx(
        [(1 * -0.25 + 1 * 1.25) * 0.5 * 2, (10 * -0.5 + 10 * 1.5) * 0.5 * 2]
    )
    assert grad[0, 0] == 1
    assert grad.sum() == 1


def test_last_cell_reads_itself_and_has_no_slope():
    # The sample is (4.25, 3.5) in a map of 5 x 4 cells.
    value, slope, grad = pool_ramp((3.75, 3.0, 5.75, 5.0))

    assert value == 34
    assert slope == [0, 0]
    assert grad[3, 4] == 1


def test_beyond_a_cell_of_the_border_nothing_is_read():
    value, slope, grad = pool_ramp((-3.0, 1.0, 0.8, 2.0))

    assert (value, slope) == (0, [0, 0])
    assert not grad.any()


@pytest.mark.parametrize('roi', [(2, 1, 2, 3), (3, 1, 1, 3), (3, 3, 1, 1)])
def test_empty_and_inverted_rois_take_no_sample(roi):
    value, slope, grad = pool_ramp(roi, ratio=0)

    assert (value, slope) == (0, [0, 0])
    assert not grad.any()


def test_derivative_matches_finite_differences_inside():
    generator = torch.Generator().manual_seed(5)
    features = torch.randn(1, 2, 9, 9, generator=generator).double()
    offset = torch.randn(2, 2, 2, 2, generator=generator).double() * 0.1
    rois = torch.tensor([[0, 2.1, 2.3, 6.2, 6.4], [0, 3, 3, 5.6, 4.7]])
    features.requires_grad_()
    offset.requires_grad_()

    assert torch.autograd.gradcheck(
        lambda f, o: deform_roi_pool_torch(f, rois.double(), o, (2, 2)),
        (features, offset),
        eps=1e-7,
        atol=1e-6,
    )


def test_parts_add_up(monkeypatch):
    features, rois = random_case(seed=6)
    offset = torch.rand(len(rois), 2, 3, 3, dtype=torch.float64)
    want = deform_roi_pool_torch(features, rois, offset, (3, 3), 0.25)
    monkeypatch.setattr(deform_roi_pool, '_PART_VALUES', 1000)

    got = deform_roi_pool_torch(features, rois, offset, (3, 3), 0.25)

    torch.testing.assert_close(got, want, rtol=0, atol=0)


def test_module_has_the_parameters_of_mmcv():
    ours = AnywhereModulatedDeformRoIPool(2, 3, deform_fc_channels=8)
    stock = ModulatedDeformRoIPoolPack(2, 3, deform_fc_channels=8)

    assert ours.load_state_dict(stock.state_dict()) is not None
    features, rois = random_case(seed=7, rois=5, dtype=torch.float32)
    # Fresh shifts are zero and fresh weights one half.
    torch.testing.assert_close(
        ours(features, rois), roi_align(features, rois, (2, 2)) / 2
    )
