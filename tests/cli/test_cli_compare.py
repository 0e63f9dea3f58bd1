"""``mmdet-cppe5 compare``: names, tables, JSON and what it refuses."""

import json
from pathlib import Path

import numpy as np
import pytest
from builders import annotation, coco_dataset, entry, write

from mmdet_cppe5.cli.main import main
from mmdet_cppe5.coco import read_ground_truth, read_results
from mmdet_cppe5.coco.conversion import to_core
from mmdet_cppe5.core import compare, evaluate
from mmdet_cppe5.scores.groups import distinct_names

BOX = [10, 10, 50, 50]


@pytest.fixture
def files(tmp_path):
    """40 images: two models miss a few, others each, one finds a fourth."""
    ids = range(1, 41)
    rng = np.random.default_rng(0)
    truth = coco_dataset([annotation(k, 1, BOX) for k in ids], image_ids=ids)
    paths = [write(tmp_path / 'gt.json', truth)]
    for name, found in (
        ('good', [k for k in ids if k > 4]),
        ('alike', [k for k in ids if k < 36]),
        ('poor', [k for k in ids if k % 4 == 0]),
    ):
        entries = [entry(k, 1, BOX, float(rng.random())) for k in found]
        paths.append(write(tmp_path / f'{name}.bbox.json', entries))
    return paths


OPTIONS = ('--resamples', '200', '--permutations', '200')


def by_the_core(files):
    """The same comparison through the Python interface."""
    truth = read_ground_truth(files[0])
    evaluations = {}
    for name, path in zip(('good', 'alike', 'poor'), files[1:]):
        problem = to_core(truth, read_results(path, truth))
        evaluations[name] = evaluate(problem.ground_truths, problem.detections)
    return compare(evaluations, num_resamples=200, num_permutations=200)


def test_json_is_the_cores_comparison_in_points(files, tmp_path, capsys):
    out = tmp_path / 'out.json'
    assert main(['compare', *files, *OPTIONS, '--json', str(out)]) == 0
    got = json.loads(out.read_text())
    expected = by_the_core(files)
    assert got['schema'] == 'mmdet-cppe5/comparison/1'
    assert [model['name'] for model in got['models']] == [
        'good',
        'alike',
        'poor',
    ]
    # 36 of 40 found: recall 0.9, 91 of 101 levels with precision 1;
    # 35 of 40 found: recall 0.875, 88 levels.
    estimates = [model['estimate'] for model in got['models'][:2]]
    assert estimates == pytest.approx([9100 / 101, 8800 / 101], abs=1e-11)
    for model in got['models']:
        assert tuple(model['rank']) == expected.ranks[model['name']]
    assert [tuple(group) for group in got['groups']] == list(expected.groups)
    assert len(got['pairs']) == len(expected.pairs) == 3
    for pair, core in zip(got['pairs'], expected.pairs):
        assert (pair['first'], pair['second']) == (core.first, core.second)
        assert pair['p_value'] == core.p_value
        assert pair['p_adjusted'] == core.p_adjusted
        assert pair['significant'] == core.significant
        assert pair['difference']['low'] == 100 * core.difference.low
    assert got['pairs'][1]['second'] == 'poor'
    assert got['pairs'][1]['significant']
    assert got['settings']['num_permutations'] == 200
    assert set(got['inputs']['results']) == {'good', 'alike', 'poor'}
    said = 'share a letter are not significantly different (3 pairs, Holm'
    assert said in capsys.readouterr().out


def test_same_numbers_again(files, tmp_path):
    outs = [tmp_path / f'{k}.json' for k in 'ab']
    for out in outs:
        main(['compare', *files, *OPTIONS, '--json', str(out)])
    assert outs[0].read_bytes() == outs[1].read_bytes()


@pytest.mark.parametrize(
    ('paths', 'names'),
    [
        (['a.json', 'b.bbox.json'], ['a', 'b']),
        (['runs/x/r.json', 'runs/y/r.json'], ['x/r', 'y/r']),
        (['1/x/r.json', '2/x/r.json', 's.json'], ['1/x/r', '2/x/r', 's']),
        (['r.json', 'r.json'], ['r (1)', 'r (2)']),
        (['/a/r.json', 'r.json'], ['a/r', 'r']),
        (['r.bbox.json', 'r.segm.json'], ['r (1)', 'r (2)']),
    ],
)
def test_tidecv_e3_names_are_kept_distinct(paths, names):
    """In tidecv the second file of a base name overwrites the first."""
    assert distinct_names(paths) == names


def test_one_file_is_not_enough(files, capsys):
    assert main(['compare', *files[:2]]) == 2
    assert 'two or more result files to compare' in capsys.readouterr().err


def test_unknown_metric(files, capsys):
    assert main(['compare', *files[:3], '--metric', 'mAP']) == 2
    assert 'mAP' in capsys.readouterr().err


def test_too_few_permutations_for_power_are_pointed_out(files, capsys):
    """3 pairs at 0.05: of 100 none may reach, 0.05 x 101 / 3 - 1 = 0.68."""
    options = ('--resamples', '20', '--permutations')
    assert main(['compare', *files, *options, '100']) == 0
    assert 'only if at most 0 of the permutations' in capsys.readouterr().err
    assert main(['compare', *files, *options, '1000']) == 0
    assert capsys.readouterr().err == ''


def test_json_on_standard_output_is_json_alone(files, capsys, tmp_path):
    options = ('--resamples', '20', '--permutations', '1000')
    assert main(['compare', *files, *options, '--json', '-']) == 0
    out, err = capsys.readouterr()
    assert [model['name'] for model in json.loads(out)['models']][-1] == 'poor'
    assert 'best first' in err
    assert main(['evaluate', *files[:2], '--json', '-', '--no-ci']) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)['overall']['AP'] == pytest.approx(9100 / 101)
    assert err.rstrip().endswith('AP 90.1')


def test_a_mistyped_subcommand_is_recognised(capsys):
    assert main(['evalute']) == 2
    assert "did you mean 'evaluate'?" in capsys.readouterr().err


def test_tables_for_a_spreadsheet(files, capsys):
    options = ('--resamples', '20', '--format', 'csv')
    assert main(['compare', *files, *options]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == 'model,AP,low,high,rank,group'
    assert lines[2].startswith('good,90.1,')


def test_no_input_is_written_over(files, capsys):
    truth = Path(files[0]).read_text()
    for command in (
        ['evaluate', *files[:2], '--json', files[0]],
        ['compare', *files, '--json', files[0]],
        ['report', *files[:2], '--worklist', files[0]],
        ['report', *files[:2], '--out', files[1]],
    ):
        assert main(command) == 2
        assert 'output that is no input' in capsys.readouterr().err
    assert Path(files[0]).read_text() == truth


def test_per_class(files, tmp_path, capsys):
    """One class has objects: its pairs are those of all classes."""
    out = tmp_path / 'out.json'
    options = (*OPTIONS, '--per-class', '--json', str(out))
    assert main(['compare', *files, *options]) == 0
    got = json.loads(out.read_text())
    (name, pairs), *others = got['classes'].items()
    assert pairs == got['pairs']
    for _, undefined in others:
        assert {pair['p_value'] for pair in undefined} == {None}
        assert not any(pair['significant'] for pair in undefined)
    assert main(['compare', *files, *OPTIONS, '--json', str(out)]) == 0
    assert json.loads(out.read_text())['classes'] is None
    printed = capsys.readouterr().out
    assert 'paired differences of AP by class, 95 % intervals' in printed
    assert f'\n{name} ' in printed
