"""Result files as people really have them, and what is said when wrong."""

import json
import pickle

import pytest
from builders import annotation, coco_dataset, entry, write

from mmdet_cppe5.coco import parse_ground_truth, parse_results, read_results

BOX = [10, 10, 50, 50]
BOX2 = [200, 200, 50, 50]


@pytest.fixture
def truth():
    data = coco_dataset(
        [annotation(1, 1, BOX), annotation(2, 2, BOX)], image_ids=(2, 1, 3)
    )
    return parse_ground_truth(data, 'gt.json')


def parse(entries, truth):
    return parse_results(entries, 'results.json', truth)


def test_columns_in_the_order_of_the_file(truth):
    results = parse(
        [entry(3, 2, BOX2, 0.25), entry(1, 1, BOX, 1), entry(1, 2, BOX, -2.5)],
        truth,
    )
    assert results.image.tolist() == [2, 0, 0]
    assert results.label.tolist() == [1, 0, 1]
    assert results.scores.tolist() == [0.25, 1, -2.5]
    assert results.boxes().tolist() == [BOX2, BOX, BOX]
    assert results.notices == ()


def test_no_detection_at_all(truth):
    results = parse([], truth)
    assert results.boxes().shape == (0, 4)
    assert results.scores.shape == (0,)


def test_classes_that_are_not_evaluated_are_left_out():
    data = coco_dataset([annotation(1, 1, BOX)])
    truth = parse_ground_truth(data, 'gt.json', ['B'])
    results = parse([entry(1, 1, BOX, 0.5), entry(1, 2, BOX2, 0.25)], truth)
    assert results.scores.tolist() == [0.25]
    assert results.label.tolist() == [0]
    assert results.entry.tolist() == [1]


@pytest.mark.parametrize('copies', [2, 3])
def test_repeated_results_of_an_image_count_once(truth, copies):
    one = [entry(1, 1, BOX, 0.5), entry(1, 2, BOX2, 0.25)]
    other = entry(2, 1, BOX, 0.5)
    results = parse([*one, other, *(one * (copies - 1))], truth)
    assert results.entry.tolist() == [0, 1, 2]
    assert 'twice or more for 1 image (ids 1)' in results.notices[0]


def test_one_detection_twice_is_a_false_alarm(truth):
    """So a detector without suppression is judged, as by pycocotools."""
    twice = [entry(1, 1, BOX, 0.5), entry(1, 1, BOX, 0.5)]
    results = parse(twice, truth)
    assert len(results.records) == 2
    assert results.notices == ()


def test_equal_detections_in_a_longer_list_are_kept(truth):
    """Two equal boxes are duplicates to be judged, not a repeated list."""
    twice = [entry(1, 1, BOX, 0.5), entry(1, 1, BOX, 0.5)]
    results = parse([*twice, entry(1, 1, BOX2, 0.25)], truth)
    assert results.entry.tolist() == [0, 1, 2]
    assert results.notices == ()


def test_second_part_of_an_images_results_is_kept(truth):
    results = parse(
        [entry(1, 1, BOX, 0.5), entry(2, 1, BOX, 0.5), entry(1, 1, BOX2, 0.5)],
        truth,
    )
    assert len(results.records) == 3


@pytest.mark.parametrize(
    ('fields', 'message'),
    [
        ({'image_id': 77}, r"'image_id' of entry number 1 \(image id 77\) of "
         r'results\.json to be known, but got 77: gt\.json lists the image '
         r'ids 1, 2, 3, and 1 id of this file is not among them \(77\)'),
        ({'image_id': '1'}, 'gt.json has the image id 1 as int, here it is '
         'str; write the ids with one type'),
        ({'category_id': 9}, 'gt.json lists the category ids 1, 2, and 1 id'),
        ({'score': float('nan')}, r"'score' of entry number 1 \(image id 1\) "
         'of results.json to be a finite number, but got nan'),
        ({'score': float('inf')}, 'finite number, but got inf'),
        ({'score': None}, 'finite number, but got None'),
        ({'score': '0.5'}, "finite number, but got '0.5'"),
    ],
)  # fmt: skip
def test_wrong_entry_is_named(truth, fields, message):
    wrong = {**entry(1, 1, BOX, 0.5), **fields}
    with pytest.raises(ValueError, match=message):
        parse([entry(1, 1, BOX, 0.5), wrong], truth)


@pytest.mark.parametrize(
    ('bbox', 'message'),
    [
        ([1, 2, 3], '4 finite numbers'),
        ([1, 2, float('nan'), 4], '4 finite numbers'),
        ([1, 2, 3, -4], 'no negative size'),
    ],
)
def test_wrong_box_is_named(truth, bbox, message):
    results = parse([entry(1, 1, BOX, 0.5), entry(2, 1, bbox, 0.5)], truth)
    with pytest.raises(ValueError, match=message) as info:
        results.boxes()
    assert "'bbox' of entry number 1 (image id 2)" in str(info.value)


@pytest.mark.parametrize('key', ['image_id', 'category_id', 'score'])
def test_missing_field_is_named(truth, key):
    wrong = entry(1, 1, BOX, 0.5)
    del wrong[key]
    with pytest.raises(
        ValueError, match=f"Expected an? '{key}' in entry numb"
    ):
        parse([wrong], truth)


def test_many_unknown_images_are_summed_up(truth):
    wrong = [entry(key, 1, BOX, 0.5) for key in range(10, 20)]
    with pytest.raises(
        ValueError,
        match=r'10 ids of this file are not among them \(10, 11, 12, 13, 14, '
        r'\.\.\.\); do both belong to the same data set',
    ):
        parse(wrong, truth)


def test_class_labels_instead_of_category_ids(truth):
    """Labels 0, 1, ... where ids 1, 2, ... belong: only 0 is unknown."""
    wrong = [entry(1, label, BOX, 0.5) for label in (1, 0)]
    with pytest.raises(
        ValueError, match=r'\(0\); an id 0 is often a class label'
    ):
        parse(wrong, truth)


@pytest.mark.parametrize(
    ('content', 'message'),
    [
        (
            json.dumps(coco_dataset([])),
            'holds ground truth; results are',
        ),
        ('[{"image_id": 1,', 'not valid JSON'),
        ('{"cppe5/AP": 40.0, "step": 3}', 'a log or table of scores'),
        ('{"lr": 0.1}\n{"lr": 0.2}\n', 'a log with one JSON object a line'),
        ('{}', 'an empty object'),
        ('{"boxes": [], "x": 1}', "an object with the keys 'boxes', 'x'"),
        (pickle.dumps([1]), 'a pickle'),
    ],
)
def test_file_that_is_something_else(tmp_path, truth, content, message):
    path = tmp_path / 'results.json'
    path.write_bytes(
        content if isinstance(content, bytes) else content.encode()
    )
    with pytest.raises(ValueError, match=message) as info:
        read_results(path, truth)
    assert str(path) in str(info.value)


def test_read_from_file(tmp_path, truth):
    path = write(tmp_path / 'r.json', [entry(1, 1, BOX, 0.5)])
    assert read_results(path, truth).source == path
