"""DeepFashion2's metrics: worked by hand, and equal to the offline ones."""

import json

import numpy as np
import pytest
import torch
from metric_builders import data_sample
from mmdet.registry import METRICS
from mmengine.structures import InstanceData

import mmdet_cppe5.plugin  # noqa: F401
from mmdet_cppe5.coco import read_results
from mmdet_cppe5.deepfashion2.categories import CATEGORIES, CLASSES
from mmdet_cppe5.deepfashion2.evaluation import (
    assess_task,
    read_truth,
    task_problem,
)
from mmdet_cppe5.files import file_digest

SKIRT = CLASSES.index('skirt')
SLOTS = CATEGORIES[SKIRT].slots
BOX, OTHER = [10, 10, 20, 20], [40, 40, 30, 30]


def item(number, box, **more):
    """A skirt with all eight landmarks at the middle of its box."""
    x, y, width, height = box
    points = np.zeros((294, 3))
    points[SLOTS] = x + width / 2, y + height / 2, 2
    corners = [x, y, x + width, y, x + width, y + height, x, y + height]
    return {
        'id': number,
        'image_id': 1,
        'category_id': SKIRT + 1,
        'bbox': box,
        'area': width * height,
        'iscrowd': 0,
        'segmentation': [corners],
        'keypoints': points.ravel().tolist(),
        'num_keypoints': 8,
        **more,
    }


@pytest.fixture
def ann_file(tmp_path):
    content = {
        'images': [{'id': 1, 'width': 100, 'height': 80}],
        'annotations': [item(1, BOX, scale=1), item(2, OTHER, scale=3)],
        'categories': [{'id': c.id, 'name': c.raw_name} for c in CATEGORIES],
    }
    file = tmp_path / 'truth.json'
    file.write_text(json.dumps(content))
    return str(file)


def sample_of(boxes, offset=0.0, size=(80, 100)):
    """Skirts with masks that fill their boxes and landmarks at the middle."""
    found = [(SKIRT, box, 0.9 - 0.1 * k) for k, box in enumerate(boxes)]
    sample = data_sample(1, found, size=size)
    masks = torch.zeros(len(boxes), *size, dtype=torch.bool)
    landmarks = torch.zeros(len(boxes), 294, 2)
    for row, (x, y, width, height) in enumerate(boxes):
        masks[row, y : y + height, x : x + width] = True
        landmarks[row, SLOTS] = torch.tensor(
            [x + width / 2 + offset, y + height / 2]
        )
    predicted = InstanceData(**sample['pred_instances'])
    predicted.masks = masks
    predicted.keypoints = landmarks
    return {**sample, 'pred_instances': predicted}


def build(kind='DeepFashion2Metric', classes=CLASSES, **options):
    metric = METRICS.build({'type': kind, **options})
    metric.dataset_meta = {'classes': classes}
    return metric


def run(samples, **options):
    metric = build(**options)
    metric.process({}, samples)
    return metric.evaluate(len(samples))


def test_three_tasks_by_hand(ann_file):
    """One of two items found, exactly: recall 1/2 at precision 1.

    51 of the 101 recall levels are reached.
    """
    tasks = ('bbox', 'segm', 'keypoints')
    got = run([sample_of([BOX])], ann_file=ann_file, tasks=tasks)
    for task in tasks:
        assert got[f'deepfashion2/{task}_AP'] == pytest.approx(5100 / 101)
        key = f'deepfashion2/{task}_AP_skirt'
        assert got[key] == pytest.approx(5100 / 101)
        assert f'deepfashion2/{task}_AP_vest' not in got
    assert got['deepfashion2/keypoints_AR20'] == pytest.approx(50)
    assert got['deepfashion2/keypoints_AR50'] == pytest.approx(50)
    assert got['deepfashion2/bbox_AR100'] == pytest.approx(50)


def test_classes_may_have_raw_names_and_any_order(ann_file):
    sample = sample_of([BOX, OTHER])
    sample['pred_instances'].labels[:] = 1
    metric = build(classes=('vest', 'skirt'), ann_file=ann_file)
    metric.process({}, [sample])
    got = metric.evaluate(1)
    assert got['deepfashion2/bbox_AP_skirt'] == pytest.approx(100)


def test_subsets_have_keys(ann_file):
    got = run([sample_of([BOX])], ann_file=ann_file, subsets=('scale',))
    assert got['deepfashion2/bbox_AP_scale_small'] == pytest.approx(100)
    assert got['deepfashion2/bbox_AP75_scale_large'] == 0
    assert 'deepfashion2/bbox_AP_scale_moderate' not in got


