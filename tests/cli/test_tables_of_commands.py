"""Every command's tables: in a narrow terminal, and in forms to read back."""

import csv

import pytest
from builders import annotation, coco_dataset, entry, write

from mmdet_cppe5.cli.main import main
from mmdet_cppe5.scores.formats import display_width

NAMES = ['Coverall', 'an_unusually_long_name_of_a_class_of_equipment']
BOX = [10, 10, 50, 50]


@pytest.fixture
def commands(tmp_path):
    """Command lines that print tables, on eight images and two classes."""
    ids = range(1, 9)
    truth = coco_dataset(
        [annotation(k, 1 + k % 2, BOX) for k in ids],
        image_ids=ids,
        categories=dict(enumerate(NAMES, 1)),
    )
    gt = write(tmp_path / 'gt.json', truth)
    entries = [entry(k, 1 + k % 2, BOX, 0.5 + k / 20) for k in ids]
    results = [
        write(tmp_path / f'{"a_long_name_of_a_detector_" * 2}{k}.json', items)
        for k, items in enumerate([entries, entries[:5]])
    ]
    few = ['--resamples', '20']
    compare = ['compare', gt, *results, *few, '--permutations', '200']
    out = ['--out-dir', str(tmp_path / 'split')]
    return {
        'evaluate': ['evaluate', gt, results[0], *few],
        'compare': [*compare, '--per-class'],
        'stats': ['stats', gt],
        'split': ['split', gt, '--folds', '8', *out],
    }


COMMANDS = ['evaluate', 'compare', 'stats', 'split']


@pytest.mark.parametrize('name', COMMANDS)
def test_tables_fit_the_terminal(
    commands, name, monkeypatch, capsys, tmp_path
):
    monkeypatch.setenv('COLUMNS', '80')
    monkeypatch.chdir(tmp_path)
    assert main(commands[name]) == 0
    lines = capsys.readouterr().out.splitlines()
    paths = ('.json:', '.json,')  # one long word, which nobody may break
    wide = [
        line
        for line in lines
        if display_width(line) > 80 and not any(p in line for p in paths)
    ]
    assert wide == []


@pytest.mark.parametrize('name', COMMANDS)
def test_csv_holds_tables_only(commands, name, capsys):
    assert main([*commands[name], '--format', 'csv']) == 0
    blocks = capsys.readouterr().out.rstrip('\n').split('\n\n')
    for block in blocks:
        lines = [k for k in block.splitlines() if not k.startswith('# ')]
        rows = list(csv.reader(lines))
        assert len(rows) > 1
        assert len(rows[0]) > 1
        assert len({len(row) for row in rows}) == 1
