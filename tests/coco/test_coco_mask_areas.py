"""Areas of more masks than pycocotools takes in one call."""

import numpy as np
import pytest
from pycocotools import mask

from mmdet_cppe5.coco.masks import mask_areas


@pytest.mark.parametrize('count', [0, 1, 255, 256, 600])
def test_areas_of_any_number_of_masks(count):
    heights = np.arange(count) % 7
    masks = [
        mask.encode(np.asfortranarray(rows, dtype=np.uint8))
        for rows in np.arange(7)[None, :, None] < heights[:, None, None]
    ]
    areas = mask_areas(masks)
    assert areas.dtype == np.float64
    np.testing.assert_array_equal(areas, heights)
