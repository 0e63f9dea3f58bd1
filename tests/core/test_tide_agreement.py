"""TIDE beside tidecv 1.0.1 and hotcoco 1.3.0, where both mean the same."""

import contextlib
import io
import json

import pytest
from coco_reference import random_case

from mmdet_cppe5.core import evaluate, tide

# Kinds of data on which the conventions coincide.
PLAIN = {'images': 120, 'detections': 30}
NAMES = ('Cls', 'Loc', 'Both', 'Dupe', 'Bkg', 'Miss', 'FalsePos', 'FalseNeg')


@pytest.mark.parametrize('seed', [51, 52])
def test_within_015_points_of_tidecv(seed):
    tidecv = pytest.importorskip('tidecv')
    case = random_case(seed, **PLAIN)
    truth, found = tidecv.Data('truth'), tidecv.Data('found')
    for image, label, box, _ in case.gts:
        truth.add_ground_truth(image, label, box=box)
    for image, label, score, box in case.dts:
        found.add_detection(image, label, score, box=box)
    with contextlib.redirect_stdout(io.StringIO()):
        run = tidecv.TIDE().evaluate(truth, found, mode=tidecv.TIDE.BOX)
    main = {k.short_name: v for k, v in run.fix_main_errors().items()}
    special = {k.short_name: v for k, v in run.fix_special_errors().items()}
    ours = tide(evaluate(*case.core()))
    assert 100 * ours.ap == pytest.approx(run.ap, abs=0.15)
    for name, value in {**main, **special}.items():
        assert 100 * ours.delta_ap[name] == pytest.approx(value, abs=0.15)
    counts = {k.short_name: v for k, v in run.count_errors().items()}
    assert {name: ours.counts[name] for name in counts} == counts


# Equal scores are left out: hotcoco ranks what fixing Cls moves elsewhere
# among them. test_tide.py has pycocotools judge that.
@pytest.mark.parametrize(
    'kind',
    [
        PLAIN,
        {**PLAIN, 'no_gt': 0.3, 'no_dt': 0.2},
        {**PLAIN, 'absent_class': True},
    ],
)
def test_equals_hotcoco(kind, tmp_path):
    hotcoco = pytest.importorskip('hotcoco')
    case = random_case(53, **kind)
    gt, dt = tmp_path / 'gt.json', tmp_path / 'dt.json'
    gt.write_text(json.dumps(_truth(case)))
    dt.write_text(json.dumps(_results(case)))
    truth = hotcoco.COCO(str(gt))
    run = hotcoco.COCOeval(truth, truth.load_res(str(dt)), 'bbox')
    run.evaluate()
    theirs = run.tide_errors()
    ours = tide(evaluate(*case.core()))
    special = {'FP': 'FalsePos', 'FN': 'FalseNeg'}
    for key, value in theirs['delta_ap'].items():
        name = special.get(key, key)
        assert ours.delta_ap[name] == pytest.approx(value, abs=1e-6), name
    for name, count in theirs['counts'].items():
        assert ours.counts[name] == count


def _truth(case):
    """The ground truths as a COCO file's content."""
    return {
        'images': [
            {'id': image + 1, 'width': 640, 'height': 480}
            for image in range(case.images)
        ],
        'categories': [
            {'id': label + 1, 'name': str(label)}
            for label in range(case.classes)
        ],
        'annotations': [
            {
                'id': row + 1,
                'image_id': image + 1,
                'category_id': label + 1,
                'bbox': box,
                'area': box[2] * box[3],
                'iscrowd': 0,
            }
            for row, (image, label, box, _) in enumerate(case.gts)
        ],
    }


def _results(case):
    """The detections as a COCO result file's content."""
    return [
        {
            'image_id': image + 1,
            'category_id': label + 1,
            'bbox': box,
            'score': score,
        }
        for image, label, score, box in case.dts
    ]
