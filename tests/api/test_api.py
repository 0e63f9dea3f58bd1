"""One-call Python: every form of input, judged by pycocotools itself."""

import contextlib
import io
import json
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from builders import annotation, coco_dataset, entry, write
from report_builders import jittered

from mmdet_cppe5 import compare, evaluate, report
from mmdet_cppe5.api import from_mmdet, from_supervision, from_torchmetrics

BOX = [10, 10, 50, 50]
KEYS = ['AP', 'AP50', 'AP75', 'APs', 'APm', 'APl']
KEYS += ['AR1', 'AR10', 'AR100', 'ARs', 'ARm', 'ARl']


@pytest.fixture(scope='module')
def truth():
    """Twelve images with three objects of sizes from 16 to 160 each."""
    boxes = [
        annotation(k, 1 + (k + n) % 3, [40 + 150 * n, 30, 16 * size, 60])
        for k in range(1, 13)
        for n, size in enumerate((1, 4, 10))
    ]
    return coco_dataset(boxes, range(1, 13), {1: 'A', 2: 'B', 3: '<b>'})


@pytest.fixture(scope='module')
def found(truth):
    return jittered(truth, 3)


@pytest.fixture(scope='module')
def judged(truth, found):
    """pycocotools: its ground truth, its results, its twelve numbers."""
    coco_module = pytest.importorskip('pycocotools.coco')
    from pycocotools.cocoeval import COCOeval

    with contextlib.redirect_stdout(io.StringIO()):
        coco = coco_module.COCO()
        coco.dataset = truth
        coco.createIndex()
        results = coco.loadRes(found)
        run = COCOeval(coco, results, 'bbox')
        run.evaluate()
        run.accumulate()
        run.summarize()
    return coco, results, 100 * run.stats


def as_array(found):
    return np.array(
        [
            [e['image_id'], *e['bbox'], e['score'], e['category_id']]
            for e in found
        ]
    )


def test_every_form_of_input_gives_pycocotools_numbers(
    truth, found, judged, tmp_path
):
    coco, results, expected = judged
    paths = write(tmp_path / 'gt.json', truth), write(tmp_path / 'dt', found)
    for pair in (
        paths,
        (truth, found),
        (coco, results),
        (coco, as_array(found)),
    ):
        result = evaluate(*pair)
        got = [result[key] for key in KEYS]
        assert got == pytest.approx(expected.tolist(), abs=1e-9)


def corners(box):
    x, y, w, h = box
    return [x, y, x + w, y + h]


def by_image(entries, key):
    return [e for e in entries if e['image_id'] == key]


def test_torchmetrics_dictionaries(truth, found, judged):
    """Boxes are given as corners, labels from 0."""
    keys = [image['id'] for image in truth['images']]
    preds, target = [], []
    for key in keys:
        mine = by_image(found, key)
        preds.append(
            {
                'boxes': [corners(e['bbox']) for e in mine],
                'scores': [e['score'] for e in mine],
                'labels': [e['category_id'] - 1 for e in mine],
            }
        )
        theirs = by_image(truth['annotations'], key)
        target.append(
            {
                'boxes': [corners(e['bbox']) for e in theirs],
                'labels': [e['category_id'] - 1 for e in theirs],
            }
        )
    result = evaluate(*from_torchmetrics(preds, target, ['A', 'B', 'C']))
    expected = judged[2].tolist()
    assert [result[key] for key in KEYS] == pytest.approx(expected, abs=1e-6)
    made = [
        [
            SimpleNamespace(
                xyxy=np.array(each['boxes']),
                class_id=np.array(each['labels']),
                confidence=np.array(each['scores'])
                if 'scores' in each
                else None,
            )
            for each in side
        ]
        for side in (preds, target)
    ]
    assert evaluate(*from_supervision(*made))['AP'] == result['AP']


@pytest.mark.parametrize(
    ('box_format', 'box'),
    [
        ('xyxy', [10, 20, 40, 60]),
        ('xywh', [10, 20, 30, 40]),
        ('cxcywh', [25, 40, 30, 40]),
    ],
)
def test_box_formats(box_format, box):
    side = {'boxes': [box], 'labels': [0], 'scores': [0.5]}
    truth, found = from_torchmetrics([side], [side], None, box_format)
    assert truth['annotations'][0]['bbox'] == [10, 20, 30, 40]
    assert truth['annotations'][0]['area'] == 1200
    assert found[0]['bbox'] == [10, 20, 30, 40]


def test_crowd_regions_of_torchmetrics_cost_nothing():
    """One object found; a second detection lies on a crowd region."""
    far = [100, 100, 200, 200]
    preds = {'boxes': [[0, 0, 9, 9], far], 'labels': [0, 0]}
    preds['scores'] = [0.5, 0.9]
    target = {'boxes': [[0, 0, 9, 9], far], 'labels': [0, 0]}
    crowd = {**target, 'iscrowd': [0, 1]}
    assert evaluate(*from_torchmetrics([preds], [crowd]))[
        'AP'
    ] == pytest.approx(100)
    assert evaluate(*from_torchmetrics([preds], [target]))[
        'AP'
    ] == pytest.approx(100)
    alone = {**target, 'boxes': [[0, 0, 9, 9]], 'labels': [0]}
    assert evaluate(*from_torchmetrics([preds], [alone]))[
        'AP'
    ] == pytest.approx(50)