def test_written_results_give_the_same_scores_offline(ann_file, tmp_path):
    tasks = ('bbox', 'segm', 'keypoints')
    prefix = tmp_path / 'out' / 'run'
    samples = [sample_of([[12, 10, 20, 20], OTHER], offset=0.3)]
    run(samples, ann_file=ann_file, tasks=tasks, outfile_prefix=str(prefix))
    truth = read_truth(ann_file)
    scores = {}
    for task in tasks:
        results = read_results(f'{prefix}.{task}.json', truth)
        problem = task_problem(truth, results, task)
        summary, _ = assess_task(truth, problem, task)
        written = f'{prefix}.{task}.scores.json'
        with open(written) as stream:
            document = json.load(stream)
        assert {key: document[key] for key in summary} == summary
        assert document['settings']['task'] == task
        digest = document['inputs']['results']['sha256']
        assert digest == file_digest(f'{prefix}.{task}.json')
        scores[task] = summary['overall']['AP']
    assert 0 < scores['keypoints'] < 100
    # IoU of the moved box: 18 · 20 / (22 · 20), above seven thresholds.
    assert scores['bbox'] == pytest.approx(scores['segm'])


def test_padded_copies_of_an_image_count_once(ann_file):
    once = run([sample_of([BOX, OTHER])], ann_file=ann_file)
    twice = run([sample_of([BOX, OTHER])] * 2, ann_file=ann_file)
    assert twice == once


def test_no_detection_scores_zero(ann_file):
    tasks = ('bbox', 'segm', 'keypoints')
    got = run([sample_of([])], ann_file=ann_file, tasks=tasks)
    assert [got[f'deepfashion2/{task}_AP'] for task in tasks] == [0, 0, 0]


def test_missing_or_misshapen_predictions_are_explained(ann_file):
    bare = data_sample(1, [(SKIRT, BOX, 0.9)])
    with pytest.raises(KeyError, match="'masks' in the predictions of image"):
        run([bare], ann_file=ann_file, tasks='segm')
    bare['pred_instances']['keypoints'] = torch.zeros(1, 17, 2)
    with pytest.raises(ValueError, match=r'294, 2 or more\), but got \(1, 17'):
        run([bare], ann_file=ann_file, tasks=['keypoints'])
    with pytest.raises(ValueError, match='`tasks` to be one of'):
        build(ann_file=ann_file, tasks=['boxes'])
    with pytest.raises(ValueError, match='`subsets` to be one of'):
        build(ann_file=ann_file, subsets=['size'])


QUERY = {'query_image_id': 1, 'bbox': [10, 10, 30, 30], 'cls': SKIRT + 1,
         'style': 1, 'pair_id': 4}  # fmt: skip
ITEM = {'gallery_image_id': 9, 'bbox': [0, 0, 20, 20], 'style': 1,
        'pair_id': 4}  # fmt: skip


@pytest.fixture
def retrieval_files(tmp_path):
    files = {'query_file': [QUERY], 'gallery_file': [ITEM]}
    for name, content in files.items():
        (tmp_path / name).write_text(json.dumps(content))
    return {name: str(tmp_path / name) for name in files}


def retrieved(images, boxes, found=((SKIRT, BOX, 0.9),)):
    sample = data_sample(1, found)
    sample['pred_instances']['gallery_image_ids'] = torch.tensor(images)
    sample['pred_instances']['gallery_bboxes'] = torch.tensor(boxes).double()
    return sample


def retrieve(samples, files, **options):
    kind = 'DeepFashion2RetrievalMetric'
    return run(samples, kind=kind, **files, **options)


def test_retrieval_by_hand(retrieval_files, tmp_path):
    boxes = [[[0, 0, 20, 20], [0, 0, 20, 20], [0, 0, 0, 0]]]
    outfile = tmp_path / 'queries.json'
    got = retrieve(
        [retrieved([[7, 9, -1]], boxes)],
        retrieval_files,
        outfile=str(outfile),
    )
    assert got == {
        'deepfashion2/top-1': 0,
        'deepfashion2/top-5': 100,
        'deepfashion2/top-10': 100,
        'deepfashion2/top-15': 100,
        'deepfashion2/top-20': 100,
        'deepfashion2/missed': 0,
    }
    (row,) = json.loads(outfile.read_text())
    assert (row['detection'], row['rank']) == (0, 2)


