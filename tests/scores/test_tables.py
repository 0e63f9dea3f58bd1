"""Text tables: alignment, rounding, dashes, and the layouts users know."""

from dataclasses import replace

import numpy as np
import pytest

from mmdet_cppe5.core import (
    Comparison,
    Detections,
    GroundTruths,
    Interval,
    PairedDifference,
    evaluate,
)
from mmdet_cppe5.scores.assessment import Settings, assess
from mmdet_cppe5.scores.formats import Table, write_parts
from mmdet_cppe5.scores.groups import group_letters, numbered, without_prefix
from mmdet_cppe5.scores.summary import threshold_name
from mmdet_cppe5.scores.tables import (
    class_table,
    coco_lines,
    comparison_parts,
    interval_table,
    number,
    tide_tables,
)


@pytest.mark.parametrize(
    ('threshold', 'name'),
    [
        (0.5, '50'),
        (0.57, '57'),
        (0.575, '57.5'),
        (np.arange(0.5, 1, 0.05)[5], '75'),
        (np.linspace(0.5, 0.95, 10)[8], '90'),
        (1.0, '100'),
    ],
)
def test_threshold_name(threshold, name):
    assert threshold_name(threshold) == name


@pytest.mark.parametrize(
    ('value', 'digits', 'text'),
    [
        (None, 1, '-'),
        (12.345, 1, '12.3'),
        (12.345, 2, '12.35'),
        (-1e-14, 2, '0.00'),
        (-0.02, 2, '-0.02'),
        (100, 1, '100.0'),
    ],
)
def test_number(value, digits, text):
    assert number(value, digits) == text


def test_format_table():
    rows = [['a', '100'], ['longer', '-']]
    got = Table(['name', 'n'], rows, 'Title').write()
    assert got.splitlines() == [
        'Title',
        'name      n',
        '------  ---',
        'a       100',
        'longer    -',
    ]


def one_of_two_found():
    """Two objects of class A, one found; class B is empty."""
    boxes = [[10, 10, 50, 50], [200, 200, 50, 50]]
    sizes = {'num_images': 1, 'num_classes': 2}
    gt = GroundTruths([0, 0], [0, 0], boxes, **sizes)
    dt = Detections([0], [0], boxes[:1], [0.9], **sizes)
    return gt, dt


def test_class_table():
    summary = assess(*one_of_two_found(), ('A', 'B'), Settings()).summary
    assert class_table(summary).write().splitlines() == [
        'class      objects  detections    AP  AP50  AP75  APs   APm  APl  '
        'AR100',
        '---------  -------  ----------  ----  ----  ----  ---  ----  ---  '
        '-----',
        'A                2           1  50.5  50.5  50.5    -  50.5    -  '
        ' 50.0',
        'B                0           0     -     -     -    -     -    -  '
        '    -',
        'mean of 1        2           1  50.5  50.5  50.5    -  50.5    -  '
        ' 50.0',
    ]


def test_tide_tables():
    """AP 51 / 101; finding the other object gives the other 50 / 101."""
    settings = Settings(iou_thrs=[0.5, 0.75], tide={})
    summary = assess(*one_of_two_found(), ('A', 'B'), settings).summary
    blocks = [str(table) for table in tide_tables(summary['tide'])]
    assert blocks[0].splitlines() == [
        'TIDE: main errors @ 50',
        'Type    Cls   Loc  Both  Dupe   Bkg   Miss',
        '-----  ----  ----  ----  ----  ----  -----',
        'dAP    0.00  0.00  0.00  0.00  0.00  49.50',
        'count     0     0     0     0     0      1',
    ]
    assert blocks[1].splitlines() == [
        'TIDE: special errors @ 50',
        'Type   FalsePos  FalseNeg',
        '-----  --------  --------',
        'dAP        0.00     49.50',
        'count         0         1',
    ]
    by_class = blocks[2].splitlines()
    assert (
        by_class[3].split()
        == 'A 50.50 0 0 0 0 0 49.50 0 49.50'.replace(' 0', ' 0.00').split()
    )
    assert by_class[4].split() == ['B', *'-' * 9]
    thresholds = blocks[3].splitlines()
    assert thresholds[1].split() == ['Thresh', '50', '75']
    assert thresholds[3].split() == ['AP', '50.50', '50.50']


def test_keypoint_lines_have_cocos_layout(test_data):
    """One cap and no small range: the ten lines COCO published."""
    text = (
        test_data / 'coco_val2014_100/val2014_fake_eval_res.txt'
    ).read_text()
    published = text.split('type=keypoints')[1].splitlines()
    ranges = {'all': (0, 1e10), 'medium': (1024, 9216), 'large': (9216, 1e10)}
    evaluation = evaluate(
        *one_of_two_found(), area_ranges=ranges, max_dets=(20,)
    )

    def layouts(lines):
        lines = [line for line in lines if line.startswith(' Average')]
        return [' '.join(line.split('=')[0:-1]).split() for line in lines]

    got = layouts(coco_lines(evaluation).splitlines())
    assert len(got) == 10
    assert got == layouts(published)


