"""The same files through Python, the metrics and the data sets: one rule."""

import copy
import json

import pytest
import torch
from mask_faults import FAULTS
from odd_kinds import CLEAR
from PIL import Image
from world import compressed, found, judged, outlines, truth

from mmdet_cppe5 import evaluate
from mmdet_cppe5.coco import parse_categories
from mmdet_cppe5.datasets.cppe5 import CPPE5Dataset
from mmdet_cppe5.datasets.deepfashion2 import DeepFashion2Dataset
from mmdet_cppe5.deepfashion2.categories import CATEGORIES
from mmdet_cppe5.metrics.cppe5_metric import CPPE5Metric
from mmdet_cppe5.metrics.deepfashion2_metric import DeepFashion2Metric


def samples_of(data, entries, instances=None):
    """Detections as a detector's data samples, in the file's own classes."""
    _, ids = parse_categories(data, 'gt.json')
    samples = []
    for image in {image['id']: image for image in data['images']}:
        own = [e for e in entries if e['image_id'] == image]
        boxes = [[x, y, x + w, y + h] for x, y, w, h in _column(own, 'bbox')]
        samples.append(
            {
                'img_id': image,
                'ori_shape': (240, 320),
                'pred_instances': {
                    'bboxes': torch.tensor(boxes).double().reshape(-1, 4),
                    'scores': torch.tensor(_column(own, 'score')).double(),
                    'labels': torch.tensor(
                        [ids.index(e['category_id']) for e in own]
                    ).long(),
                    'masks': _column(own, 'segmentation'),
                },
            }
        )
        if instances is not None:
            samples[-1]['instances'] = instances[image]
    return samples


def _column(entries, key):
    return [entry.get(key) for entry in entries]


def through(metric, data, samples):
    classes, _ = parse_categories(data, 'gt.json')
    metric.dataset_meta = {'classes': classes}
    metric.process({}, samples)
    return metric.evaluate(len(samples))


def in_deepfashion2(data):
    """The same file with three of DeepFashion2's classes."""
    data = copy.deepcopy(data)
    for category in data['categories']:
        if category.get('name') in ('mask', 'gloves', 'goggles'):
            category['name'] = CATEGORIES[category['id'] - 1].name
    return data


@pytest.fixture(scope='module')
def pictures(tmp_path_factory):
    folder = tmp_path_factory.mktemp('pictures')
    for key in (1, 2, 3, 4):
        Image.new('RGB', (320, 240)).save(folder / f'shot_{key}.jpg')
    return {'img': str(folder)}


def dataset(kind, path, pictures, **options):
    built = kind(
        path,
        data_prefix=pictures,
        pipeline=[],
        test_mode=True,
        serialize_data=False,
        **options,
    )
    return [built.get_data_info(row) for row in range(len(built))]


@pytest.mark.parametrize('name', CLEAR)
def test_what_is_clear_scores_alike_everywhere(folder, name, pictures):
    data, entries = {**truth(), 'info': {}}, found()
    CLEAR[name][0](data, entries)
    expected = pytest.approx(judged(data, entries)[0], abs=1e-9)
    gt = folder.write('gt.json', data)
    assert evaluate(data, entries)['AP'] == expected
    samples = samples_of(data, entries)
    scores = through(CPPE5Metric(gt), data, samples)
    assert scores['cppe5/AP'] == expected
    if name not in ('no sizes', 'no file names'):  # a data set needs them
        classes, _ = parse_categories(data, 'gt.json')
        infos = dataset(
            CPPE5Dataset, gt, pictures, metainfo={'classes': classes}
        )
        own = {info['img_id']: info['instances'] for info in infos}
        samples = samples_of(data, entries, own)
        scores = through(CPPE5Metric(), data, samples)
        assert scores['cppe5/AP'] == expected


# DeepFashion2's thirteen classes are known by id and name.
NAMED = ('name in a', 'true as', 'number', 'half a', 'unused')


@pytest.mark.parametrize(
    'name', [name for name in CLEAR if not name.startswith(NAMED)]
)
def test_what_is_clear_scores_alike_in_deepfashion2(folder, name, pictures):
    data, entries = {**truth(), 'info': {}}, found()
    CLEAR[name][0](data, entries)
    expected = pytest.approx(judged(data, entries)[0], abs=1e-9)
    data = in_deepfashion2(data)
    gt, dt = folder.write('gt.json', data), folder.write('dt.json', entries)
    out = folder.path / 'out.json'
    words = ('deepfashion2-evaluate', gt, dt, '--no-ci', '--json', out)
    code, _, complaint = folder.run(*words)
    assert code == 0, complaint
    assert json.loads(out.read_text())['overall']['AP'] == expected
    if name not in ('no sizes', 'no file names'):
        infos = dataset(DeepFashion2Dataset, gt, pictures)
        assert len(infos) == len({image['id'] for image in data['images']})