def test_retrieval_class_decides_unless_left_out(retrieval_files):
    sample = retrieved([[9]], [[[0, 0, 20, 20]]], [(0, BOX, 0.9)])
    got = retrieve([sample], retrieval_files)
    assert got['deepfashion2/missed'] == 100
    got = retrieve([sample], retrieval_files, with_classes=False)
    assert got['deepfashion2/top-1'] == 100


def test_retrieval_joins_lists_of_different_length(retrieval_files):
    other = retrieved([[5, 5]], [[[0, 0, 1, 1]] * 2])
    other['img_id'] = 2
    sample = retrieved([[9]], [[[0, 0, 20, 20]]])
    got = retrieve([other, sample], retrieval_files)
    assert got['deepfashion2/top-1'] == 100
    assert retrieve([], retrieval_files)['deepfashion2/missed'] == 100


def test_retrieval_predictions_are_checked(retrieval_files):
    with pytest.raises(KeyError, match="'gallery_image_ids' in the pred"):
        retrieve([data_sample(1, [(SKIRT, BOX, 0.9)])], retrieval_files)
    with pytest.raises(ValueError, match=r'but got \(1, 2\) and \(1, 1, 4\)'):
        retrieve([retrieved([[9, 8]], [[[0, 0, 1, 1]]])], retrieval_files)
    with pytest.raises(ValueError, match='is it x, y, width, height'):
        retrieve([retrieved([[9]], [[[5, 5, 1, 1]]])], retrieval_files)


def featured(image, rows, found=((SKIRT, BOX, 0.9),)):
    sample = data_sample(image, found)
    sample['pred_instances']['features'] = torch.tensor(rows)
    return sample


def retrieve_by_features(samples, files, **options):
    kind = 'DeepFashion2FeatureRetrievalMetric'
    return run(samples, kind=kind, **files, **options)


def test_retrieval_by_features_by_hand(retrieval_files, tmp_path):
    """Image 9 is the shop's; its second detection lies on the right item.

    The first has cosine 1 with the query's detection, the second 0.8, and
    image 5 is in neither file.
    """
    right, wrong = [0, 0, 20, 20], [50, 50, 20, 20]
    shop = [(SKIRT, wrong, 0.9), (SKIRT, right, 0.5)]
    results_file = tmp_path / 'results.json'
    got = retrieve_by_features(
        [
            featured(5, [[3.0, 4.0]]),
            featured(1, [[3.0, 4.0]], [(SKIRT, BOX, 0.5)]),
            featured(9, [[6.0, 8.0], [0.0, 0.1]], shop),
        ],
        retrieval_files,
        results_file=str(results_file),
    )
    assert got['deepfashion2/top-1'] == 0
    assert got['deepfashion2/top-5'] == 100
    assert json.loads(results_file.read_text()) == [
        {
            'query_image_id': 1,
            'query_bbox': [10, 10, 30, 30],
            'query_cls': SKIRT + 1,
            'query_score': 0.5,
            'gallery_image_id': [9, 9],
            'gallery_bbox': [[50, 50, 70, 70], [0, 0, 20, 20]],
        }
    ]


def test_nothing_detected_in_the_shop_finds_nothing(retrieval_files):
    shop = featured(9, np.zeros((0, 2)), found=())
    got = retrieve_by_features([featured(1, [[3.0, 4.0]]), shop],
                               retrieval_files)  # fmt: skip
    assert got['deepfashion2/top-20'] == 0
    assert got['deepfashion2/missed'] == 0


def test_features_that_do_not_serve_are_explained(retrieval_files):
    shop = featured(9, [[3.0, 4.0]])
    with pytest.raises(KeyError, match='does the model have a FeatureRoI'):
        retrieve_by_features(
            [data_sample(1, [(SKIRT, BOX, 0.9)])], retrieval_files
        )
    with pytest.raises(ValueError, match=r'1 detections, but got \(2, 1'):
        retrieve_by_features([featured(1, [[3.0], [4.0]])], retrieval_files)
    with pytest.raises(ValueError, match=r'query file \(ids 1 to 1\).* 9\)'):
        retrieve_by_features([shop], retrieval_files)
    with pytest.raises(ValueError, match='gallery file .* none of the 1 is'):
        retrieve_by_features([featured(1, [[3.0, 4.0]])], retrieval_files)
