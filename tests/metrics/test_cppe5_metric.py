"""CPPE5Metric: values worked by hand, settings, and what it refuses."""

import json

import numpy as np
import pytest
from builders import annotation, write
from metric_builders import (
    ann_file,
    approx,
    data_sample,
    instance,
    random_samples,
    run,
)

from mmdet_cppe5.classes import CLASSES
from mmdet_cppe5.datasets.cppe5 import CPPE5Dataset
from mmdet_cppe5.metrics.cppe5_metric import CPPE5Metric

BOX = [10, 10, 50, 50]  # 2500 square pixels: medium
BOX2 = [200, 200, 50, 50]
FAR = [400, 400, 20, 20]
SMALL = [300, 10, 10, 10]


# -- where the ground truth comes from --------------------------------------


def test_ground_truth_of_the_data_samples_is_that_of_the_file(tmp_path):
    samples = random_samples(0)
    annotations = [
        annotation(
            sample['img_id'],
            item['bbox_label'] + 1,
            [
                *item['bbox'][:2],
                item['bbox'][2] - item['bbox'][0],
                item['bbox'][3] - item['bbox'][1],
            ],
            area=item['area'],
        )
        for sample in samples
        for item in sample['instances']
    ]
    path = ann_file(tmp_path, annotations, image_ids=range(1, 13))
    from_file = run(samples, ann_file=path)
    assert 0 < from_file['cppe5/AP'] < 100
    assert run(samples) == from_file


def test_real_ground_truth_through_the_data_set(test_data):
    """CPPE5Dataset's samples give what the annotation file gives."""
    folder = test_data / 'cppe5'
    dataset = CPPE5Dataset(
        'annotations/test.json',
        data_root=str(folder),
        test_mode=True,
        pipeline=[],
    )
    rng = np.random.default_rng(0)
    samples = []
    for info in dataset:
        found = []
        for item in info['instances']:
            box = np.array(item['bbox'])
            box[2:] -= box[:2]
            moved = box + rng.normal(0, 0.1, 4) * [*box[2:], *box[2:]]
            label = int(item['bbox_label'])
            found.append((label, np.maximum(moved, 1).tolist(), rng.random()))
        samples.append(data_sample(info['img_id'], found))
        samples[-1]['instances'] = info['instances']
    path = str(folder / 'annotations/test.json')
    from_file = run(samples, CLASSES, path)
    assert 0 < from_file['cppe5/APs'] < 100
    assert run(samples, CLASSES) == from_file


def test_size_follows_the_annotations_area_in_data_samples():
    """Area 500 in a box of 2500: small, unless the box is to decide."""
    truth = [(0, BOX, {'area': 500})]
    sample = data_sample(1, [(0, BOX, 0.9)], truth)
    by_annotation = run([sample])
    assert by_annotation['cppe5/APs'] == approx(100)
    assert 'cppe5/APm' not in by_annotation
    by_box = run([sample], area_source='bbox')
    assert by_box['cppe5/APm'] == approx(100)
    assert 'cppe5/APs' not in by_box


def test_data_samples_without_area():
    sample = data_sample(1, [(0, BOX, 0.9)], [(0, BOX)])
    del sample['instances'][0]['area']
    with pytest.raises(ValueError, match="'area' in every instance of image"):
        run([sample])
    assert run([sample], area_source='bbox')['cppe5/APm'] == approx(100)


def test_ignore_flag_stands_for_crowd_in_data_samples():
    item = instance(0, BOX, {'ignore_flag': 1})
    del item['iscrowd']
    sample = data_sample(1, [(0, BOX, 0.9), (0, BOX2, 0.8)], [(0, BOX2)])
    sample['instances'].append(item)
    assert run([sample])['cppe5/AP'] == approx(100)


def test_data_samples_without_ground_truth():
    with pytest.raises(KeyError, match="'instances' in the data sample of"):
        run([data_sample(1, [(0, BOX, 0.9)])])


