"""The converter, against hand-worked annotations and a real raw file."""

import json
import shutil

import pytest
from deepfashion2_builders import raw_item, write_raw
from PIL import Image
from pycocotools.coco import COCO

from mmdet_cppe5.deepfashion2.convert import convert
from mmdet_cppe5.deepfashion2.landmarks import visible_only
from mmdet_cppe5.deepfashion2.query_and_gallery import queries_and_gallery


def converted(tmp_path, images, **options):
    folders = write_raw(tmp_path / 'raw', images)
    file = tmp_path / 'out' / 'coco.json'
    summary = convert(*folders, file, **options)
    return summary, json.loads(file.read_text())


def test_hand_worked_annotation(tmp_path):
    skirt = raw_item(9, (10, 20, 40, 60))
    content = {'item1': skirt, 'pair_id': 7, 'source': 'user'}
    summary, coco = converted(tmp_path, {3: content})
    assert summary == (1, 1, 0, 0, 0)
    assert coco['images'] == [
        {'id': 3, 'file_name': '000003.jpg', 'width': 83, 'height': 100}
    ]
    (item,) = coco['annotations']
    keypoints = item.pop('keypoints')
    before = 25 + 33 + 31 + 39 + 15 + 15 + 10 + 14
    assert keypoints[: 3 * before] == [0] * 3 * before
    assert keypoints[3 * before : 3 * (before + 8)] == [25, 40, 2] * 8
    assert keypoints[3 * (before + 8) :] == [0] * 3 * (294 - before - 8)
    assert item == {
        'id': 1,
        'image_id': 3,
        'category_id': 9,
        'bbox': [10, 20, 30, 40],
        'area': 30 * 40,
        'iscrowd': 0,
        'segmentation': [[10, 20, 40, 20, 40, 60, 10, 60, 10, 20]],
        'num_keypoints': 8,
        'style': 1,
        'scale': 2,
        'occlusion': 1,
        'zoom_in': 3,
        'viewpoint': 2,
        'pair_id': 7,
        'source': 'user',
    }


def test_ids_follow_images_by_number_and_items_by_file_order(tmp_path):
    first = {'item2': raw_item(1), 'source': 'shop', 'item1': raw_item(9)}
    summary, coco = converted(tmp_path, {10: {'item1': raw_item(8)}, 2: first})
    rows = [
        (item['id'], item['image_id'], item['category_id'])
        for item in coco['annotations']
    ]
    assert rows == [(1, 2, 1), (2, 2, 9), (3, 10, 8)]
    assert summary.items == 3


def test_several_processes_write_the_same_bytes(tmp_path):
    images = {
        number: {'item1': raw_item(number % 13 + 1), 'pair_id': number}
        for number in range(1, 200)
    }
    folders = write_raw(tmp_path / 'raw', images)
    for workers in (1, 2):
        convert(*folders, tmp_path / f'{workers}.json', workers=workers)
    one = (tmp_path / '1.json').read_bytes()
    assert one == (tmp_path / '2.json').read_bytes()
    assert len(json.loads(one)['annotations']) == 199


def test_missing_landmarks_and_polygons_are_legal(tmp_path):
    content = {
        'item1': raw_item(9, landmarks=None, segmentation=None),
        'item2': raw_item(8, v=0),
        'item3': raw_item(9, segmentation=[[0, 0, 9, 0, 9, 9]] * 2),
    }
    summary, coco = converted(tmp_path, {1: content})
    assert summary.unlabelled == 2
    counts = [item['num_keypoints'] for item in coco['annotations']]
    assert counts == [0, 0, 8]
    assert set(coco['annotations'][0]['keypoints']) == {0}
    assert coco['annotations'][0]['segmentation'] == []
    assert len(coco['annotations'][2]['segmentation']) == 2


def test_flat_boxes_and_files_without_items_are_counted(tmp_path):
    content = {
        'item1': raw_item(9, (10, 20, 10, 60)),
        'item2': raw_item(9, (10, 20, 40, 20), v=0),
        'item3': raw_item(9),
    }
    summary, coco = converted(tmp_path, {1: content, 2: {}, 3: {'pair_id': 1}})
    # 3 images, 3 items; one without landmarks, two flat; two files empty.
    assert summary == (3, 3, 1, 2, 2)
    assert [image['id'] for image in coco['images']] == [1, 2, 3]
    assert [item['bbox'][2:] for item in coco['annotations']] == [
        [0, 40],
        [30, 0],
        [30, 40],
    ]


def test_pycocotools_reads_the_result(tmp_path):
    content = {'item1': raw_item(9), 'item2': raw_item(13)}
    converted(tmp_path, {1: content, 2: {}})
    coco = COCO(str(tmp_path / 'out' / 'coco.json'))
    assert coco.getImgIds() == [1, 2]
    assert coco.getCatIds() == list(range(1, 14))
    assert coco.annToMask(coco.anns[1]).sum() == 30 * 40