@pytest.mark.parametrize('name', FAULTS)
def test_a_broken_mask_is_named_everywhere(folder, name, pictures):
    mask, expected = FAULTS[name]
    data, entries = truth(outlines), found(compressed)
    data['annotations'][4]['segmentation'] = mask
    gt = folder.write('gt.json', data)
    fashion = folder.write('fashion.json', in_deepfashion2(data))
    classes, _ = parse_categories(data, gt)
    fashion_classes, _ = parse_categories(in_deepfashion2(data), fashion)
    for attempt in (
        lambda: evaluate(data, entries, iou_type='segm'),
        lambda: through(CPPE5Metric(gt, metric='segm'), data, []),
        lambda: dataset(
            CPPE5Dataset, gt, pictures, metainfo={'classes': classes}
        ),
        lambda: through(
            DeepFashion2Metric(fashion, ['segm']), in_deepfashion2(data), []
        ),
        lambda: dataset(
            DeepFashion2Dataset,
            fashion,
            pictures,
            metainfo={'classes': fashion_classes},
        ),
    ):
        with pytest.raises(ValueError, match=expected) as caught:
            attempt()
        assert 'annotation id 5 (image id 2)' in str(caught.value)


def test_masks_need_no_boxes_anywhere(folder):
    data, entries = truth(outlines), found(compressed)
    for entry in entries:  # as pycocotools takes masks' areas
        del entry['bbox']
    expected = pytest.approx(judged(data, entries, 'segm')[0], abs=1e-9)
    for item in data['annotations']:
        del item['bbox']
    assert evaluate(data, entries, iou_type='segm')['AP'] == expected
    samples = samples_of(data, found(compressed))
    gt = folder.write('gt.json', data)
    scores = through(CPPE5Metric(gt, metric='segm'), data, samples)
    assert scores['cppe5/segm_AP'] == expected
    fashion = in_deepfashion2(data)
    gt, dt = folder.write('f.json', fashion), folder.write('dt.json', entries)
    metric = DeepFashion2Metric(gt, ['segm'])
    scores = through(metric, fashion, samples_of(fashion, found(compressed)))
    assert scores['deepfashion2/segm_AP'] == expected
    out = folder.path / 'out.json'
    words = ('deepfashion2-evaluate', gt, dt, '--no-ci', '--json', out)
    assert folder.run(*words)[0] == 0
    assert json.loads(out.read_text())['overall']['AP'] == expected
    said = folder.sentence(*words, '--task', 'bbox')
    assert "Expected a 'bbox' in annotation id 1" in said


def test_masks_of_results_stand_for_boxes_in_deepfashion2_too(folder):
    data, entries = truth(), found(compressed)
    for entry in entries:
        del entry['bbox']
    expected = judged(data, entries)[0]
    gt = folder.write('gt.json', in_deepfashion2(data))
    dt, out = folder.write('dt.json', entries), folder.path / 'out.json'
    words = ('deepfashion2-evaluate', gt, dt, '--no-ci', '--json', out)
    assert folder.run(*words, '--task', 'bbox')[0] == 0
    found_ap = json.loads(out.read_text())['overall']['AP']
    assert found_ap == pytest.approx(expected, abs=1e-9)


def test_corners_in_results_are_noted_everywhere(folder):
    data, entries = truth(), found()
    for entry in entries:
        x, y, width, height = entry['bbox']
        entry['bbox'] = [x, y, x + width, y + height]
    expected = pytest.approx(judged(data, entries)[0], abs=1e-9)
    result = evaluate(data, entries)
    assert result['AP'] == expected
    assert 'look like corners' in result.notices[-1]
    gt = folder.write('gt.json', in_deepfashion2(data))
    dt, out = folder.write('dt.json', entries), folder.path / 'out.json'
    words = ('deepfashion2-evaluate', gt, dt, '--no-ci', '--json', out)
    code, _, complaint = folder.run(*words)
    assert code == 0
    assert 'look like corners' in complaint
    assert json.loads(out.read_text())['overall']['AP'] == expected
