"""No command writes over what it reads, under whatever name."""

import json
import os
import subprocess
import sys

import pytest

from mmdet_cppe5.cli.main import main

GT = {
    'images': [
        {'id': 1, 'file_name': 'a.png', 'width': 100, 'height': 80},
        {'id': 2, 'file_name': 'b.png', 'width': 100, 'height': 80},
    ],
    'annotations': [
        {'id': n, 'image_id': n, 'category_id': 1, 'bbox': [10, 10, 30, 20],
         'area': 600, 'iscrowd': 0} for n in (1, 2)
    ],
    'categories': [{'id': 1, 'name': 'Mask'}],
}  # fmt: skip
RESULTS = [
    {'image_id': 1, 'category_id': 1, 'bbox': [10, 10, 30, 20], 'score': 0.9}
]
COMMANDS = {
    'evaluate': ['evaluate', 'gt.json', 'res.json', '--json', 'OUT'],
    'report': ['report', 'gt.json', 'res.json', '--out', 'OUT'],
    'compare': [
        'compare', 'gt.json', 'res.json', 'other.json', '--json', 'OUT',
    ],
    'verify': ['verify', 'gt.json', '--json', 'OUT'],
    'fix': ['verify', 'gt.json', '--fix', 'OUT'],
    'stats': ['stats', 'gt.json', '--json', 'OUT'],
    'ultralytics': ['convert', 'from-ultralytics', 'res.json',
                    'gt.json', '--out', 'OUT'],
}  # fmt: skip


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, content in (
        ('gt.json', GT), ('res.json', RESULTS), ('other.json', RESULTS),
    ):  # fmt: skip
        (tmp_path / name).write_text(json.dumps(content))
    os.symlink('gt.json', 'link.json')
    return tmp_path


@pytest.mark.parametrize('command', COMMANDS)
@pytest.mark.parametrize('target', ['gt.json', 'link.json'])
def test_an_input_as_target_is_refused(folder, capsys, command, target):
    arguments = [target if a == 'OUT' else a for a in COMMANDS[command]]
    assert main(arguments) == 2
    assert f'{target} is an input of this command' in capsys.readouterr().err
    assert json.loads((folder / 'gt.json').read_text()) == GT
    assert sorted(os.listdir()) == [
        'gt.json', 'link.json', 'other.json', 'res.json',
    ]  # fmt: skip


def test_split_does_not_replace_its_source(folder, capsys):
    os.rename('gt.json', 'train.json')
    arguments = ['split', 'train.json', '--out-dir', '.', '--val', '0.5']
    assert main(arguments) == 2
    assert 'train.json is an input' in capsys.readouterr().err
    assert json.loads((folder / 'train.json').read_text()) == GT
    assert not (folder / 'val.json').exists()


def test_numbers_go_to_standard_output(folder):
    done = subprocess.run(
        [sys.executable, '-m', 'mmdet_cppe5', 'evaluate', 'gt.json',
         'res.json', '--quiet', '--json', '/dev/stdout'],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    text = ('\n' + done.stdout).partition('\n{')[2]
    assert json.JSONDecoder().raw_decode('{' + text)[0]


def test_a_closed_pipe_is_no_error(folder):
    command = f'{sys.executable} -m mmdet_cppe5 evaluate gt.json res.json'
    done = subprocess.run(
        ['bash', '-c', f'(sleep 1; {command}) | true; echo ${{PIPESTATUS}}'],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stderr == ''
    assert done.stdout.strip() in ('0', '141')


def test_an_interrupt_ends_with_130_and_one_line(folder):
    code = (
        'import signal, sys; from mmdet_cppe5.cli import evaluate, main\n'
        # A shell lets jobs in the background ignore the signal.
        'signal.signal(signal.SIGINT, signal.default_int_handler)\n'
        'evaluate.run = lambda args: signal.raise_signal(signal.SIGINT)\n'
        "sys.exit(main.main(['evaluate', 'gt.json', 'res.json']))"
    )
    done = subprocess.run(
        [sys.executable, '-c', code], capture_output=True, text=True
    )
    assert done.returncode == 130
    assert done.stderr.strip() == 'mmdet-cppe5 evaluate: interrupted'