def test_mmdetection_samples():
    """Two objects, one found; a box on an ignored region is not counted."""
    torch = pytest.importorskip('torch')
    structures = pytest.importorskip('mmdet.structures')
    from mmengine.structures import InstanceData

    def instances(boxes, **more):
        labels = torch.zeros(len(boxes), dtype=torch.long)
        boxes = torch.tensor(boxes, dtype=torch.float32)
        return InstanceData(bboxes=boxes, labels=labels, **more)

    sample = structures.DetDataSample(
        metainfo={'img_id': 7, 'ori_shape': (480, 640)}
    )
    first, second, region = ([k, 0, k + 50, 50] for k in (0.0, 100.0, 300.0))
    sample.gt_instances = instances([first, second])
    sample.ignored_instances = instances([region])
    sample.pred_instances = instances(
        [first, region], scores=torch.tensor([0.5, 0.9])
    )
    result = evaluate(*from_mmdet([sample], ['A']))
    # Recall 1/2 at precision 1: 51 of 101 levels.
    assert result['AP'] == pytest.approx(100 * 51 / 101)
    del sample.pred_instances
    with pytest.raises(ValueError, match='pred_instances in every data'):
        from_mmdet([sample], ['A'])


def test_result_in_all_its_forms(truth, found):
    result = evaluate(truth, found)
    assert repr(result).startswith('<EvaluationResult: AP ')
    assert '12 images, 36 objects, 3 classes' in repr(result)
    page = result._repr_html_()
    assert '&lt;b&gt;' in page
    assert '<b>' not in page
    assert str(result).startswith(' Average Precision')
    assert (
        json.loads(json.dumps(result.to_dict()))['overall']['AP']
        == (result['AP'])
    )
    interval = result.intervals(20)['overall']['AP']
    assert interval['estimate'] == pytest.approx(result['AP'])
    assert set(result.tide['delta_ap']) >= {'Cls', 'Loc', 'Miss'}
    with pytest.raises(KeyError, match="AR100.*but got 'mAP'"):
        result['mAP']


def test_data_frame(truth, found):
    pytest.importorskip('pandas')
    result = evaluate(truth, found)
    frame = result.to_pandas()
    assert list(frame.index) == ['A', 'B', '<b>', 'all']
    assert frame.loc['all', 'AP'] == result['AP']
    assert frame.loc['A', 'AR100'] == result.per_class['A']['AR100']


def test_figures(truth, found):
    pytest.importorskip('matplotlib')
    result = evaluate(truth, found)
    for kind in ('classes', 'iou', 'tide'):
        assert len(result.plot(kind).axes) in (1, 3)
    with pytest.raises(ValueError, match='classes, iou, tide, but got'):
        result.plot('pie')


def test_comparison(truth, found):
    missing = [e for e in found if e['image_id'] % 2]
    result = compare(
        truth,
        {'all': found, 'half': missing},
        num_resamples=50,
        num_permutations=200,
    )
    assert list(result.ranking) == ['all', 'half']
    assert result.significant == [('all', 'half')]
    assert '1 of 1 pairs differ significantly' in repr(result)
    assert '<td' in result._repr_html_()
    assert result.to_dict()['pairs'][0]['significant'] is True
    assert 'best first' in str(result)


def test_report(truth, found, tmp_path):
    pytest.importorskip('jinja2')
    out = report(truth, {'mine': found}, tmp_path / 'r.html', resamples=0)
    assert 'How good is mine?' in out.read_text()


def test_what_cannot_be_read_is_named(truth):
    with pytest.raises(TypeError, match='ground truth as a path.*got list'):
        evaluate([], [])
    with pytest.raises(TypeError, match='detections as a path.*got int'):
        evaluate(truth, 3)
    with pytest.raises(ValueError, match=r'\(N, 7\).*got shape \(2, 6\)'):
        evaluate(truth, np.zeros((2, 6)))
    with pytest.raises(ValueError, match='the detections'):
        evaluate(truth, [entry(99, 1, BOX, 0.5)])
    with pytest.raises(ValueError, match='one of xyxy, xywh, cxcywh'):
        from_torchmetrics([], [], box_format='yxyx')
    with pytest.raises(ValueError, match='1 and 0'):
        from_torchmetrics([{}], [])


def test_importing_the_package_loads_nothing_heavy():
    code = (
        'import sys, mmdet_cppe5; '
        "print({'numpy', 'torch', 'mmdet'} & set(sys.modules)); "
        'from mmdet_cppe5 import evaluate; '
        "print({'torch', 'mmdet', 'matplotlib'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, '-c', code], capture_output=True, text=True
    )
    assert done.stdout.split() == ['set()', 'set()']
