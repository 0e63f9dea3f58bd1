"""Ground truth as people really have it, and what is said when it is wrong."""

import json

import numpy as np
import pytest
from builders import annotation, coco_dataset, write

from mmdet_cppe5.coco import parse_ground_truth, read_ground_truth

BOX = [10, 10, 50, 50]
BOX2 = [200, 200, 50, 50]


def parse(data, classes=None):
    return parse_ground_truth(data, 'gt.json', classes)


def test_real_cppe5_file(test_data):
    """Counts per class and size from the data set's own annotations."""
    truth = read_ground_truth(test_data / 'cppe5/annotations/test.json')
    assert truth.class_names == (
        'Coverall',
        'Face_Shield',
        'Gloves',
        'Goggles',
        'Mask',
    )
    assert truth.counts().tolist() == [45, 17, 61, 32, 52]
    bins = np.histogram(truth.areas, [0, 32**2, 96**2, np.inf])[0]
    assert bins.tolist() == [20, 98, 89]
    assert truth.image_ids == list(range(1001, 1030))
    assert not truth.crowd.any()
    assert truth.notices == ()


def test_images_are_ordered_by_id_not_by_place():
    data = coco_dataset(
        [annotation(30, 1, BOX), annotation(4, 1, BOX2)], image_ids=(30, 4, 9)
    )
    truth = parse(data)
    assert truth.image_ids == [4, 9, 30]
    assert truth.image.tolist() == [2, 0]
    assert [record['file_name'] for record in truth.images] == [
        '4.png',
        '9.png',
        '30.png',
    ]


@pytest.mark.parametrize('ids', [(1, 2), (0, 1), (7, 90), ('x', 'y')])
def test_labels_follow_names_whatever_the_ids(ids):
    data = coco_dataset(
        [annotation(1, ids[0], BOX), annotation(1, ids[1], BOX2)],
        categories={ids[0]: 'A', ids[1]: 'B'},
    )
    assert parse(data).class_names == ('A', 'B')
    swapped = parse(data, ('B', 'A'))
    assert swapped.class_names == ('B', 'A')
    assert swapped.label.tolist() == [1, 0]
    assert swapped.category_ids == (ids[1], ids[0])


def test_listed_order_of_categories_means_nothing():
    data = coco_dataset([annotation(1, 1, BOX)], categories={2: 'B', 1: 'A'})
    truth = parse(data)
    assert truth.class_names == ('A', 'B')
    assert truth.label.tolist() == [0]


def test_subset_of_classes_keeps_every_image():
    data = coco_dataset(
        [annotation(1, 1, BOX), annotation(2, 2, BOX)], image_ids=(1, 2)
    )
    truth = parse(data, ['B'])
    assert truth.counts().tolist() == [1]
    assert truth.image.tolist() == [1]
    assert truth.image_ids == [1, 2]


@pytest.mark.parametrize('drop', ['area', 'iscrowd', 'segmentation', 'id'])
def test_missing_optional_fields(drop):
    item = annotation(1, 1, BOX, id=1, area=2500, iscrowd=0, segmentation=[])
    del item[drop]
    truth = parse(coco_dataset([item], complete=False))
    assert truth.areas.tolist() == [50 * 50]
    assert truth.crowd.tolist() == [False]


def test_area_is_the_annotations_own():
    truth = parse(coco_dataset([annotation(1, 1, BOX, area=500)]))
    assert truth.areas.tolist() == [500]


def test_area_null_means_missing():
    truth = parse(coco_dataset([annotation(1, 1, BOX, area=None)]))
    assert truth.areas.tolist() == [50 * 50]


def test_image_size_is_not_needed():
    data = coco_dataset([annotation(1, 1, BOX)])
    data['images'] = [{'id': 1}]
    assert len(parse(data).records) == 1


def test_repeated_annotation_ids_are_objects_of_their_own():
    data = coco_dataset(
        [annotation(1, 1, BOX, id=5), annotation(2, 1, BOX, id=5)],
        image_ids=(1, 2),
    )
    truth = parse(data)
    assert truth.counts().tolist() == [2, 0]
    assert 'annotation id more than once (such as 5)' in truth.notices[0]


def test_only_crowd_regions_are_noted():
    data = coco_dataset([annotation(1, 1, BOX, iscrowd=1)])
    assert 'every annotation of gt.json is a crowd' in parse(data).notices[0]


def test_bare_string_for_classes():
    with pytest.raises(TypeError, match=r"needs a comma: \('A',\)"):
        parse(coco_dataset([]), ('A'))


