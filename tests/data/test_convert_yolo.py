"""YOLO labels to COCO and back; YOLO predictions to COCO results."""

import json
from copy import deepcopy

import pytest
from PIL import Image
from tiny_release import annotations, picture

from mmdet_cppe5.cli.main import main
from mmdet_cppe5.data.convert.to_yolo import coco_to_yolo
from mmdet_cppe5.data.convert.ultralytics import ultralytics_to_results
from mmdet_cppe5.data.convert.yolo import yolo_to_coco

yaml = pytest.importorskip('yaml')


@pytest.fixture
def yolo(tmp_path):
    """Write a YOLO data set; images are 200 x 100 pixels."""

    def write(labels, images=None, **config):
        root = tmp_path / 'yolo'
        (root / 'images/val').mkdir(parents=True)
        (root / 'labels/val').mkdir(parents=True)
        for name in images or ['1.png']:
            path = root / 'images/val' / name
            path.parent.mkdir(exist_ok=True)
            Image.new('RGB', (200, 100)).save(path)
        for name, text in labels.items():
            (root / 'labels/val' / name).write_text(text)
        config = {'val': 'images/val', 'names': ['a', 'b'], **config}
        (root / 'data.yaml').write_text(yaml.safe_dump(config))
        return yolo_to_coco(root / 'data.yaml', 'val')

    return write


def boxes(conversion):
    return [
        (a['image_id'], a['category_id'], a['bbox'])
        for a in conversion.content['annotations']
    ]


def whys(conversion):
    return [(note.kind, note.why) for note in conversion.notes]


def test_fractions_become_pixels(yolo):
    # Centre (0.25 * 200, 0.5 * 100), size (0.1 * 200, 0.4 * 100).
    found = yolo({'1.txt': '1 0.25 0.5 0.1 0.4\n'})
    assert boxes(found) == [(1, 2, [50 - 10, 50 - 20, 20, 40])]
    assert found.content['annotations'][0]['area'] == 20 * 40
    assert found.content['images'] == [
        {'file_name': '1.png', 'height': 100, 'width': 200, 'id': 1}
    ]
    assert found.content['categories'] == [
        {'supercategory': 'none', 'id': 1, 'name': 'a'},
        {'supercategory': 'none', 'id': 2, 'name': 'b'},
    ]
    assert found.notes == []


def test_images_of_any_extension_and_without_labels(yolo):
    found = yolo(
        {'7.txt': '0 .5 .5 .5 .5', '9.txt': ''},
        images=['7.jpg', '9.webp', '10.BMP'],
    )
    assert [i['id'] for i in found.content['images']] == [10, 7, 9]
    assert [b[0] for b in boxes(found)] == [7]


def test_ids_when_names_are_not_numbers(yolo):
    found = yolo({'b.txt': '0 .5 .5 .5 .5'}, images=['b.png', 'a.png'])
    assert [(i['file_name'], i['id']) for i in found.content['images']] == [
        ('a.png', 1),
        ('b.png', 2),
    ]
    assert boxes(found)[0][0] == 2


def test_ids_when_numbers_are_not_unique(yolo):
    found = yolo({}, images=['1.png', '01.png'])
    assert [i['id'] for i in found.content['images']] == [1, 2]


@pytest.mark.parametrize(
    ('line', 'why'),
    [
        ('0 .5 .5 .5', 'neither a box'),
        ('0 .5 .5 .5 .5 .9', 'six numbers: a prediction'),
        ('0 .5 .5 .5 x', 'not only numbers'),
        ('0 .5 .5 .5 nan', 'not only numbers'),
        ('2 .5 .5 .5 .5', 'class index outside 0..1'),
        ('-1 .5 .5 .5 .5', 'class index outside 0..1'),
        ('0.5 .5 .5 .5 .5', 'class index is not an integer'),
        ('0 .5 .5 0 .5', 'without width or height'),
        ('0 1.5 .5 .5 .5', 'nothing of the box'),
    ],
)
def test_what_is_dropped_and_why(yolo, line, why):
    found = yolo({'1.txt': f'0 .5 .5 1 1\n\n{line}\n'})
    assert len(boxes(found)) == 1
    (note,) = found.notes
    assert note.kind == 'dropped'
    assert why in note.why
    assert note.where == '1.txt line 3'


def test_boxes_are_clipped_to_the_image(yolo):
    # x from 0.9 * 200 - 40 = 140 to 220, cut at 200.
    found = yolo({'1.txt': '0 0.9 0.5 0.4 0.5'})
    assert boxes(found) == [(1, 1, [140, 25, 60, 50])]
    assert whys(found) == [
        ('changed', 'box reached beyond the image: clipped')
    ]


