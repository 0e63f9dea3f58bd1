"""CPPE5Metric: values worked by hand, settings, and what it refuses."""

import json
import math
import re

import numpy as np
import pytest
from builders import annotation, coco_dataset, write
from metric_builders import data_sample, instance, random_samples, run

from mmdet_cppe5.metrics.cppe5_metric import CPPE5Metric

BOX = [10, 10, 50, 50]  # 2500 square pixels: medium
BOX2 = [200, 200, 50, 50]
FAR = [400, 400, 20, 20]
SMALL = [300, 10, 10, 10]
OVERALL = (
    *('AP', 'AP50', 'AP75', 'APs', 'APm', 'APl'),
    *('AR1', 'AR10', 'AR100', 'ARs', 'ARm', 'ARl'),
)


def approx(points):
    """pycocotools adds 2.2e-16 to a denominator; nothing else may differ."""
    return pytest.approx(points, abs=1e-11)


def ann_file(tmp_path, annotations, **options):
    return write(tmp_path / 'gt.json', coco_dataset(annotations, **options))


# -- the ten small inputs that go wrong elsewhere ---------------------------


def test_1_labels_follow_the_order_of_classes(tmp_path):
    path = ann_file(tmp_path, [annotation(1, 1, BOX), annotation(1, 2, BOX2)])
    got = run(
        [data_sample(1, [(0, BOX2, 0.9)])], ('B', 'A'), path
    )  # label 0 is B here
    assert got['cppe5/AP_B'] == approx(100)
    assert got['cppe5/AP_A'] == 0


def test_2_order_of_categories_in_the_file_means_nothing(tmp_path):
    path = ann_file(
        tmp_path,
        [annotation(1, 1, BOX), annotation(1, 2, BOX2)],
        categories={2: 'B', 1: 'A'},
    )
    got = run([data_sample(1, [(0, BOX, 0.9)])], ('A', 'B'), path)
    assert got['cppe5/AP_A'] == approx(100)
    assert got['cppe5/AP_B'] == 0
    assert got['cppe5/AP'] == approx((100 + 0) / 2)


def test_3_misspelt_class_ends_it_before_it_begins(tmp_path):
    metric = CPPE5Metric(ann_file(tmp_path, [annotation(1, 1, BOX)]))
    with pytest.raises(ValueError, match=r"\['b'\] is not in it.*'A', 'B'"):
        metric.dataset_meta = {'classes': ('A', 'b')}


def test_4_bare_string_for_classes(tmp_path):
    metric = CPPE5Metric(ann_file(tmp_path, [annotation(1, 1, BOX)]))
    with pytest.raises(TypeError, match='a tuple of one needs a comma'):
        metric.dataset_meta = {'classes': ('A')}


def test_5_no_detection_at_all_is_zero_not_empty(tmp_path):
    prefix = tmp_path / 'out'
    path = ann_file(
        tmp_path,
        [annotation(1, 1, BOX), annotation(2, 2, BOX)],
        image_ids=(1, 2),
    )
    got = run(
        [data_sample(1), data_sample(2)],
        ann_file=path,
        outfile_prefix=str(prefix),
    )
    defined = [k for k in OVERALL if k[-1] not in 'sl']  # boxes are medium
    for key in defined:
        assert got[f'cppe5/{key}'] == 0
    assert got['cppe5/AP_A'] == got['cppe5/AP50_B'] == 0
    assert not {'cppe5/APs', 'cppe5/ARl', 'cppe5/APs_A'} & set(got)
    written = json.loads((tmp_path / 'out.scores.json').read_text())
    assert set(written['overall']) == set(OVERALL)
    assert written['overall']['APs'] is None
    assert written['overall']['AP'] == 0
    assert json.loads((tmp_path / 'out.bbox.json').read_text()) == []


def test_6_class_without_ground_truth_is_left_out(tmp_path):
    path = ann_file(tmp_path, [annotation(1, 1, BOX)])
    sample = data_sample(1, [(1, FAR, 0.9), (0, BOX, 0.5)])
    got = run([sample], ann_file=path, tide=True)
    assert got['cppe5/AP'] == got['cppe5/AP_A'] == approx(100)
    assert 'cppe5/AP_B' not in got


