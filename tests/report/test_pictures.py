"""Pictures of detections: what is drawn where."""

import json

import numpy as np
import pytest
from PIL import Image

from mmdet_cppe5.classes import PALETTE
from mmdet_cppe5.report.pictures import (
    HEADING,
    MARGIN,
    Mark,
    draw_pair,
    write_pictures,
)

GREY = (128, 128, 128)


def has_colour(pixels, colour):
    return bool((pixels == np.array(colour)).all(axis=-1).any())


def test_annotations_left_detections_right():
    photo = Image.new('RGB', (640, 320), GREY)
    truth = [Mark(0, (10, 10, 100, 50))]
    found = [Mark(3, (200, 40, 80, 80), 0.87)]
    sheet = np.asarray(draw_pair(photo, truth, found, ['a'] * 5))
    left = sheet[HEADING : HEADING + 320, MARGIN : MARGIN + 640]
    start = 2 * MARGIN + 640
    right = sheet[HEADING : HEADING + 320, start : start + 640]
    assert has_colour(left, PALETTE[0])
    assert not has_colour(left, PALETTE[3])
    assert has_colour(right, PALETTE[3])
    assert not has_colour(right, PALETTE[0])
    # The corners of x, y, width, height = 10, 10, 100, 50.
    assert tuple(left[10, 10]) == PALETTE[0]
    assert tuple(left[10 + 50 - 1, 10 + 100 - 1]) == PALETTE[0]
    assert tuple(left[10 + 50, 10 + 100]) == GREY


def test_small_images_are_enlarged_with_their_boxes():
    photo = Image.new('RGB', (160, 80), GREY)
    truth = [Mark(1, (20, 10, 40, 20))]
    sheet = np.asarray(draw_pair(photo, truth, [], ['a']))
    # 640 / 160 = 4 times larger.
    assert tuple(sheet[HEADING + 40, MARGIN + 80]) == PALETTE[1]


@pytest.mark.parametrize(('score', 'drawn'), [(0.3, True), (0.29, False)])
def test_low_scores_are_left_out(drawn_dataset, tmp_path, score, drawn):
    truth = json.loads(drawn_dataset.test.read_text())
    truth['annotations'] = []
    results = [
        {
            'image_id': 1002,
            'category_id': 5,
            'bbox': [5, 5, 90, 90],
            'score': score,
        }
    ]
    paths = write_pictures(truth, results, drawn_dataset.images, tmp_path, 0.3)
    assert [path.name for path in paths] == [
        f'{number}.png' for number in range(1001, 1005)
    ]
    with Image.open(paths[1]) as picture:
        pixels = np.asarray(picture)[: -HEADING - MARGIN]
    assert has_colour(pixels, PALETTE[4]) is drawn