def test_a_polygon_gives_its_bounds(yolo):
    found = yolo({'1.txt': '0 .1 .1 .5 .2 .3 .9'})
    assert boxes(found) == [(1, 1, [20, 10, 80, 80])]
    assert found.content['annotations'][0]['segmentation'] == [
        [20, 10, 100, 20, 60, 90]
    ]


def test_a_label_file_without_image_is_reported(yolo):
    found = yolo({'5.txt': '0 .5 .5 .5 .5', 'classes.txt': 'a\nb'})
    assert whys(found) == [('dropped', 'label file without image')]


def test_size_is_the_one_after_exif_rotation(yolo, tmp_path):
    (tmp_path / 'yolo').mkdir()
    turned = Image.new('RGB', (200, 100))
    exif = turned.getexif()
    exif[0x0112] = 6
    root = tmp_path / 'yolo'
    (root / 'pics').mkdir()
    turned.save(root / 'pics/1.jpg', exif=exif)
    found = yolo({}, val='pics')
    assert found.content['images'][0]['width'] == 100


def test_layouts(yolo, tmp_path):
    root = tmp_path / 'yolo'
    names = {0: 'a', 1: 'b'}
    first = yolo({'1.txt': '0 .5 .5 .5 .5'}, val='../images/val', names=names)
    (root / 'val.txt').write_text('./images/val/1.png\n')
    (root / 'data.yaml').write_text(
        yaml.safe_dump({'path': '.', 'val': ['val.txt'], 'names': names})
    )
    second = yolo_to_coco(root / 'data.yaml', 'val')
    assert second.content['images'][0]['file_name'] == 'images/val/1.png'
    assert boxes(first) == boxes(second) == [(1, 1, [50, 25, 100, 50])]


@pytest.mark.parametrize(
    ('config', 'error', 'text'),
    [
        ({'val': None}, ValueError, "Expected the split 'val'"),
        ({'val': 'nowhere'}, FileNotFoundError, 'nowhere'),
        ({'names': None}, ValueError, 'Expected class names'),
        ({'names': {1: 'a'}}, ValueError, 'names for the classes 0..0'),
        ({'names': ['a', 'a']}, ValueError, 'each class name once'),
        ({'kpt_shape': [17, 3]}, ValueError, 'poses'),
        ({'val': 'labels/val'}, ValueError, 'Expected images of'),
    ],
)
def test_wrong_data_yaml(yolo, config, error, text):
    with pytest.raises(error, match=text):
        yolo({}, **config)


def test_two_images_cannot_share_labels(yolo):
    with pytest.raises(ValueError, match='share'):
        yolo({}, images=['1.png', '1.jpg'])


def test_an_image_that_cannot_be_read(yolo, tmp_path):
    (tmp_path / 'yolo/pics').mkdir(parents=True)
    (tmp_path / 'yolo/pics/1.png').write_bytes(b'\x89PNG\r\n\x1a\n')
    with pytest.raises(ValueError, match=r'readable image in .*1\.png'):
        yolo({}, val='pics')


# -- COCO to YOLO -----------------------------------------------------------


@pytest.fixture
def tiny(tmp_path):
    dataset = annotations(3, 4)
    (tmp_path / 'images').mkdir()
    for image in dataset['images']:
        path = tmp_path / 'images' / image['file_name']
        path.write_bytes(picture(image['id']))
    return dataset


def test_round_trip_loses_nothing(tiny, tmp_path):
    tiny['annotations'][0].update(bbox=[0, 0, 40, 30], area=1200)
    tiny['annotations'][1].update(bbox=[1.25, 2.5, 3.125, 4.75], area=14.84375)
    tiny['images'].append({**tiny['images'][0], 'id': 9, 'file_name': '9.png'})
    (tmp_path / 'images/9.png').write_bytes(picture(9))
    there = coco_to_yolo(
        tiny, tmp_path / 'yolo', 'val', images=tmp_path / 'images'
    )
    assert there.notes == []
    back = yolo_to_coco(tmp_path / 'yolo/data.yaml', 'val')
    assert back.notes == []
    assert back.content == tiny


def test_round_trip_of_the_real_test_split(test_data, tmp_path):
    folder = test_data / 'cppe5'
    original = json.loads((folder / 'annotations/test.json').read_text())
    coco_to_yolo(original, tmp_path, 'test', images=folder / 'images')
    assert yolo_to_coco(tmp_path / 'data.yaml', 'test').content == original


