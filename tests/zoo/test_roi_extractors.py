"""RoIAlign of inverted boxes on a CPU, as the CUDA kernel samples them."""

import pytest
import torch
from mmcv.ops import RoIAlign

from mmdet_cppe5.models.roi_extractors import (
    AnywhereRoIAlign,
    AnywhereRoIExtractor,
)

# Value 10 * row + column: a sample inside the map reads 10 * y + x.
RAMP = (torch.arange(8.0)[:, None] * 10 + torch.arange(9.0)[None])[None, None]


def test_upright_boxes_are_mmcv_s():
    rois = torch.tensor([[0, 1.0, 1.0, 5.0, 6.0], [0, 2.0, 2.0, 2.0, 3.0]])
    ours, stock = (
        AnywhereRoIAlign(3, sampling_ratio=2),
        RoIAlign(3, sampling_ratio=2),
    )

    assert torch.equal(ours(RAMP, rois), stock(RAMP, rois))


def test_stock_aborts_on_an_inverted_box():
    inverted = torch.tensor([[0, 5.0, 6.0, 1.0, 2.0]])

    with pytest.raises(RuntimeError, match='size'):
        RoIAlign(2, sampling_ratio=2)(RAMP, inverted)


@pytest.mark.parametrize(
    ('box', 'columns', 'rows'),
    [
        # Bins of a box from x 5 to 1: centres at 4 and 2, less half a cell.
        ((5, 6, 1, 2), (3.5, 1.5), (4.5, 2.5)),
        ((5, 2, 1, 6), (3.5, 1.5), (2.5, 4.5)),
        ((1, 6, 5, 2), (1.5, 3.5), (4.5, 2.5)),
    ],
)
def test_inverted_boxes_are_sampled_mirrored_by_hand(box, columns, rows):
    rois = torch.tensor([[0.0, *box], [0, 1, 2, 5, 6]])

    got = AnywhereRoIAlign(2, sampling_ratio=1)(RAMP, rois)

    want = [[10 * y + x for x in columns] for y in rows]
    torch.testing.assert_close(got[0, 0], torch.tensor(want))
    upright = [[10 * y + x for x in (1.5, 3.5)] for y in (2.5, 4.5)]
    torch.testing.assert_close(got[1, 0], torch.tensor(upright))


def test_adaptive_sampling_takes_no_sample_of_an_inverted_box():
    rois = torch.tensor([[0, 5.0, 6.0, 1.0, 2.0], [0, 1.0, 2.0, 5.0, 6.0]])

    got = AnywhereRoIAlign(2, sampling_ratio=0)(RAMP, rois)

    assert not got[0].any()
    assert got[1].all()


def test_gradients_pass_through_the_mirroring():
    features = RAMP.clone().requires_grad_()
    rois = torch.tensor([[0, 4.5, 5.5, 2.5, 3.5]])

    AnywhereRoIAlign((1, 2), sampling_ratio=1)(features, rois)[
        0, 0, 0, 0
    ].backward()

    # The first bin is the right one: x 4 - 0.5, y 4.5 - 0.5.
    want = torch.zeros(8, 9)
    want[4, 3:5] = 0.5
    torch.testing.assert_close(features.grad[0, 0], want)


def test_extractor_refuses_a_layer_it_does_not_have():
    with pytest.raises(KeyError, match='RoIPool'):
        AnywhereRoIExtractor(dict(type='RoIPool', output_size=7), 256, [4])