def test_missing_ann_file_is_told_at_once(tmp_path):
    metric = CPPE5Metric(str(tmp_path / 'none.json'))
    with pytest.raises(FileNotFoundError, match='there is no such file'):
        metric.dataset_meta = {'classes': ('A',)}


def test_images_that_were_not_tested_count_as_missed(tmp_path):
    path = ann_file(
        tmp_path,
        [annotation(1, 1, BOX), annotation(2, 1, BOX)],
        image_ids=(1, 2),
    )
    got = run([data_sample(1, [(0, BOX, 0.9)])], ann_file=path)
    assert got['cppe5/AR100'] == approx(50)


# -- what it refuses --------------------------------------------------------


@pytest.mark.parametrize(
    ('found', 'message'),
    [
        ((0, BOX, float('nan')), 'the score of every .* detection 1 of image '
         r'id 8 has nan'),
        ((0, BOX, float('inf')), 'has inf'),
        ((0, [1, 2, float('nan'), 4], 0.5), 'the box .* to be finite'),
        ((0, [1, 2, -3, 4], 0.5), r'no negative size, .* has \[1.0, 2.0, -3'),
        ((2, BOX, 0.5), r"label of every .* in 0..1 for the classes 'A', "
         r"'B', but detection 1 of image id 8 has 2"),
        ((-1, BOX, 0.5), 'has -1'),
    ],
)  # fmt: skip
def test_detection_that_cannot_be_judged(found, message):
    sample = data_sample(8, [(0, BOX, 0.5), found], [(0, BOX)])
    with pytest.raises(ValueError, match=message):
        run([sample])


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        ({'engine': 'fast'}, "`engine` to be one of .* but got 'fast'"),
        ({'area_source': 'mask'}, '`area_source` to be one of'),
        ({'format_only': True}, '`outfile_prefix` to say where'),
    ],
)
def test_wrong_setting(options, message):
    with pytest.raises(ValueError, match=message):
        CPPE5Metric(**options)


@pytest.mark.parametrize('tide', [{'pos_thr': 0.77}, {'t_f': 0.5}])
def test_wrong_tide_setting(tide):
    sample = data_sample(1, [(0, BOX, 0.5)], [(0, BOX)])
    with pytest.raises(ValueError, match='pos_thr'):
        run([sample], tide=tide)


def test_tide_beside_pycocotools():
    """AP is pycocotools', the errors are the core's."""
    pytest.importorskip('pycocotools')
    samples = [data_sample(1, [(0, BOX, 0.5)], [(0, BOX), (1, BOX)])]
    got = run(samples, engine='pycocotools', tide=True)
    assert got == pytest.approx(run(samples, tide=True), abs=1e-9)
    assert got['cppe5/dAP_Miss'] == approx(50)


def test_size_range_named_like_a_class():
    sample = data_sample(1, [(0, BOX, 0.5)], [(0, BOX)])
    with pytest.raises(ValueError, match="'AP_A' stands for two"):
        run([sample], area_ranges={'A': (0, 100)})


def test_classes_must_be_known():
    metric = CPPE5Metric()
    with pytest.raises(ValueError, match="`metainfo` to name its 'classes'"):
        metric.process({}, [data_sample(1, [], [])])


# -- settings and engines ---------------------------------------------------


def test_own_size_ranges():
    truth = [(0, BOX), (0, SMALL)]
    sample = data_sample(1, [(0, SMALL, 0.9)], truth)
    got = run([sample], area_ranges={'tiny': (0, 100), 'rest': (100, 1e6)})
    assert got['cppe5/AP_tiny'] == approx(100)
    # 100 square pixels lie in both, so `rest` finds one of two.
    assert got['cppe5/AR_rest'] == approx(50)
    assert 'cppe5/APs' not in got


@pytest.mark.parametrize('seed', [1, 2])
@pytest.mark.parametrize(
    'options',
    [
        {},
        {'max_dets': (2, 7)},
        {'iou_thrs': [0.3, 0.75], 'area_ranges': {'big': (5000, 1e9)}},
    ],
    ids=['coco', 'caps', 'thresholds'],
)
def test_engines_give_the_same_dict(seed, options):
    samples = random_samples(seed)
    ours = run(samples, **options)
    theirs = run(samples, engine='pycocotools', **options)
    assert ours.keys() == theirs.keys()
    assert 0 < ours['cppe5/AP'] < 100
    for key, value in theirs.items():
        assert ours[key] == approx(value), key