def test_labels_as_yolo_wants_them(tiny, tmp_path):
    coco_to_yolo(tiny, tmp_path, 'train')
    # Image 3: box x 3, y 3, 5 x 10 in 40 x 30, category 4.
    text = (tmp_path / 'labels/train/3.txt').read_text()
    words = text.split()
    assert words[0] == '3'
    assert [float(w) for w in words[1:]] == pytest.approx(
        [5.5 / 40, 8 / 30, 5 / 40, 10 / 30], abs=1e-12
    )
    config = yaml.safe_load((tmp_path / 'data.yaml').read_text())
    assert config['names'][4] == 'Mask'
    assert config['train'] == 'images/train'


def test_what_yolo_cannot_hold_is_said(tiny, tmp_path):
    a, b, c, d = tiny['annotations']
    a['iscrowd'] = 1
    b['bbox'] = [35, 3, 10, 10]
    c['segmentation'] = [[0, 0, 1, 0, 1, 1]]
    d['bbox'] = [50, 3, 10, 10]
    tiny['annotations'] += [{**c, 'image_id': 77}, {**c, 'category_id': 8}]
    found = coco_to_yolo(tiny, tmp_path, 'val')
    kinds = [note.why for note in found.notes if note.kind == 'dropped']
    assert sorted(kinds) == [
        'box of no category',
        'box of no image',
        'crowd region',
        'nothing of the box lies inside the image',
    ]
    changed = {note.why for note in found.notes if note.kind == 'changed'}
    assert changed == {
        'segmentation left out, box kept',
        'box reached beyond the image: clipped',
    }


def test_the_real_size_counts(tiny, tmp_path):
    declared = deepcopy(tiny)
    declared['images'][0].update(width=400, height=300)
    found = coco_to_yolo(declared, tmp_path, 'val', tmp_path / 'images')
    assert [note.where for note in found.notes] == ['3.png']
    back = yolo_to_coco(tmp_path / 'data.yaml', 'val')
    assert back.content == tiny


@pytest.mark.parametrize(
    'name', ['../../x.png', '..\\..\\x.png', 'C:\\x.png', '/x.png']
)
def test_names_that_lead_outside_are_brought_inside(tiny, tmp_path, name):
    tiny['images'][0]['file_name'] = name
    found = coco_to_yolo(tiny, tmp_path / 'yolo', 'val')
    assert (tmp_path / 'yolo/labels/val/x.txt').is_file()
    assert {path.name for path in tmp_path.iterdir()} == {'images', 'yolo'}
    assert found.notes[0].where == 'image 3'


def test_names_that_collide_are_refused(tiny, tmp_path):
    tiny['images'][0]['file_name'] = '4.jpg'
    with pytest.raises(ValueError, match=r'share 4\.txt'):
        coco_to_yolo(tiny, tmp_path / 'out', 'val')


def test_splits_share_a_data_yaml_of_the_same_classes(tiny, tmp_path):
    coco_to_yolo(tiny, tmp_path, 'train', tmp_path / 'images', copy=True)
    coco_to_yolo(tiny, tmp_path, 'test', tmp_path / 'images')
    config = yaml.safe_load((tmp_path / 'data.yaml').read_text())
    assert config['test'] == 'images/test'
    assert config['train'] == config['val'] == 'images/train'
    assert not (tmp_path / 'images/train/3.png').is_symlink()
    assert (tmp_path / 'images/test/3.png').is_symlink()
    tiny['categories'][0]['name'] = 'other'
    with pytest.raises(ValueError, match='use another folder'):
        coco_to_yolo(tiny, tmp_path, 'val')


# -- predictions.json -------------------------------------------------------


def prediction(image_id, category_id, **fields):
    return {
        'image_id': image_id,
        'category_id': category_id,
        'bbox': [1.0, 2.0, 3.0, 4.0],
        'score': 0.5,
        **fields,
    }


@pytest.fixture
def truth():
    dataset = annotations(3, 4)
    dataset['images'][1]['file_name'] = 'sub/photo_b.jpg'
    dataset['images'][2]['file_name'] = '000012.png'
    return dataset


def ids(conversion):
    return [(r['image_id'], r['category_id']) for r in conversion.content]


def test_ids_are_found_by_file_name(truth):
    found = ultralytics_to_results(
        [prediction(3, 1), prediction('photo_b', 2), prediction(12, 5)],
        truth,
    )
    assert ids(found) == [(3, 1), (4, 2), (5, 5)]
    assert found.content[0]['bbox'] == [1.0, 2.0, 3.0, 4.0]
    assert found.notes == []


def test_categories_from_zero_or_one(truth):
    assert ids(ultralytics_to_results([prediction(3, 0)], truth)) == [(3, 1)]
    assert ids(ultralytics_to_results([prediction(3, 5)], truth)) == [(3, 5)]
    found = ultralytics_to_results([prediction(3, 2)], truth)
    assert ids(found) == [(3, 2)]
    assert found.remarks == [
        'category_id read as number-from-1; it could also be number-from-0: '
        'if that is meant, say so with --categories'
    ]
    for first in (0, 1):
        found = ultralytics_to_results(
            [prediction(3, 2)], truth, None, f'number-from-{first}'
        )
        assert ids(found) == [(3, 3 - first)]
    with pytest.raises(ValueError, match='the right names'):
        ultralytics_to_results([prediction(3, 0), prediction(3, 5)], truth)


