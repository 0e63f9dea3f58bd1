"""The landmark head: hand-worked places and losses, and that it learns."""

from types import SimpleNamespace

import pytest
import torch
from mmengine.structures import InstanceData

from mmdet_cppe5.models.landmark_head import LandmarkHead, LandmarkRoIHead


@pytest.fixture
def head():
    torch.manual_seed(0)
    return LandmarkHead(in_channels=3, channels=8, num_convs=1, loss_weight=1)


class FixedMaps(torch.nn.Module):
    """Gives every landmark of every region the same map ``(h, w)``."""

    def __init__(self, value):
        super().__init__()
        self.value = value

    def forward(self, regions):
        return self.value.expand(len(regions), 294, *self.value.shape)


def with_maps(head, value):
    head.convs, head.maps = torch.nn.Identity(), FixedMaps(value)
    return head


def test_places_are_the_mean_of_the_map_by_hand(head):
    regions = torch.zeros(2, 3, 4, 4)
    flat = with_maps(head, torch.zeros(4, 4))(regions)
    torch.testing.assert_close(flat, torch.full((2, 294, 2), 0.5))
    # All of the weight in the last column of the first row.
    corner = torch.zeros(4, 4)
    corner[0, 3] = 99
    places = with_maps(head, corner)(regions)
    wanted = torch.tensor([1.25, -0.25]).expand(2, 294, 2)
    torch.testing.assert_close(places, wanted)
    # Equal weight in the first and the second of three columns, which stand
    # for -1/4, 1/2 and 5/4; all of it in the first row.
    half = torch.tensor([[50.0, 50.0, 0.0], [0, 0, 0]])
    places = with_maps(head, half)(torch.zeros(1, 3, 2, 3))
    torch.testing.assert_close(places[0, 0], torch.tensor([1 / 8, -1 / 4]))


def sampled(boxes, items):
    return SimpleNamespace(
        pos_priors=torch.tensor(boxes).float(),
        pos_assigned_gt_inds=torch.tensor(items),
    )


def test_loss_by_hand(head):
    """Two images; each region is compared with its own item's landmarks."""
    landmarks = torch.zeros(2, 294, 3)
    landmarks[1, 7] = torch.tensor([30.0, 20.0, 2])
    landmarks[1, 8] = torch.tensor([10.0, 60.0, 1])
    landmarks[1, 9] = torch.tensor([99.0, 99.0, 0])
    other = torch.zeros(1, 294, 3)
    other[0, 0] = torch.tensor([0.0, 0.0, 2])
    truth = [InstanceData(landmarks=landmarks), InstanceData(landmarks=other)]
    samples = [
        sampled([[10, 20, 50, 60]], [1]),
        sampled([[0, 0, 10, 10], [0, 0, 10, 10]], [0, 0]),
    ]
    places = torch.full((3, 294, 2), 0.5)
    # The first lies at (20 / 40, 0), the second at (0, 40 / 40), the others
    # at (0, 0). Smooth L1 beyond 0.05 is distance - 0.025.
    places[0, 8] = torch.tensor([0.0, 0.9])
    places[1, 0] = torch.tensor([0.0, 0.01])
    distances = [0, 0.475, 0, 0.075, 0, 0.01**2 / (2 * 0.05), 0.475, 0.475]
    got = head.loss_and_target(places, samples, truth, None)['loss_mask']
    wanted = torch.tensor(sum(distances) / 8)
    torch.testing.assert_close(got['loss_landmark'], wanted)


def test_no_labelled_landmark_costs_nothing(head):
    truth = [InstanceData(landmarks=torch.zeros(1, 294, 3))]
    samples = [sampled([[0, 0, 9, 9]], [0])]
    places = torch.rand(1, 294, 2, requires_grad=True)
    loss = head.loss_and_target(places, samples, truth, None)['loss_mask']
    loss['loss_landmark'].backward()
    assert loss['loss_landmark'] == 0
    assert places.grad.abs().sum() == 0


@pytest.mark.parametrize('rescale', [False, True])
def test_predicted_pixels_by_hand(head, rescale):
    found = InstanceData(bboxes=torch.tensor([[10.0, 20, 50, 60]]))
    places = torch.zeros(1, 294, 2)
    places[0, 5] = torch.tensor([0.5, 1.25])
    metas = [{'scale_factor': (2.0, 4.0)}]
    (got,) = head.predict_by_feat([places], [found], metas, None, rescale)
    pixels = torch.tensor([10 + 0.5 * 40, 20 + 1.25 * 40])
    corners = torch.tensor([[10.0, 20, 50, 60]])
    if rescale:
        pixels = pixels / torch.tensor([2.0, 4.0])
        corners = corners / torch.tensor([2.0, 4.0, 2.0, 4.0])
    torch.testing.assert_close(got.keypoints[0, 5], pixels)
    torch.testing.assert_close(got.bboxes, corners)


def test_images_without_detections_have_no_landmarks():
    found = [InstanceData(bboxes=torch.zeros(0, 4)) for _ in range(2)]
    head = LandmarkRoIHead.__new__(LandmarkRoIHead)
    for each in LandmarkRoIHead.predict_mask(head, (), [], found):
        assert each.keypoints.shape == (0, 294, 2)


def test_head_learns_places(head):
    """A bright cell, elsewhere in every region, says where landmarks are."""
    regions = torch.zeros(16, 3, 7, 7)
    rows, columns = torch.randint(1, 6, (2, 16))
    regions[torch.arange(16), :, rows, columns] = 1
    landmarks = torch.zeros(16, 294, 3)
    # Cell k of 7 lies at (1.5 k / 6 - 0.25) of the region's 100 pixels.
    landmarks[:, :, 0] = (150 * columns / 6 - 25)[:, None]
    landmarks[:, :, 1] = (150 * rows / 6 - 25)[:, None]
    landmarks[:, 100:110, 2] = 2
    truth = [InstanceData(landmarks=landmarks)]
    samples = [sampled([[0, 0, 100, 100]] * 16, list(range(16)))]
    optimizer = torch.optim.Adam(head.parameters(), lr=0.01)
    for _ in range(150):
        loss = head.loss_and_target(head(regions), samples, truth, None)
        optimizer.zero_grad()
        loss['loss_mask']['loss_landmark'].backward()
        optimizer.step()
    wrong = (head(regions) * 100 - landmarks[:, :, :2]).abs()[:, 100:110]
    assert wrong.mean() < 3  # pixels of 100
    # The mean place of all regions, the best constant, is much worse.
    centre = landmarks[:, 100:110, :2].mean(dim=0)
    assert (landmarks[:, 100:110, :2] - centre).abs().mean() > 20
