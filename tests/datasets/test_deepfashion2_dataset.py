"""DeepFashion2Dataset: labels by id, both name sets, masks for training."""

import json

import numpy as np
import pytest
from mmdet.registry import DATASETS
from PIL import Image

import mmdet_cppe5.plugin  # noqa: F401
from mmdet_cppe5.deepfashion2.categories import CATEGORIES, CLASSES

SQUARE = [[10, 10, 30, 10, 30, 30, 10, 30]]


def annotation(identity, category, **changes):
    item = {
        'id': identity,
        'image_id': 1,
        'category_id': category,
        'bbox': [10, 10, 20, 20],
        'area': 400,
        'iscrowd': 0,
        'segmentation': SQUARE,
    }
    return {**item, **changes}


@pytest.fixture
def root(tmp_path):
    (tmp_path / 'image').mkdir()
    Image.new('RGB', (64, 48)).save(tmp_path / 'image' / '000001.jpg')
    return tmp_path


def build(root, annotations, names='name', categories=CATEGORIES, **options):
    coco = {
        'images': [
            {'id': 1, 'file_name': '000001.jpg', 'width': 64, 'height': 48}
        ],
        'annotations': annotations,
        # From the last to the first: order must not matter.
        'categories': [
            {'id': c.id, 'name': getattr(c, names)} for c in categories[::-1]
        ],
    }
    (root / 'coco.json').write_text(json.dumps(coco))
    return DATASETS.build(
        {
            'type': 'DeepFashion2Dataset',
            'data_root': str(root),
            'ann_file': 'coco.json',
            'data_prefix': {'img': 'image/'},
            **options,
        }
    )


@pytest.mark.parametrize('names', ['name', 'raw_name'])
def test_labels_follow_ids_under_either_name_set(root, names):
    items = [annotation(1, 13), annotation(2, 1), annotation(3, 8)]
    dataset = build(root, items, names)
    labels = [i['bbox_label'] for i in dataset.get_data_info(0)['instances']]
    assert labels == [12, 0, 7]
    assert dataset.metainfo['classes'] == CLASSES
    assert len(dataset.metainfo['palette']) == 13


def test_chosen_classes_order_the_labels(root):
    items = [annotation(1, 13), annotation(2, 1), annotation(3, 8)]
    classes = ('sling_dress', 'short sleeve top')
    dataset = build(root, items, metainfo={'classes': classes})
    labels = [i['bbox_label'] for i in dataset.get_data_info(0)['instances']]
    assert labels == [0, 1]
    assert dataset.metainfo['classes'] == (
        'sling_dress',
        'short_sleeved_shirt',
    )


def test_masks_for_training(root):
    second = [[10, 10, 20, 10, 20, 20, 10, 20], [22, 22, 30, 22, 30, 30]]
    items = [
        annotation(1, 9),
        annotation(2, 9, segmentation=second),
        annotation(3, 9, segmentation=[]),
    ]
    pipeline = [
        {'type': 'LoadImageFromFile'},
        {
            'type': 'mmdet.LoadAnnotations',
            'with_bbox': True,
            'with_mask': True,
            'poly2mask': False,
        },
        {'type': 'mmdet.PackDetInputs'},
    ]
    dataset = build(root, items, pipeline=pipeline)
    sample = dataset[0]['data_samples']
    assert len(sample.gt_instances) == 2
    assert sample.gt_instances.bboxes.tensor[0].tolist() == [10, 10, 30, 30]
    assert [len(mask) for mask in sample.gt_instances.masks] == [1, 2]
    np.testing.assert_array_equal(
        sample.gt_instances.masks.areas, [20 * 20, 10 * 10 + 8 * 8 / 2]
    )
    # An item without polygons is no background either.
    assert len(sample.ignored_instances) == 1


BAD_CATEGORIES = {
    'ids from 0': (
        [c._replace(id=c.id - 1) for c in CATEGORIES],
        r"'vest_dress' or 'vest dress', but got 'sling_dress'",
    ),
    'ids from 2': (
        [c._replace(id=c.id + 1) for c in CATEGORIES],
        r"ids 1\.\.13, but got {'id': 14",
    ),
}


@pytest.mark.parametrize('name', BAD_CATEGORIES)
def test_other_ids_are_refused(root, name):
    categories, message = BAD_CATEGORIES[name]
    with pytest.raises(ValueError, match=message):
        build(root, [], categories=categories)


def test_unknown_class_and_bare_string_are_refused(root):
    with pytest.raises(KeyError, match="got 'poncho'"):
        build(root, [], metainfo={'classes': ('poncho',)})
    with pytest.raises(TypeError, match=r"needs a comma: \('vest',\)"):
        build(root, [], metainfo={'classes': ('vest')})


def test_real_annotations(test_data):
    file = test_data / 'deepfashion2' / 'demo32.json'
    coco = json.loads(file.read_text())
    dataset = DATASETS.build(
        {
            'type': 'DeepFashion2Dataset',
            'ann_file': str(file),
            'data_prefix': {'img': ''},
        }
    )
    got = [
        (info['img_id'], instance['bbox_label'] + 1, len(instance['mask']))
        for info in dataset
        for instance in info['instances']
    ]
    expected = [
        (a['image_id'], a['category_id'], len(a['segmentation']))
        for image in coco['images']
        for a in coco['annotations']
        if a['image_id'] == image['id']
    ]
    assert len(got) == 55
    assert got == expected
