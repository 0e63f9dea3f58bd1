"""CPPE5Dataset: labels, tolerance, training boxes and errors at start."""

import json

import numpy as np
import pytest
from builders import annotation, coco_dataset
from PIL import Image
from pycocotools.coco import COCO

from mmdet_cppe5.classes import CLASSES, PALETTE
from mmdet_cppe5.datasets import CPPE5Dataset

OFFICIAL = dict(enumerate(CLASSES, start=1))
PIPELINE = [
    {'type': 'LoadImageFromFile'},
    {'type': 'mmdet.LoadAnnotations', 'with_bbox': True},
    {'type': 'mmdet.Resize', 'scale': (640, 480), 'keep_ratio': True},
    {'type': 'mmdet.PackDetInputs'},
]


@pytest.fixture
def make(tmp_path):
    """Write a data set with its images, then build CPPE5Dataset on it."""

    def build(data, sizes=None, **options):
        (tmp_path / 'images').mkdir(exist_ok=True)
        for image in data['images']:
            declared = (image['width'], image['height'])
            size = (sizes or {}).get(image['id'], declared)
            Image.new('RGB', size).save(
                tmp_path / 'images' / image['file_name']
            )
        (tmp_path / 'a.json').write_text(json.dumps(data))
        return CPPE5Dataset('a.json', data_root=str(tmp_path), **options)

    return build


def official(annotations, **options):
    return coco_dataset(annotations, categories=OFFICIAL, **options)


def names_of(dataset, index=0):
    classes = dataset.metainfo['classes']
    return [
        classes[instance['bbox_label']]
        for instance in dataset.get_data_info(index)['instances']
    ]


@pytest.mark.parametrize(
    'categories',
    [
        OFFICIAL,
        dict(enumerate(CLASSES)),
        {7: 'Mask', 3: 'Coverall', 1: 'Goggles', 9: 'Gloves',
         2: 'Face_Shield'},
        {'b': 'Coverall', 'a': 'Face_Shield', 'e': 'Gloves', 'd': 'Goggles',
         'c': 'Mask'},
    ],
    ids=['one-based', 'zero-based', 'shuffled', 'strings'],
)  # fmt: skip
def test_labels_follow_the_names(make, categories):
    boxes = [annotation(1, key, [10, 10, 50, 50]) for key in categories]
    dataset = make(coco_dataset(boxes, categories=categories))
    labels = [
        instance['bbox_label']
        for instance in dataset.get_data_info(0)['instances']
    ]
    # The official order, written out: label 0 is Coverall ... 4 is Mask.
    order = {
        'Coverall': 0, 'Face_Shield': 1, 'Gloves': 2, 'Goggles': 3, 'Mask': 4,
    }  # fmt: skip
    assert labels == [order[name] for name in categories.values()]


def test_asked_for_classes_come_in_their_order_and_colours(make):
    boxes = [annotation(1, key, [10, 10, 50, 50]) for key in OFFICIAL]
    dataset = make(official(boxes), metainfo={'classes': ('Mask', 'Coverall')})
    assert dataset.metainfo['classes'] == ('Mask', 'Coverall')
    assert dataset.metainfo['palette'] == [PALETTE[4], PALETTE[0]]
    assert names_of(dataset) == ['Coverall', 'Mask']


def test_other_classes_have_no_palette_of_ours(make):
    dataset = make(
        coco_dataset([], categories={1: 'Visor'}),
        metainfo={'classes': ['Visor']},
    )
    assert 'palette' not in dataset.metainfo


def test_bare_string_is_refused(make):
    with pytest.raises(TypeError, match=r"string 'Mask'.*\('Mask',\)"):
        make(official([]), metainfo={'classes': 'Mask'})