def comparison(groups):
    names = ('good', 'middle', 'poor')
    zero = Interval(0.125, 0.1, 0.15)
    return Comparison(
        metric='AP',
        names=names,
        estimates={name: Interval(0.5, 0.4, 0.6) for name in names},
        pairs=(
            PairedDifference('good', 'middle', zero, 0.5, 1.0, False),
            PairedDifference('good', 'poor', zero, 0.001, 0.003, True),
            PairedDifference('middle', 'poor', zero, 0.25, 0.5, False),
        ),
        groups=groups,
        ranks={'good': (1, 2), 'middle': (1, 3), 'poor': (3, 3)},
        alpha=0.05,
    )


def test_comparison_tables():
    groups = (('good', 'middle'), ('middle', 'poor'))
    parts = comparison_parts(comparison(groups), 0.95)
    ranking, pairs, said, _ = map(str, parts)
    assert ranking.splitlines() == [
        '95 % intervals, best first',
        'model     AP   low  high  rank  group',
        '------  ----  ----  ----  ----  -----',
        'good    50.0  40.0  60.0   1-2      a',
        'middle  50.0  40.0  60.0   1-3     ab',
        'poor    50.0  40.0  60.0     3      b',
    ]
    assert pairs.splitlines()[3:5] == [
        'good - middle       12.50  10.00  15.00  0.5000    1.0000',
        'good - poor         12.50  10.00  15.00  0.0010    0.0030  *',
    ]
    assert said.splitlines() == [
        'Models that share a letter are not significantly different (3 '
        'pairs, Holm, alpha 0.05)',
        '  a: good, middle',
        '  b: middle, poor',
    ]


def test_comparison_says_why_an_interval_is_unusual():
    """Both models and a pair of the same reason stand on one line."""
    found = comparison((('good', 'middle', 'poor'),))
    one = replace(found.estimates['poor'], reason='one image')
    pair = replace(
        found.pairs[1],
        difference=replace(found.pairs[1].difference, reason='one image'),
    )
    found = replace(
        found,
        estimates={**found.estimates, 'poor': one},
        pairs=(found.pairs[0], pair, found.pairs[2]),
    )
    text = write_parts(comparison_parts(found, 0.95))
    assert text.endswith(
        '\n\npoor, good - poor: one image\n'
        'Simulated: at the 5 % level the test called 5 to 6 % of the pairs '
        'of equal AP different (29 images).\n'
        'Simulated: 95 % intervals held AP in 95 to 97 % of the samples of '
        '29 to 500 images, other numbers in 88 to 98 %.'
    )


def test_group_letters_overlap():
    groups = [('x', 'y'), ('y', 'z')]
    assert group_letters(['x', 'y', 'z'], groups) == ['a', 'ab', 'b']


def test_no_group_is_named_like_a_detector():
    groups = [('a', 'c'), ('b',)]
    assert group_letters(['a', 'b', 'c'], groups) == ['d', 'e', 'd']


def test_models_that_all_differ_are_said_to():
    groups = (('good',), ('middle',), ('poor',))
    *_, said, _ = comparison_parts(comparison(groups), 0.95)
    assert said == (
        'All models differ significantly (3 pairs, Holm, alpha 0.05).'
    )


def test_value_outside_its_interval_is_explained():
    interval = {'estimate': 60.0, 'low': 40.0, 'high': 55.0}
    intervals = {
        'overall': {'AP': interval},
        'classes': {},
        'confidence': 0.95,
        'num_resamples': 9,
        'method': 't',
        'seed': 0,
    }
    assert 'need not lie around' in str(interval_table(intervals))
    interval['high'] = 70.0
    assert 'need not lie around' not in str(interval_table(intervals))


@pytest.mark.parametrize(
    ('form', 'text'),
    [
        ('csv', '# T\nclass,AP\n"a,b_c",5.0\nd,'),
        (
            'markdown',
            '**T**\n\n| class | AP |\n| :--- | ---: |\n| a,b\\_c | 5.0 |\n'
            '| d | - |',
        ),
        (
            'latex',
            '% T\n% needs \\usepackage{booktabs}\n\\begin{tabular}{lr}\n'
            '\\toprule\nclass & AP \\\\\n\\midrule\na,b\\_c & 5.0 \\\\\n'
            'd & - \\\\\n\\bottomrule\n\\end{tabular}',
        ),
    ],
)
def test_tables_in_other_forms(form, text):
    rows = [['a,b_c', '5.0'], ['d', '-']]
    assert Table(['class', 'AP'], rows, 'T').write(form) == text


def test_group_letters_after_z_stand_apart():
    """27 groups: the last is aa, which must not read as a and a."""
    names = [f'n{k}' for k in range(28)]
    groups = list(zip(names, names[1:]))
    got = group_letters(names, groups)
    assert got[0] == 'a'
    assert got[26:] == ['z aa', 'aa']


def test_names_become_unique():
    assert numbered(['run', 'other', 'run']) == ['run (1)', 'other', 'run (2)']


@pytest.mark.parametrize(
    ('names', 'short'),
    [
        (['faster_rcnn_seed_0', 'faster_rcnn_seed_12'], ['seed_0', 'seed_12']),
        (['run_0', 'run_1'], ['run_0', 'run_1']),
        (['one_detector_alone'], ['one_detector_alone']),
        (['a_long_name', 'another'], ['a_long_name', 'another']),
        (['experiment_a_', 'experiment_a_x'], ['a_', 'a_x']),
    ],
)
def test_long_prefixes_are_stripped(names, short):
    assert without_prefix(names) == short