BAD_ITEMS = {
    'unknown category': (
        {'category_id': 14, 'landmarks': []},
        r'category_id 1\.\.13 in item1 of .*000005\.json, but got 14',
    ),
    'no category': (
        {'category_id': None},
        r'category_id 1\.\.13 in item1 of .*000005\.json, but got None',
    ),
    'wrong number of landmarks': (
        {'landmarks': [1, 2, 2] * 7},
        r'Expected 8 landmarks .* skirt in item1 of .*000005\.json, .* 21',
    ),
    'box as x, y, w, h': (
        {'bounding_box': [50, 60, 20, 10]},
        r'000005\.json, but got \[50, 60, 20, 10\].*width, height',
    ),
    'no box': ({'bounding_box': None}, r'000005\.json, but got None'),
}


@pytest.mark.parametrize('name', BAD_ITEMS)
@pytest.mark.parametrize('workers', [1, 2])
def test_bad_item_is_named_and_nothing_is_written(tmp_path, name, workers):
    changes, message = BAD_ITEMS[name]
    images = {
        4: {'item1': raw_item(9)},
        5: {'item1': {**raw_item(9), **changes}},
    }
    with pytest.raises(ValueError, match=message):
        converted(tmp_path, images, workers=workers)
    assert not list((tmp_path / 'out').glob('*'))


def test_bad_files_are_named(tmp_path):
    annos, images = write_raw(tmp_path / 'raw', {1: {'item1': raw_item(9)}})
    output = tmp_path / 'coco.json'
    (images / '000001.jpg').unlink()
    with pytest.raises(FileNotFoundError, match=r'000001\.jpg'):
        convert(annos, images, output)
    Image.new('RGB', (9, 9)).save(images / '000001.jpg')
    (annos / '000002.json').write_text('')
    with pytest.raises(ValueError, match=r'000002\.json.*empty'):
        convert(annos, images, output, workers=2)
    (annos / 'notes.json').write_text('{}')
    with pytest.raises(ValueError, match=r'named by the number .*notes\.json'):
        convert(annos, images, output)
    with pytest.raises(FileNotFoundError, match='there is none'):
        convert(images, images, output)


def test_real_raw_file(tmp_path, test_data):
    raw = test_data / 'deepfashion2' / 'raw_annotation_issue4.json'
    (tmp_path / 'annos').mkdir()
    shutil.copy(raw, tmp_path / 'annos' / '000042.json')
    Image.new('RGB', (624, 468)).save(tmp_path / '000042.jpg')
    convert(tmp_path / 'annos', tmp_path, tmp_path / 'coco.json')
    coco = json.loads((tmp_path / 'coco.json').read_text())
    shirt, skirt = coco['annotations']
    assert shirt['category_id'] == 1
    assert shirt['bbox'] == [0, 0, 495, 179]
    assert shirt['num_keypoints'] == 3
    assert shirt['keypoints'][3 * 9 : 3 * 10] == [94, 58, 2]
    assert len(shirt['segmentation']) == 2
    assert skirt['bbox'] == [227, 86, 543 - 227, 455 - 86]
    assert skirt['num_keypoints'] == 8
    assert (skirt['scale'], skirt['occlusion'], skirt['source']) == (
        (2, 2, 'shop')
    )
    visible = visible_only(coco, 'coco.json')['annotations']
    assert [item['num_keypoints'] for item in visible] == [2, 6]


def test_visible_only_leaves_the_input_alone(tmp_path):
    content = {'item1': raw_item(9, v=1), 'item2': raw_item(8, v=2)}
    _, coco = converted(tmp_path, {1: content})
    visible = visible_only(coco, 'coco.json')
    assert [i['num_keypoints'] for i in visible['annotations']] == [0, 14]
    assert set(visible['annotations'][0]['keypoints']) == {0}
    assert [i['num_keypoints'] for i in coco['annotations']] == [8, 14]
    assert visible['annotations'][1] == coco['annotations'][1]


def test_queries_and_gallery(tmp_path):
    user = {
        'item1': raw_item(9, (1, 2, 30, 40), style=2),
        'item2': raw_item(8, style=0),
        'source': 'user',
        'pair_id': 5,
    }
    shop = {
        'item1': raw_item(9, (3, 4, 50, 60), style=2),
        'item2': raw_item(8, (0, 0, 9, 9), style=0),
        'source': 'shop',
        'pair_id': 5,
    }
    _, coco = converted(tmp_path, {1: user, 2: shop})
    queries, gallery = queries_and_gallery(coco)
    assert queries == [
        {
            'query_image_id': 1,
            'bbox': [1, 2, 30, 40],
            'cls': 9,
            'style': 2,
            'pair_id': 5,
        }
    ]
    assert gallery == [
        {
            'gallery_image_id': 2,
            'bbox': [3, 4, 50, 60],
            'style': 2,
            'pair_id': 5,
        },
        {
            'gallery_image_id': 2,
            'bbox': [0, 0, 9, 9],
            'style': 0,
            'pair_id': 5,
        },
    ]


def test_retrieval_files_need_the_source(tmp_path):
    content = {'item1': raw_item(9), 'pair_id': 5}
    _, coco = converted(tmp_path, {1: content})
    with pytest.raises(ValueError, match='source is missing'):
        queries_and_gallery(coco)
    coco['annotations'][0]['source'] = 'street'
    with pytest.raises(ValueError, match="got 'street'"):
        queries_and_gallery(coco)
