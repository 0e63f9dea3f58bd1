"""Ten small inputs on which other evaluators go wrong, with their answers."""

import json
import math
import re

import numpy as np
import pytest
from builders import annotation
from metric_builders import ann_file, approx, data_sample, run

from mmdet_cppe5.metrics.cppe5_metric import CPPE5Metric

BOX = [10, 10, 50, 50]  # 2500 square pixels: medium
BOX2 = [200, 200, 50, 50]
FAR = [400, 400, 20, 20]
OVERALL = (
    *('AP', 'AP50', 'AP75', 'APs', 'APm', 'APl'),
    *('AR1', 'AR10', 'AR100', 'ARs', 'ARm', 'ARl'),
)


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
    with pytest.raises(ValueError, match=r"but 'b' is not in it.*'A', 'B'\."):
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
    assert written['schema'] == 'mmdet-cppe5/evaluation/1'
    assert written['inputs']['ground_truth']['path'] == path
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