def test_values_are_not_rounded():
    """Precision 2/3 at recall 1 of one object in three detections' wake."""
    truth = [(0, BOX), (0, BOX2)]
    found = [(0, BOX, 0.9), (0, FAR, 0.8), (0, BOX2, 0.7)]
    got = run([data_sample(1, found, truth)])
    assert got['cppe5/AP'] == approx(100 * (51 * 1 + 50 * 2 / 3) / 101)


# -- files ------------------------------------------------------------------


def test_format_only_writes_results_at_original_coordinates(tmp_path):
    path = ann_file(
        tmp_path, [], categories={7: 'A', 3: 'B'}, image_ids=('x',)
    )
    data = json.loads((tmp_path / 'gt.json').read_text())
    del data['annotations']  # a test set without published annotations
    write(tmp_path / 'gt.json', data)
    got = run(
        [data_sample('x', [(0, BOX, 0.5), (1, [1.5, 2, 3, 4.25], 0.25)])],
        ('A', 'B'),
        path,
        format_only=True,
        outfile_prefix=str(tmp_path / 'deep' / 'run'),
    )
    assert got == {}
    written = json.loads((tmp_path / 'deep' / 'run.bbox.json').read_text())
    assert written == [
        {'image_id': 'x', 'category_id': 7, 'bbox': BOX, 'score': 0.5},
        {
            'image_id': 'x',
            'category_id': 3,
            'bbox': [1.5, 2, 3, 4.25],
            'score': 0.25,
        },
    ]


def test_format_only_without_ann_file_counts_categories_from_1(tmp_path):
    run(
        [data_sample(1, [(1, BOX, 0.5)])],
        format_only=True,
        outfile_prefix=str(tmp_path / 'run'),
    )
    written = json.loads((tmp_path / 'run.bbox.json').read_text())
    assert [item['category_id'] for item in written] == [2]


# -- TIDE and intervals -----------------------------------------------------


def test_tide_keys():
    """One of two objects found: fixing the miss gives the other 50 points."""
    truth = [(0, BOX), (0, BOX2)]
    got = run([data_sample(1, [(0, BOX, 0.9)], truth)], tide=True)
    at_half = 100 * 51 / 101
    assert got['cppe5/AP50'] == approx(at_half)
    assert got['cppe5/dAP_Miss'] == approx(100 - at_half)
    assert got['cppe5/dAP_FalseNeg'] == approx(100 - at_half)
    for error in ('Cls', 'Loc', 'Both', 'Dupe', 'Bkg', 'FalsePos'):
        assert got[f'cppe5/dAP_{error}'] == approx(0)


def test_tide_at_another_threshold():
    """IoU 0.8 is a hit at 0.5 and a Loc error at 0.85."""
    sample = data_sample(1, [(0, [10, 10, 50, 40], 0.9)], [(0, BOX)])
    assert run([sample], tide=True)['cppe5/dAP_Loc'] == approx(0)
    got = run([sample], tide={'pos_thr': 0.85})
    assert got['cppe5/dAP_Loc'] == approx(100)


def test_interval_keys():
    samples = random_samples(3)
    got = run(samples, ci={'num_resamples': 50, 'seed': 1}, tide=True)
    plain = run(samples)
    for name in ('AP', 'AP50', 'AP75', 'AP_A', 'AP_B'):
        low, high = (got[f'cppe5/{name}_ci_{end}'] for end in ('low', 'high'))
        assert low < plain[f'cppe5/{name}'] < high
    assert got['cppe5/dAP_Loc_ci_low'] <= got['cppe5/dAP_Loc']
    assert got == run(samples, ci={'num_resamples': 50, 'seed': 1}, tide=True)