@pytest.mark.parametrize(
    ('categories', 'options', 'named'),
    [
        (OFFICIAL, {'metainfo': {'classes': ('Mask', 'Glove')}}, 'Glove'),
        ({**OFFICIAL, 4: 'Googles'}, {}, 'Goggles'),
        ({1: 'Coverall', 2: 'Mask'}, {}, 'Face_Shield'),
        ({**OFFICIAL, 6: 'Boots'}, {}, 'Boots'),
    ],
    ids=['unknown', 'misspelt', 'missing', 'extra'],
)
def test_wrong_names_are_refused_with_both_lists(
    make, categories, options, named
):
    asked = options.get('metainfo', {}).get('classes', CLASSES)
    with pytest.raises(ValueError, match=named) as error:
        make(coco_dataset([], categories=categories), **options)
    assert ', '.join(map(repr, asked)) in str(error.value)
    assert ', '.join(map(repr, categories.values())) in str(error.value)


def test_missing_fields_have_defaults(make):
    bare = annotation(1, 5, [10, 20, 30, 40])
    full = annotation(
        1, 5, [10, 20, 30, 40],
        area=7, iscrowd=1, segmentation=[[10, 20, 40, 20, 40, 60]],
    )  # fmt: skip
    data = official([bare, {**bare, 'segmentation': []}, full], complete=False)
    first, second, third = make(data).get_data_info(0)['instances']
    assert first == second
    assert first == {
        'bbox': [10, 20, 10 + 30, 20 + 40],
        'bbox_label': 4,
        'ignore_flag': 0,
        'area': 30 * 40,
        'iscrowd': 0,
        'ann_id': None,
    }
    assert (third['area'], third['iscrowd'], third['ignore_flag']) == (7, 1, 1)
    assert third['mask'] == [[10, 20, 40, 20, 40, 60]]


@pytest.mark.parametrize('ids', [(0, 1), (4, 4), ('a', 'b'), (1, 'a')])
def test_annotation_ids_may_be_anything(make, ids):
    data = official([annotation(1, 1, [5, 5, 9, 9], id=key) for key in ids])
    instances = make(data).get_data_info(0)['instances']
    assert [instance['ann_id'] for instance in instances] == list(ids)


def test_image_ids_may_be_strings_but_not_of_two_kinds(make):
    data = official([annotation('x', 1, [5, 5, 9, 9])], image_ids=('y', 'x'))
    dataset = make(data)
    assert [dataset.get_data_info(i)['img_id'] for i in (0, 1)] == ['x', 'y']
    data['annotations'][0]['image_id'] = 1
    with pytest.raises(ValueError, match=r'annotation id 1 .*image'):
        make(data)


BOXES = [
    annotation(1, 1, [600, 400, 100, 100]),  # partly outside 640 x 480
    annotation(1, 1, [10, 10, 0, 50]),
    annotation(1, 1, [640, 10, 20, 20]),
    annotation(1, 1, [-30, 10, 30, 20]),
    annotation(1, 1, [10, 10, 0.5, 0.5]),
    annotation(1, 1, [10, 10, 20, 20], ignore=1),
]


def test_training_leaves_out_boxes_without_area(make, monkeypatch):
    messages = []
    monkeypatch.setattr(
        'mmdet_cppe5.datasets.cppe5.print_log',
        lambda text, **options: messages.append(text),
    )
    dataset = make(official(BOXES))
    assert len(messages) == 1
    assert 'left 5 of 6 boxes out of training' in messages[0]
    instances = dataset.get_data_info(0)['instances']
    assert [i['bbox'] for i in instances] == [[600, 400, 700, 500]]


def test_test_mode_keeps_every_annotation(make):
    dataset = make(official(BOXES), test_mode=True)
    assert len(dataset.get_data_info(0)['instances']) == len(BOXES)


def test_empty_images_are_filtered_by_what_is_left(make):
    data = official(
        [*BOXES[1:], annotation(2, 1, [1, 1, 9, 9])], image_ids=(1, 2, 3)
    )
    rule = {'filter_empty_gt': True, 'min_size': 32}
    dataset = make(data, filter_cfg=rule)
    assert [dataset.get_data_info(i)['img_id'] for i in range(len(dataset))] \
        == [2]  # fmt: skip
    assert len(make(data, filter_cfg=rule, test_mode=True)) == 3
    with pytest.raises(ValueError, match=r'of its 3 none is left .*481'):
        make(data, filter_cfg={'min_size': 481})


