"""Predictions as Ultralytics' releases write them."""

import json

import pytest
from world import NAMES, compressed, found, judged, truth

from mmdet_cppe5.data.convert.ultralytics import ultralytics_to_results


def predictions(shift=0, masks=None, **fields):
    """The detections, their images by name, classes moved by ``shift``."""
    return [
        {
            **item,
            'image_id': f'shot_{item["image_id"]}',
            'category_id': item['category_id'] + shift,
            **fields,
        }
        for item in found(masks)
    ]


def with_ids(*ids):
    """The ground truth with other category ids."""
    data, entries = truth(), found()
    for record in (*data['annotations'], *entries):
        record['category_id'] = ids[record['category_id'] - 1]
    for category, key in zip(data['categories'], ids):
        category['id'] = key
    return data, entries


def converted(folder, items, data, *options):
    """Convert and evaluate: the scores, and what was printed."""
    p, gt = folder.write('p.json', items), folder.write('gt.json', data)
    out = folder.path / 'r.json'
    code, text, complaint = folder.run(
        'convert', 'from-ultralytics', p, gt, '--out', out, *options
    )
    assert code == 0, complaint
    return json.loads(out.read_text()), text


@pytest.mark.parametrize('ids', [(1, 3, 4), (7, 8, 9), (0, 2, 90), (5, 1, 3)])
def test_ids_of_the_ground_truth_are_told_from_numbers(folder, ids):
    data, entries = with_ids(*ids)
    items = [
        {**item, 'image_id': f'shot_{item["image_id"]}'} for item in entries
    ]
    results, text = converted(folder, items, data)
    assert 'category_id read as id' in text
    assert judged(data, results)[0] == judged(data, entries)[0]


@pytest.mark.parametrize('shift', [0, -1])
@pytest.mark.parametrize('ids', [(1, 2, 3), (1, 3, 4), (10, 20, 30)])
def test_numbers_count_from_one_or_from_zero(folder, ids, shift):
    data, entries = with_ids(*ids)
    results, text = converted(folder, predictions(shift), data)
    assert f'category_id read as number-from-{1 + shift}' in text
    assert judged(data, results)[0] == judged(data, entries)[0]


def test_cocos_ninety_ids_are_kept():
    gaps = (12, 26, 29, 30, 45, 66, 68, 69, 71, 83)
    ids = [key for key in range(1, 91) if key not in gaps]
    data = {
        'images': [{'id': 1, 'file_name': 'a.jpg'}],
        'annotations': [],
        'categories': [{'id': key, 'name': f'class {key}'} for key in ids],
    }
    items = [
        {'image_id': 'a', 'category_id': key, 'bbox': [1, 1, 2, 2], 'score': 1}
        for key in ids
    ]
    assert len(ids) == 80
    read = ultralytics_to_results(items, data)
    assert [item['category_id'] for item in read.content] == ids
    # Even where the few that were found could be numbers.
    read = ultralytics_to_results(items[30:35], data)
    assert [item['category_id'] for item in read.content] == ids[30:35]
    assert 'it could also be number-from-1' in read.remarks[0]


@pytest.mark.parametrize(
    ('option', 'expected'),
    [(None, 2), ('number-from-1', 2), ('number-from-0', 3), ('id', 1)],
)
def test_what_could_be_either_is_said_and_an_option_decides(
    folder, option, expected
):
    data, _ = with_ids(2, 1, 3)
    items = [{**item, 'category_id': 2} for item in predictions()]
    options = [] if option is None else ['--categories', option]
    results, text = converted(folder, items, data, *options)
    names = {item['id']: item['name'] for item in data['categories']}
    by_number = {1: 'gloves', 2: 'mask', 3: 'goggles'}
    wanted = by_number[expected] if option != 'id' else 'mask'
    assert {names[item['category_id']] for item in results} == {wanted}
    assert ('it could also be' in text) == (option is None)


@pytest.mark.parametrize('ids', [(0, 3), (1, 99), (-1, 2), (4,)])
def test_numbers_that_are_neither_are_refused(folder, ids):
    items = [
        {**predictions()[k], 'category_id': key} for k, key in enumerate(ids)
    ]
    p, gt = folder.write('p.json', items), folder.write('gt.json', truth())
    said = folder.sentence(
        'convert', 'from-ultralytics', p, gt, '--out', folder.path / 'r.json'
    )
    assert 'are these the right names?' in said


def test_masks_and_keypoints_are_kept_and_the_rest_is_counted(folder):
    items = predictions(masks=compressed, keypoints=[1, 2, 0.5], poly=[1, 2])
    results, text = converted(folder, items, truth(compressed))
    expected = judged(truth(compressed), found(compressed), 'segm')
    assert judged(truth(compressed), results, 'segm')[0] == expected[0]
    assert results[0]['keypoints'] == [1, 2, 0.5]
    assert "changed 12: 'poly' left out" in text


