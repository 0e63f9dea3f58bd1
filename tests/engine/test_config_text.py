"""Config text from checkpoints is read, never run."""

import pytest
from mmengine.config import Config

from mmdet_cppe5.engine.config_text import inert_text, literal_config

LITERALS = """
model = dict(
    type='FasterRCNN',
    backbone=dict(type='mmdet.ResNet', depth=50, lr=-1.5e-3, init=None),
    test_cfg=dict(rcnn=dict(nms=dict(type='soft_nms', iou_threshold=0.5))),
    roi=dict(roi_layer=dict(type='RoIAlign')),
    sizes=[(1, 2), [True, 'a{{b}}']])
paramwise = dict({'a.b': 1, 'c-d': dict(e=2)})
gpu_ids = range(0, 2)
"""
VALUES = {
    'model': {
        'type': 'FasterRCNN',
        'backbone': {
            'type': 'mmdet.ResNet', 'depth': 50, 'lr': -1.5e-3, 'init': None,
        },
        'test_cfg': {'rcnn': {'nms': {
            'type': 'soft_nms', 'iou_threshold': 0.5,
        }}},
        'roi': {'roi_layer': {'type': 'RoIAlign'}},
        'sizes': [(1, 2), [True, 'a{{b}}']],
    },
    'paramwise': {'a.b': 1, 'c-d': {'e': 2}},
    'gpu_ids': [0, 1],
}  # fmt: skip


def executed(text):
    return Config.fromstring(text, '.py').to_dict()


def test_literals_keep_their_values():
    assert literal_config(LITERALS) == VALUES
    text, left_out = inert_text(LITERALS)
    assert left_out == []
    assert executed(text) == VALUES
    assert '{{' not in text


def test_the_text_that_mmengine_writes_is_read(tmp_path):
    config = Config(VALUES)
    text, _ = inert_text(config.pretty_text)
    assert executed(text) == VALUES


def test_a_dotted_class_becomes_its_registered_name():
    """MMDetection's pure Python configs are dumped with dotted paths."""
    path = 'mmdet.models.detectors.faster_rcnn.FasterRCNN'
    text, _ = inert_text(f"model = dict(type='{path}')")
    assert executed(text) == {'model': {'type': 'FasterRCNN'}}


@pytest.mark.parametrize(
    'text',
    [
        'import os',
        'open("x", "w")',
        'a = open("x", "w")',
        'a = [__import__("os").system("touch x")]',
        'a = dict(b=dict(c=lambda: 1))',
        'a = dict(**{"b": 1})',
        'a = {**{}}',
        'a = [b for b in range(3)]',
        'a = f"{open}"',
        'a: int = 1',
        'a, b = 1, 2',
        'a = b = 1',
        'a += 1',
        'a = 1 if 2 else 3',
        'a = (b := 1)',
        'a = range(10**9)',
        'a = range(0, 1000000000)',
        'a = range(0, 5, 0)',
        'dict.a = 1',
        'a = dict(1)',
        'a = 1 + 1',
        'a = b"bytes"',
        'a = 1j',
        'a = ...',
        'def f(): pass',
        'with read_base():\n    from .x import *',
        'class A: pass',
        '@open\ndef f(): pass',
        'a = (',
        'a = ' + '[' * 5000,
        'a = ' + '-' * 100_000 + '1',
        'a = ' + 'not ' * 10_000 + '1',
        'a = ' + '~' * 10_000 + '1',
        'a = ' + '1+' * 30_000 + '1',
        'a = x' + '.y' * 30_000,
        'a = x' + '()' * 30_000,
        'a = ' + 'lambda:' * 20_000 + '1',
        'a = ' + '1 if 1 else ' * 10_000 + '1',
        'a = ' + '9' * 5000,
        'a = "' + 'x' * (300 << 10) + '"',
        'a = 1\0',
        'a = "\ud800',
    ],
    ids=lambda text: text[:20].encode('unicode_escape').decode(),
)
def test_anything_else_is_refused(text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match='.'):
        inert_text(text)
    assert list(tmp_path.iterdir()) == []


RUNS = {
    'call by dotted path': "dict(type='os.system', command='touch x')",
    'call through a module': "dict(type='mmengine.utils.path.os.system')",
    'config as a model': "dict(type='mmengine.config.Config.fromstring')",
    'a module of any name': "dict(type='antigravity')",
    'below': "dict(type='FasterRCNN', neck=[dict(type='builtins.eval')])",
    'evaluated type of nms': "dict(nms=dict(type='print(1)'))",
    'evaluated mode': "dict(type='CameraMotionCompensation', warp_mode='1')",
    'config file': "dict(teacher_config='evil.py')",
    'config outside': "dict(teacher_config='mmdet::../../evil.py')",
    'scope': "dict(type='ResNet', _scope_='evil')",
    'number': 'dict(type=1)',
}


@pytest.mark.parametrize('model', RUNS.values(), ids=RUNS)
def test_literals_that_would_run_something_are_refused(model):
    with pytest.raises(ValueError, match='registered|evaluated|scope'):
        inert_text(f'model = {model}')
    text, left_out = inert_text(f"model = dict(type='ResNet')\nx = {model}")
    assert executed(text) == {'model': {'type': 'ResNet'}}
    assert left_out[0].startswith('x (')


def test_names_of_files_and_modules_are_left_out():
    text, _ = inert_text(
        "_base_ = ['evil.py']\nmodel = dict()\n__file__ = 1\nfilename = 'x'\n"
        "custom_imports = dict(imports=['antigravity'])\n"
    )
    assert executed(text) == {'model': {}}


def test_templates_stay_text():
    text, _ = inert_text("a = '{{$PATH:x}} {{ fileDirname }} {{ _base_.x }}'")
    assert executed(text) == {
        'a': '{{$PATH:x}} {{ fileDirname }} {{ _base_.x }}'
    }