def test_7_detection_on_an_image_that_is_not_in_the_ground_truth(tmp_path):
    path = ann_file(tmp_path, [annotation(1, 1, BOX)])
    with pytest.raises(ValueError, match=r'image id 77 is not: .*gt\.json'):
        run([data_sample(77, [(0, BOX, 0.9)])], ann_file=path)


@pytest.mark.parametrize(
    'caps', [(1, 10, 100), (300,), (50, 300, 500), (5,), (100, 1)]
)
def test_7_any_caps_name_their_scores(tmp_path, caps):
    """Six boxes, the best six found in order of score: recall min(n, 6)/6."""
    boxes = [[60 * k, 10, 50, 50] for k in range(6)]
    path = ann_file(tmp_path, [annotation(1, 1, box) for box in boxes])
    found = [(0, box, 0.9 - 0.1 * k) for k, box in enumerate(boxes)]
    got = run([data_sample(1, found)], ann_file=path, max_dets=caps)
    for cap in caps:
        assert got[f'cppe5/AR{cap}'] == approx(100 * min(cap, 6) / 6)
    # 101 recall levels; with five of six found those up to 5/6 have 1.
    reached = math.floor(min(max(caps), 6) / 6 * 100) + 1
    assert got['cppe5/AP'] == approx(100 * reached / 101)
    assert ('cppe5/AP@100' in got) is False
    if max(caps) != 100:
        assert got[f'cppe5/AP@{max(caps)}'] == got['cppe5/AP']


@pytest.mark.parametrize(
    ('thresholds', 'names'),
    [
        ([0.5, 0.75], {'AP50', 'AP75'}),
        ([0.8], {'AP80'}),
        (0.5, {'AP50'}),
        (0.575, {'AP57.5'}),
        ((0.57,), {'AP57'}),
        (np.arange(0.5, 1, 0.05), {f'AP{k}' for k in range(50, 100, 5)}),
    ],
)
def test_8_thresholds_name_their_scores(tmp_path, thresholds, names):
    """One object, one detection of IoU 41 / 50 = 0.82."""
    path = ann_file(tmp_path, [annotation(1, 1, [0, 0, 50, 50])])
    sample = data_sample(1, [(0, [0, 0, 50, 41], 0.9)])
    got = run([sample], ann_file=path, iou_thrs=thresholds)
    found = {key[6:] for key in got if re.fullmatch(r'cppe5/AP[\d.]+', key)}
    assert found == names
    for name in names:
        hit = float(name[2:]) / 100 <= 0.82
        assert got[f'cppe5/{name}'] == approx(100 * hit)


@pytest.mark.parametrize('fields', ['area', 'iscrowd', 'both', 'none'])
def test_9_missing_fields(tmp_path, fields):
    item = annotation(1, 1, BOX, id=1, segmentation=[])
    item |= {'area': 2500} if fields in ('area', 'both') else {}
    item |= {'iscrowd': 0} if fields in ('iscrowd', 'both') else {}
    path = ann_file(tmp_path, [item], complete=False)
    got = run([data_sample(1, [(0, BOX, 0.9)])], ann_file=path)
    assert got['cppe5/AP'] == got['cppe5/APm'] == approx(100)
    assert 'cppe5/APs' not in got


@pytest.mark.parametrize('ids', [(0, 1), (5, 5)])
def test_10_annotation_ids_are_only_names(tmp_path, ids):
    path = ann_file(
        tmp_path,
        [annotation(k + 1, 1, BOX, id=ids[k]) for k in range(2)],
        image_ids=(1, 2),
    )
    samples = [data_sample(k, [(0, BOX, 0.9)]) for k in (1, 2)]
    assert run(samples, ann_file=path)['cppe5/AP'] == approx(100)


def test_10_results_of_an_image_count_once(tmp_path):
    path = ann_file(
        tmp_path,
        [annotation(1, 1, BOX), annotation(2, 1, BOX)],
        image_ids=(1, 2),
    )
    first, second = (data_sample(k, [(0, BOX, 0.9)]) for k in (1, 2))
    worse = data_sample(1, [(0, FAR, 0.99)])
    got = run([first, second, first, worse], ann_file=path)
    assert got['cppe5/AP'] == approx(100)


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


def test_images_that_were_not_tested_count_as_missed(tmp_path, caplog):
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
        ((2, BOX, 0.5), r"label of every .* in 0..1 for the classes \['A', "
         r"'B'\], but detection 1 of image id 8 has 2"),
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