def test_boxes_cut_to_nothing_by_the_pipeline_do_not_reach_training(make):
    # Declared 640 x 480, the file is 320 x 240: the second box is outside.
    data = official(
        [
            annotation(1, 1, [20, 20, 60, 60]),
            annotation(1, 5, [400, 300, 9, 9]),
        ]
    )
    dataset = make(data, sizes={1: (320, 240)}, pipeline=PIPELINE)
    truth = dataset[0]['data_samples'].gt_instances
    assert truth.labels.tolist() == [0]
    # Resized by 2 from the file's own size.
    assert truth.bboxes.tensor.tolist() == [[40, 40, 160, 160]]


def test_an_image_left_empty_by_the_pipeline_is_drawn_again(make):
    data = official(
        [annotation(1, 1, [400, 300, 9, 9]), annotation(2, 2, [9, 9, 9, 9])],
        image_ids=(1, 2),
    )
    dataset = make(
        data,
        sizes={1: (320, 240)},
        pipeline=PIPELINE,
        filter_cfg={'filter_empty_gt': True},
    )
    assert dataset.prepare_data(0) is None
    assert dataset[0]['data_samples'].img_id == 2


@pytest.mark.parametrize(
    ('content', 'words'),
    [
        (None, 'no such file'),
        ('', 'empty'),
        ('{"images": [', 'not valid JSON'),
        ('[]', 'an empty list'),
        ('{"a": 1}', 'images, annotations and categories'),
    ],
)
def test_unreadable_file_is_one_error_with_advice(tmp_path, content, words):
    path = tmp_path / 'a.json'
    if content is not None:
        path.write_text(content)
    kind = FileNotFoundError if content is None else ValueError
    with pytest.raises(kind, match=words) as error:
        CPPE5Dataset(str(path))
    assert str(path) in str(error.value)
    assert 'prepare_cppe5.py' in str(error.value)


def test_missing_images_are_counted_and_named(make, tmp_path):
    data = official([], image_ids=(1, 2, 3))
    make(data)
    (tmp_path / 'images' / '2.png').unlink()
    with pytest.raises(
        FileNotFoundError, match=r'1 are missing, the first is .*2\.png'
    ) as error:
        CPPE5Dataset('a.json', data_root=str(tmp_path))
    assert 'prepare_cppe5.py' in str(error.value)


def test_image_without_size_is_named(make, tmp_path):
    data = official([])
    make(data)
    del data['images'][0]['width']
    (tmp_path / 'a.json').write_text(json.dumps(data))
    with pytest.raises(ValueError, match=r"'width' in image id 1"):
        CPPE5Dataset('a.json', data_root=str(tmp_path))


def test_test_set_without_annotations_is_allowed_for_testing_only(make):
    data = official([])
    del data['annotations']
    assert make(data, test_mode=True).get_data_info(0)['instances'] == []
    with pytest.raises(ValueError, match="no 'annotations'"):
        make(data)


def test_real_test_split_is_what_pycocotools_reads(test_data):
    root = test_data / 'cppe5'
    dataset = CPPE5Dataset(
        'annotations/test.json', data_root=str(root), size_check='report'
    )
    coco = COCO(root / 'annotations' / 'test.json')
    assert len(dataset) == 29
    counts = np.zeros(5, dtype=int)
    for index in range(29):
        info = dataset.get_data_info(index)
        theirs = coco.loadAnns(coco.getAnnIds(imgIds=[info['img_id']]))
        assert [
            [i['ann_id'], i['area'], i['bbox'][:2], i['bbox_label'] + 1]
            for i in info['instances']
        ] == [
            [a['id'], a['area'], a['bbox'][:2], a['category_id']]
            for a in theirs
        ]
        for instance in info['instances']:
            counts[instance['bbox_label']] += 1
    # Counted by hand from the published file.
    assert counts.tolist() == [45, 17, 61, 32, 52]
