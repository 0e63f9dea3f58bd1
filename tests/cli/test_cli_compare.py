"""``mmdet-cppe5 compare``: names, tables, JSON and what it refuses."""

import json

import numpy as np
import pytest
from builders import annotation, coco_dataset, entry, write

from mmdet_cppe5.cli.coco_options import distinct_names
from mmdet_cppe5.cli.main import main

BOX = [10, 10, 50, 50]


@pytest.fixture
def files(tmp_path):
    """40 images; one model finds all, one nearly all, one every fourth."""
    ids = range(1, 41)
    rng = np.random.default_rng(0)
    truth = coco_dataset([annotation(k, 1, BOX) for k in ids], image_ids=ids)
    paths = [write(tmp_path / 'gt.json', truth)]
    for name, found in (
        ('good', ids),
        ('alike', list(ids)[1:]),
        ('poor', list(ids)[::4]),
    ):
        entries = [entry(k, 1, BOX, float(rng.random())) for k in found]
        paths.append(write(tmp_path / f'{name}.bbox.json', entries))
    return paths


OPTIONS = ('--resamples', '200', '--permutations', '200')


def test_groups(files, tmp_path, capsys):
    out = tmp_path / 'out.json'
    assert main(['compare', *files, *OPTIONS, '--json', str(out)]) == 0
    got = json.loads(out.read_text())
    assert [model['name'] for model in got['models']] == [
        'good',
        'alike',
        'poor',
    ]
    assert got['groups'] == [['good', 'alike'], ['poor']]
    assert [model['rank'] for model in got['models']] == [
        [1, 2],
        [1, 2],
        [3, 3],
    ]
    assert got['schema'] == 'mmdet-cppe5/comparison/1'
    assert got['models'][0]['estimate'] == pytest.approx(100, abs=1e-11)
    assert len(got['pairs']) == 3
    worst = got['pairs'][1]
    assert (worst['first'], worst['second']) == ('good', 'poor')
    assert worst['significant']
    # 39 or 40 of 40 found: recall reaches 97.5 %, 98 of 101 levels.
    first = got['pairs'][0]
    assert first['difference']['estimate'] == pytest.approx(
        100 * (1 - 98 / 101), abs=1e-11
    )
    assert got['settings']['num_permutations'] == 200
    assert set(got['inputs']['results']) == {'good', 'alike', 'poor'}
    printed = capsys.readouterr().out
    assert '3 models, 2 groups that cannot be told apart' in printed
    assert '  a: good, alike\n  b: poor' in printed


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
