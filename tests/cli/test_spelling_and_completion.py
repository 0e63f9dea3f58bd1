"""What the command says about misspelt names, and what a shell completes."""

import argparse
import importlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from builders import annotation, coco_dataset, entry, write

from mmdet_cppe5.cli.main import SUBCOMMANDS, main

BOX = [10, 10, 50, 50]


@pytest.mark.parametrize(
    ('arguments', 'meant'),
    [
        (['evalute'], 'evaluate'),
        (['deepfashion2_convert'], 'deepfashion2-convert'),
        (['evaluate', 'gt.json', 'dt.json', '--formt', 'csv'], '--format'),
        (
            ['evaluate', 'gt.json', 'dt.json', '--format', 'markdwn'],
            'markdown',
        ),
        (['convert', 'from-yollo'], 'from-yolo'),
    ],
)
def test_nearest_name_is_offered(arguments, meant, capsys):
    try:
        code = main(arguments)
    except SystemExit as end:
        code = end.code
    assert code == 2
    assert f'did you mean {meant!r}?' in capsys.readouterr().err


def test_nearest_metric_is_offered(tmp_path, capsys):
    truth = write(tmp_path / 'gt.json', coco_dataset([annotation(1, 1, BOX)]))
    found = write(tmp_path / 'dt.json', [entry(1, 1, BOX, 0.9)])
    assert main(['compare', truth, found, found, '--metric', 'ap_75']) == 2
    assert "did you mean 'AP75'?" in capsys.readouterr().err


def test_nothing_is_offered_for_a_name_near_none(capsys):
    assert main(['xyzzy']) == 2
    assert 'did you mean' not in capsys.readouterr().err


METAVARS = {
    'FILE', 'DIR', 'N', 'NAME', 'KIND', 'KEY', 'TEXT', 'SECONDS', 'SHARE',
    'NAME=FILE', 'T', 'S', 'C', 'A', 'ATTRIBUTE', 'SPLIT', 'CONFIG',
    'GT.json', 'RESULTS.json', 'ANNOTATIONS.json', 'PREDICTIONS.json',
    'QUERY.json', 'GALLERY.json', 'DATA.yaml', 'FILE.parquet',
}  # fmt: skip


def actions(parser):
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for inner in action.choices.values():
                yield from actions(inner)
        yield action


@pytest.mark.parametrize('name', SUBCOMMANDS)
def test_metavars_are_of_one_vocabulary(name):
    parser = argparse.ArgumentParser()
    importlib.import_module(SUBCOMMANDS[name][0]).add_arguments(parser)
    found = {
        action.metavar
        for action in actions(parser)
        if action.nargs != 0 and (action.metavar or not action.choices)
    }
    assert found <= METAVARS


@pytest.fixture
def completed(tmp_path):
    """Return what bash completes a line to."""
    pytest.importorskip('argcomplete', reason='argcomplete is not installed')
    if shutil.which('bash') is None:
        pytest.skip('bash is not installed')
    command = tmp_path / 'mmdet-cppe5'
    command.write_text(
        f'#!/bin/sh\nexec {sys.executable} -m mmdet_cppe5 "$@"\n'
    )
    command.chmod(0o755)
    folders = [tmp_path, Path(sys.executable).parent]
    path = os.pathsep.join([*map(str, folders), os.environ['PATH']])
    script = """
eval "$(register-python-argcomplete mmdet-cppe5)"
COMP_LINE=$1 COMP_POINT=${#1} COMP_TYPE=9 COMP_WORDS=($1)
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_python_argcomplete mmdet-cppe5
printf '%s\\n' "${COMPREPLY[@]}"
"""

    def complete(line):
        done = subprocess.run(
            ['bash', '-c', script, 'bash', line],
            capture_output=True,
            text=True,
            env={**os.environ, 'PATH': path},
            cwd=tmp_path,
            check=True,
        )
        return [word.strip() for word in done.stdout.splitlines()]

    return complete


@pytest.mark.parametrize(
    ('line', 'words'),
    [
        ('mmdet-cppe5 eval', ['evaluate']),
        ('mmdet-cppe5 evaluate --qu', ['--quiet']),
        ('mmdet-cppe5 stats --format ma', ['markdown']),
        ('mmdet-cppe5 convert from-y', ['from-yolo']),
    ],
)
def test_bash_completes(completed, line, words):
    assert completed(line) == words
