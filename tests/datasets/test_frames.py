"""Declared image sizes against the files."""

import json

import mmcv
import numpy as np
import pytest
from builders import annotation, coco_dataset
from PIL import Image

from mmdet_cppe5.classes import CLASSES
from mmdet_cppe5.datasets import CPPE5Dataset
from mmdet_cppe5.datasets.frames import (
    SizeFault,
    describe,
    file_size,
    fit_to_file,
)

AREAS = np.array([1000.0])


@pytest.mark.parametrize(
    ('declared', 'actual', 'remedy'),
    [
        ((500, 500), (500, 290), 'kept'),  # training image 366
        ((2481, 1478), (1000, 600), 'rescaled'),  # training image 83
        ((1200, 1200), (2246, 1498), 'left out'),  # training image 762
        ((600, 400), (400, 600), 'left out'),
    ],
)
def test_remedy(declared, actual, remedy):
    assert SizeFault(1, declared, actual).remedy == remedy


def test_boxes_of_a_resized_file_are_scaled():
    fault = SizeFault(1, (2000, 1000), (1000, 500))
    boxes, areas = fit_to_file(fault, np.array([[100.0, 200, 40, 60]]), AREAS)
    assert boxes.tolist() == [[100 / 2, 200 / 2, 40 / 2, 60 / 2]]
    assert areas.tolist() == [1000 / 4]


def test_boxes_are_cut_at_the_border_of_the_file():
    fault = SizeFault(1, (500, 500), (500, 290))
    inside = [5, 5, 10, 10]
    boxes = np.array([[10.0, 190, 50, 200], [10, 300, 20, 20], inside])
    cut, areas = fit_to_file(fault, boxes, np.array([8000.0, 400, 100]))
    assert cut.tolist() == [
        [10, 190, 50, 100],
        [10, 290, 20, 0],
        [5, 5, 10, 10],
    ]
    assert areas.tolist() == [8000 / 2, 0, 100]


def test_boxes_of_an_unknown_frame_cannot_be_fitted():
    fault = SizeFault(1, (1200, 1200), (2246, 1498))
    assert fit_to_file(fault, np.zeros((0, 4)), np.zeros(0)) is None


def test_sizes_are_those_of_the_loaded_image(tmp_path):
    exif = Image.Exif()
    exif[274] = 6  # shown turned by a quarter
    Image.new('RGB', (60, 40)).save(tmp_path / 'a.jpg', exif=exif)
    height, width = mmcv.imread(str(tmp_path / 'a.jpg')).shape[:2]
    assert file_size(tmp_path / 'a.jpg') == (width, height) == (40, 60)


def test_jpeg_data_in_a_png_name_is_read(tmp_path):
    Image.new('RGB', (60, 40)).save(tmp_path / 'a.png', format='JPEG')
    assert file_size(tmp_path / 'a.png') == (60, 40)


def test_file_that_is_no_image_is_named(tmp_path):
    (tmp_path / 'a.png').write_text('not found')
    with pytest.raises(ValueError, match=r'a\.png'):
        file_size(tmp_path / 'a.png')


def test_description_counts_what_was_done():
    faults = [
        SizeFault(366, (500, 500), (500, 290)),
        SizeFault(83, (2481, 1478), (1000, 600)),
        SizeFault(762, (1200, 1200), (2246, 1498)),
        SizeFault(763, (1200, 1200), (2246, 1498)),
    ]
    text = describe(faults, 1000, 'fix')
    assert '4 of 1000 images' in text
    assert 'id 366 declares 500x500, its file is 500x290' in text
    assert text.endswith(
        '1 given the size of their file, 1 with their boxes rescaled to it, '
        '2 left out'
    )
    assert 'all 29 images' in describe([], 29, 'fix')


@pytest.fixture
def data_root(tmp_path):
    """Five images of which the first three declare a wrong size."""
    actual = {1: (640, 300), 2: (320, 240), 3: (500, 200), 4: (640, 480),
              5: (640, 480)}  # fmt: skip
    (tmp_path / 'images').mkdir()
    for key, size in actual.items():
        Image.new('RGB', size).save(tmp_path / 'images' / f'{key}.png')
    data = coco_dataset(
        [annotation(key, 1, [100, 200, 40, 200]) for key in actual],
        image_ids=tuple(actual),
        categories=dict(enumerate(CLASSES, start=1)),
    )
    (tmp_path / 'a.json').write_text(json.dumps(data))
    return str(tmp_path)


def boxes_by_image(dataset):
    infos = [dataset.get_data_info(i) for i in range(len(dataset))]
    return {
        info['img_id']: (
            (info['width'], info['height']),
            [i['bbox'] for i in info['instances']],
        )
        for info in infos
    }


AS_DECLARED = ((640, 480), [[100, 200, 140, 400]])


@pytest.mark.parametrize('option', ['off', 'report'])
def test_nothing_changes_unless_asked(data_root, option):
    dataset = CPPE5Dataset('a.json', data_root=data_root, size_check=option)
    assert boxes_by_image(dataset) == dict.fromkeys(range(1, 6), AS_DECLARED)


def test_fix(data_root):
    dataset = CPPE5Dataset('a.json', data_root=data_root, size_check='fix')
    assert boxes_by_image(dataset) == {
        1: ((640, 300), [[100, 200, 140, 300]]),
        2: ((320, 240), [[100 / 2, 200 / 2, 140 / 2, 400 / 2]]),
        4: AS_DECLARED,
        5: AS_DECLARED,
    }


def test_drop(data_root):
    dataset = CPPE5Dataset('a.json', data_root=data_root, size_check='drop')
    assert boxes_by_image(dataset) == {4: AS_DECLARED, 5: AS_DECLARED}


def test_unknown_option_is_refused(data_root):
    with pytest.raises(ValueError, match="'fixed'"):
        CPPE5Dataset('a.json', data_root=data_root, size_check='fixed')
