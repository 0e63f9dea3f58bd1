"""What CPPE5Dataset does about declared sizes that are not the file's."""

import json
from pathlib import Path

import mmcv
import pytest
from builders import annotation, coco_dataset
from PIL import Image

from mmdet_cppe5.classes import CLASSES
from mmdet_cppe5.datasets import CPPE5Dataset
from mmdet_cppe5.images import image_size


def test_sizes_are_those_of_the_loaded_image(tmp_path):
    exif = Image.Exif()
    exif[274] = 6  # shown turned by a quarter
    Image.new('RGB', (60, 40)).save(tmp_path / 'a.jpg', exif=exif)
    height, width = mmcv.imread(str(tmp_path / 'a.jpg')).shape[:2]
    assert (
        image_size(tmp_path / 'a.jpg', 'a.jpg') == (width, height) == (40, 60)
    )


def test_jpeg_data_in_a_png_name_is_read(tmp_path):
    Image.new('RGB', (60, 40)).save(tmp_path / 'a.png', format='JPEG')
    assert image_size(tmp_path / 'a.png', 'a.png') == (60, 40)


def test_file_that_is_no_image_is_named(tmp_path):
    (tmp_path / 'a.png').write_text('not found')
    with pytest.raises(ValueError, match=r'a\.png'):
        image_size(tmp_path / 'a.png', 'a.png')


# Each declares 640 x 480: 1 is less high and its box fits, 2 was halved, 3 has
# another shape than its box allows, 4 is right.
ACTUAL = {1: (640, 420), 2: (320, 240), 3: (500, 200), 4: (640, 480)}


@pytest.fixture
def data_root(tmp_path):
    """Four images of which the first three declare a wrong size."""
    (tmp_path / 'images').mkdir()
    for key, size in ACTUAL.items():
        Image.new('RGB', size).save(tmp_path / 'images' / f'{key}.png')
    data = coco_dataset(
        [annotation(key, 1, [100, 200, 40, 200]) for key in ACTUAL],
        image_ids=tuple(ACTUAL),
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
    assert boxes_by_image(dataset) == dict.fromkeys(range(1, 5), AS_DECLARED)


def test_fix(data_root):
    dataset = CPPE5Dataset('a.json', data_root=data_root, size_check='fix')
    assert boxes_by_image(dataset) == {
        1: ((640, 420), [[100, 200, 140, 400]]),
        2: ((320, 240), [[100 / 2, 200 / 2, 140 / 2, 400 / 2]]),
        4: AS_DECLARED,
    }


def test_masks_are_not_left_behind(data_root):
    path = Path(data_root, 'a.json')
    data = json.loads(path.read_text())
    for item in data['annotations']:
        item['segmentation'] = [[100, 200, 140, 200, 140, 400]]
    path.write_text(json.dumps(data))
    dataset = CPPE5Dataset('a.json', data_root=data_root, size_check='fix')
    assert list(boxes_by_image(dataset)) == [1, 4]


def test_drop(data_root):
    dataset = CPPE5Dataset('a.json', data_root=data_root, size_check='drop')
    assert boxes_by_image(dataset) == {4: AS_DECLARED}


def test_unknown_option_is_refused(data_root):
    with pytest.raises(ValueError, match="'fixed'"):
        CPPE5Dataset('a.json', data_root=data_root, size_check='fixed')
