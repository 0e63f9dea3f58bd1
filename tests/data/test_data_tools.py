"""The scripts under MMDetection's names reach the same commands."""

import json
import subprocess
import sys

import pytest
from tiny_release import annotations, picture

from mmdet_cppe5.cli.main import main


@pytest.mark.parametrize(
    ('script', 'program'),
    [
        ('prepare_cppe5', 'mmdet-cppe5 prepare'),
        ('huggingface2coco', 'mmdet-cppe5 convert from-parquet'),
        ('yolo2coco', 'mmdet-cppe5 convert from-yolo'),
        ('voc2coco', 'mmdet-cppe5 convert from-voc'),
        ('coco2yolo', 'mmdet-cppe5 convert to-yolo'),
        ('ultralytics2coco', 'mmdet-cppe5 convert from-ultralytics'),
    ],
)
def test_scripts_explain_themselves(repo_root, script, program):
    path = repo_root / f'tools/dataset_converters/{script}.py'
    done = subprocess.run(
        [sys.executable, str(path), '--help'],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith(f'usage: {program}')


def test_data_commands_need_no_framework():
    """None of them pulls in torch, MMDetection or a drawing library."""
    modules = ['prepare', 'convert', 'verify', 'stats', 'split']
    names = ', '.join(f'mmdet_cppe5.cli.{name}' for name in modules)
    code = (
        f'import sys, {names}\n'
        'heavy = {"torch", "mmdet", "mmengine", "mmcv", "matplotlib", '
        '"PIL", "pyarrow", "imagehash", "yaml", "tqdm"}\n'
        'print(sorted(heavy & set(sys.modules)))'
    )
    done = subprocess.run(
        [sys.executable, '-c', code],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == '[]'


@pytest.fixture
def tiny(tmp_path):
    (tmp_path / 'images').mkdir()
    (tmp_path / 'annotations').mkdir()
    dataset = annotations(1, 2)
    for image in dataset['images']:
        path = tmp_path / 'images' / image['file_name']
        path.write_bytes(picture(image['id']))
    (tmp_path / 'annotations/some.json').write_text(json.dumps(dataset))
    return tmp_path


def test_browse_draws_every_image(tiny, monkeypatch, capfd):
    pytest.importorskip('mmdet')
    monkeypatch.setenv('CPPE5_DATA_ROOT', 'elsewhere')
    code = main(
        ['browse', '--data-root', str(tiny), '--ann-file',
         'annotations/some.json', '--output-dir', str(tiny / 'out')]
    )  # fmt: skip
    assert code == 0
    drawn = sorted(path.name for path in (tiny / 'out').iterdir())
    assert drawn == ['1.png', '2.png']