@pytest.mark.parametrize(
    'classes', [('A', 'b'), ('A', 'A'), ()], ids=['typo', 'twice', 'none']
)
def test_wrong_classes_show_both_lists(classes):
    with pytest.raises(ValueError, match="the file has 'A', 'B'") as info:
        parse(coco_dataset([]), classes)
    assert f'asked for {", ".join(map(repr, classes))},' in str(info.value)


@pytest.mark.parametrize(
    ('fields', 'message'),
    [
        ({'bbox': [1, 2, 3]}, r"'bbox' of annotation id 1 \(image id 1\) of "
         r'gt\.json to be 4 finite numbers, but got \[1, 2, 3\]'),
        ({'bbox': None}, 'to be 4 finite numbers, but got None'),
        ({'bbox': [1, 2, 'x', 4]}, r"but got \[1, 2, 'x', 4\]"),
        ({'bbox': [1, 2, float('nan'), 4]}, r'but got \[1, 2, nan, 4\]'),
        ({'bbox': [1, 2, float('inf'), 4]}, r'but got \[1, 2, inf, 4\]'),
        ({'bbox': [1, 2, -3, 4]}, r'no negative size, but got \[1, 2, -3, 4'),
        ({'area': -1}, "'area' of annotation id 1 .* negative, but got -1"),
        ({'area': float('nan')}, 'to be a finite number, but got nan'),
        ({'area': '9'}, "to be a finite number, but got '9'"),
        ({'iscrowd': 0.5}, "'iscrowd' of annotation id 1 .* but got 0.5"),
        ({'image_id': 99}, "'image_id' of annotation id 1 .* but got 99: "
         'gt.json lists the image ids 1, and 1 id'),
        ({'image_id': '1'}, 'has the image id 1 as int, here it is str'),
        ({'image_id': [1]}, r'known, but got \[1\]'),
        ({'category_id': 3}, 'lists the category ids 1, 2, and 1 id of'),
    ],
)  # fmt: skip
def test_wrong_annotation_is_named(fields, message):
    item = {**annotation(1, 1, BOX, id=1, area=4, iscrowd=0), **fields}
    data = coco_dataset([item], complete=False)
    with pytest.raises(ValueError, match=message):
        parse(data)


def test_missing_field_is_named():
    item = annotation(1, 1, BOX, id=8)
    del item['bbox']
    data = coco_dataset([item], complete=False)
    with pytest.raises(
        ValueError, match="Expected a 'bbox' in annotation id 8"
    ):
        parse(data)


def test_annotation_that_is_no_object():
    data = coco_dataset([])
    data['annotations'] = [7]
    with pytest.raises(ValueError, match='JSON object, but number 0 is 7'):
        parse(data)


def test_image_ids_without_an_order():
    message = 'all integers or all strings, but they are int and str'
    with pytest.raises(ValueError, match=message):
        parse(coco_dataset([], image_ids=(1, '2')))


def test_repeated_category_name():
    truth = parse(coco_dataset([], categories={1: 'A', 2: 'A'}))
    assert truth.class_names == ('A (id 1)', 'A (id 2)')
    assert "one name ('A'); they are told apart by id" in truth.notices[0]


def test_no_image_at_all():
    truth = parse(coco_dataset([], image_ids=()))
    assert truth.boxes.shape == (0, 4)
    assert truth.image_ids == []


@pytest.mark.parametrize(
    ('text', 'message'),
    [
        ('', 'the file is empty'),
        ('{"images": [', 'not valid JSON.*not written to its end'),
        ('[]', 'an empty list; ground truth is a JSON object with the lists'),
        (
            '[{"image_id": 1, "score": 1}]',
            'the file holds detections; ground truth is',
        ),
        ('{}', 'images and annotations and categories are missing'),
        ('{"images": [], "categories": []}', "no 'annotations': a test set"),
        ('{"coco/bbox_mAP": 0.4}', r"log or table of scores \('coco/bbox_mAP"),
        ('{"lr": 0.1}\n{"lr": 0.2}', 'looks like a log with one JSON object'),
        ('2023/05/01 - mmengine - INFO - x', 'looks like a text log'),
        ('"text"', 'holds a single str'),
    ],
)
def test_file_that_is_something_else(tmp_path, text, message):
    path = tmp_path / 'gt.json'
    path.write_text(text)
    with pytest.raises(ValueError, match=message) as info:
        read_ground_truth(path)
    assert str(path) in str(info.value)


def test_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError, match='there is no such file'):
        read_ground_truth(tmp_path / 'none.json')


def test_reading_leaves_the_data_alone(tmp_path):
    data = coco_dataset([annotation(1, 1, BOX, id=0)], complete=False)
    before = json.dumps(data)
    parse(data)
    assert json.dumps(data) == before
    assert len(read_ground_truth(write(tmp_path / 'a.json', data)).records)