def test_classes_go_by_name(truth):
    names = ['Mask', 'Shoe', 'Coverall']
    found = ultralytics_to_results(
        [prediction(3, 1), prediction(3, 2), prediction(3, 3)], truth, names
    )
    assert ids(found) == [(3, 5), (3, 1)]
    assert [note.why for note in found.notes] == [
        'no such class in the ground truth'
    ]
    with pytest.raises(ValueError, match='class names of the ground truth'):
        ultralytics_to_results([prediction(3, 1)], truth, ['Shoe'])


def test_predictions_that_fit_nothing(truth):
    items = [
        prediction(3, 5),
        prediction(99, 5),
        prediction(3, 5, score='high'),
        prediction(3, 5, bbox=[1, 2, 3]),
    ]
    found = ultralytics_to_results(items, truth)
    assert len(found.content) == 1
    assert [note.why for note in found.notes] == [
        'no image of that name in the ground truth',
        'box or score is not numbers',
        'box or score is not numbers',
    ]
    with pytest.raises(ValueError, match='none matches'):
        ultralytics_to_results([prediction(99, 5)], truth)
    assert ultralytics_to_results([], truth).content == []


def test_what_is_not_a_predictions_file(truth):
    for wrong in ({}, [1], [{'image_id': 3}], [prediction(3, '1')]):
        with pytest.raises(ValueError, match='Expected'):
            ultralytics_to_results(wrong, truth)
    truth['images'][1]['file_name'] = '3.jpg'
    with pytest.raises(ValueError, match='without their folders'):
        ultralytics_to_results([prediction(3, 5)], truth)


def test_two_commands_from_a_yolo_model_to_its_evaluation(
    truth, tmp_path, capsys
):
    """Perfect predictions, as Ultralytics writes them, reach AP 1."""
    names = {image['id']: image['file_name'] for image in truth['images']}
    items = []
    for a in truth['annotations']:
        stem = names[a['image_id']].split('/')[-1].split('.')[0]
        stem = int(stem) if stem.isnumeric() else stem
        items.append(prediction(stem, a['category_id'], bbox=a['bbox']))
    (tmp_path / 'p.json').write_text(json.dumps(items))
    (tmp_path / 'gt.json').write_text(json.dumps(truth))
    code = main(
        ['convert', 'from-ultralytics', str(tmp_path / 'p.json'),
         str(tmp_path / 'gt.json'), '--out', str(tmp_path / 'r.json'),
         '--report', str(tmp_path / 'notes.json')]
    )  # fmt: skip
    assert code == 0
    assert '4 detections' in capsys.readouterr().out
    assert json.loads((tmp_path / 'notes.json').read_text()) == []
    pycocotools = pytest.importorskip('pycocotools.coco')
    from pycocotools.cocoeval import COCOeval

    ground = pycocotools.COCO(str(tmp_path / 'gt.json'))
    results = ground.loadRes(str(tmp_path / 'r.json'))
    evaluation = COCOeval(ground, results, 'bbox')
    evaluation.evaluate()
    evaluation.accumulate()
    evaluation.summarize()
    assert evaluation.stats[0] == pytest.approx(1.0)


def test_commands_there_and_back(tiny, tmp_path, capsys):
    (tmp_path / 'gt.json').write_text(json.dumps(tiny))
    folder = str(tmp_path / 'yolo')
    code = main(
        ['convert', 'to-yolo', str(tmp_path / 'gt.json'), folder,
         '--split', 'val', '--images', str(tmp_path / 'images')]
    )  # fmt: skip
    assert code == 0
    out = str(tmp_path / 'back.json')
    code = main(
        ['convert', 'from-yolo', f'{folder}/data.yaml', '--split', 'val',
         '--out', out]
    )  # fmt: skip
    assert code == 0
    assert '4 images, 4 boxes, 5 classes' in capsys.readouterr().out
    with open(out) as stream:
        assert json.load(stream) == tiny


def test_command_names_a_missing_field(tiny, tmp_path, capsys):
    del tiny['images'][2]['width']
    (tmp_path / 'gt.json').write_text(json.dumps(tiny))
    code = main(
        ['convert', 'to-yolo', str(tmp_path / 'gt.json'), str(tmp_path),
         '--split', 'val']
    )  # fmt: skip
    assert code == 2
    assert "Expected a 'width' in image id 5" in capsys.readouterr().err