@pytest.mark.parametrize('key', ['rbox', 'poly'])
def test_rotated_boxes_are_refused_by_name(folder, key):
    items = predictions(**{key: [1, 2, 3, 4, 0.5]})
    for item in items:
        del item['bbox']
    p, gt = folder.write('p.json', items), folder.write('gt.json', truth())
    said = folder.sentence(
        'convert', 'from-ultralytics', p, gt, '--out', folder.path / 'r.json'
    )
    assert f"upright boxes ('{key}' of rotated ones" in said


def test_the_file_name_decides_before_the_stem(folder):
    data = truth()
    data['images'][0]['file_name'] = 'left/a.jpg'
    data['images'][1]['file_name'] = 'right/a.jpg'
    items = predictions()
    names = {'shot_1': 'left/a.jpg', 'shot_2': 'right/a.jpg'}
    for item in items:
        item['file_name'] = names.get(
            item['image_id'], f'{item["image_id"]}.jpg'
        )
        item['image_id'] = (
            'a' if '/' in item['file_name'] else item['image_id']
        )
    results, _ = converted(folder, items, data)
    assert judged(data, results)[0] == judged(truth(), found())[0]
    for item in items:
        del item['file_name']
    p = folder.write('p.json', items)
    said = folder.sentence(
        'convert', 'from-ultralytics', p, folder.path / 'gt.json', '--out',
        folder.path / 'r.json',
    )  # fmt: skip
    assert "'a' stands for 'left/a.jpg', 'right/a.jpg'" in said


FORMS = {
    'back slashes': 'images\\shot_{}.jpg',
    'an upload': '/data/upload/3/1f2e3d4c-shot_{}.jpg',
    'climbing': '..\\..\\media\\upload\\4\\shot_{}.jpg',
    'a drive': 'C:\\Users\\me\\shot_{}.jpg',
    'an address': 'images/shot%5F{}.jpg',
}


@pytest.mark.parametrize('form', FORMS)
def test_names_of_other_systems_are_matched(folder, form):
    data = truth()
    for image in data['images']:
        image['file_name'] = FORMS[form].format(image['id'])
    for items in (
        predictions(),
        [{**i, 'file_name': f'{i["image_id"]}.jpg'} for i in predictions()],
    ):
        results, _ = converted(folder, items, data)
        assert judged(data, results)[0] == judged(truth(), found())[0]


def test_class_names_decide_the_numbers(folder):
    yaml = 'names: [goggles, mask, gloves]\n'
    data_yaml = folder.write('data.yaml', '\ufeff' + yaml)
    order = {1: 2, 2: 3, 3: 1}
    items = [
        {**item, 'category_id': order[item['category_id']]}
        for item in predictions()
    ]
    results, _ = converted(folder, items, truth(), '--data', data_yaml)
    assert judged(truth(), results)[0] == judged(truth(), found())[0]
    assert len(NAMES) == 3


# How releases name the images and the classes of COCO.
IMAGES = {
    'by stem': lambda image: {'image_id': image['file_name'][:-4]},
    'by number': lambda image: {'image_id': image['id']},
    'by file name': lambda image: {
        'image_id': image['id'],
        'file_name': image['file_name'],
    },
}


@pytest.mark.parametrize('images', IMAGES)
@pytest.mark.parametrize('reading', ['id', 'number-from-1', 'number-from-0'])
def test_real_coco_predictions_keep_their_ap(
    folder, test_data, images, reading
):
    part = test_data / 'coco_val2014_100'
    data = json.loads((part / 'instances_val2014_100.json').read_text())
    entries = json.loads(
        (part / 'instances_val2014_fakebbox100_results.json').read_text()
    )
    if images == 'by number':  # as the files of val2017 are named
        for image in data['images']:
            image['file_name'] = f'{image["id"]:012}.jpg'
    named = {image['id']: IMAGES[images](image) for image in data['images']}
    ids = sorted(category['id'] for category in data['categories'])
    start = {'id': None, 'number-from-1': 1, 'number-from-0': 0}[reading]
    items = [
        {
            **entry,
            **named[entry['image_id']],
            'category_id': entry['category_id']
            if start is None
            else ids.index(entry['category_id']) + start,
        }
        for entry in entries
    ]
    # COCO's own ids are recognised; class numbers have to be told.
    options = () if start is None else ('--categories', reading)
    results, text = converted(folder, items, data, *options)
    assert f'category_id read as {reading}' in text
    assert results == [
        {
            key: entry[key]
            for key in ('image_id', 'category_id', 'bbox', 'score')
        }
        for entry in entries
    ]
    scores, _ = folder.scores(data, results)
    assert scores['AP'] == 100 * 0.5045806987249628
