"""Every documented --cfg-options line fits every config."""

import argparse
import copy
import re
import shlex

import pytest
import zoo_models
from mmdet.registry import HOOKS, TRANSFORMS
from mmengine.config import Config, DictAction
from mmengine.registry import init_default_scope

import mmdet_cppe5.plugin  # noqa: F401
from mmdet_cppe5.metrics.cppe5_metric import CPPE5Metric

ROOT = zoo_models.CONFIGS.parents[1]
DOCUMENTS = [
    ROOT / 'README.md',
    zoo_models.CONFIGS / 'README.md',
    # DeepFashion2's lines are for its own metrics.
    *sorted(
        set((ROOT / 'docs').glob('*.md')) - {ROOT / 'docs/deepfashion2.md'}
    ),
]
CONFIGS = [
    *(f'cppe5/{name}' for name in zoo_models.PAPER + zoo_models.MODERN),
    'cppe5/demo_fcos',
    'deepfashion2/faster_rcnn_r50',
    'deepfashion2/landmark_rcnn_r50',
    'deepfashion2/mask_rcnn_r50',
]
WRAPPED = ('cppe5/ssd512', 'cppe5/yolox_s')


def documented():
    """Yield the options of each documented command, as dicts."""
    parser = argparse.ArgumentParser()
    parser.add_argument('--cfg-options', nargs='+', action=DictAction)
    for path in DOCUMENTS:
        text = path.read_text(encoding='utf-8').replace('\\\n', ' ')
        for line in re.findall(r'^ *[^`|\n]*--cfg-options .*$', text, re.M):
            words = shlex.split(line, comments=True)
            words = words[words.index('--cfg-options') :]
            args, _ = parser.parse_known_args(words)
            yield args.cfg_options


OPTIONS = list(documented())


def test_the_documents_have_such_lines():
    keys = {key for options in OPTIONS for key in options}

    assert 'default_hooks.report.test' in keys
    assert 'test_evaluator.tide' in keys
    assert len(OPTIONS) >= 5


@pytest.fixture(scope='module')
def loaded():
    """Each config once."""
    found = {}

    def load(name):
        if name not in found:
            path = ROOT / 'configs' / f'{name}.py'
            found[name] = Config.fromfile(path, import_custom_modules=False)
        return copy.deepcopy(found[name])

    return load


@pytest.mark.parametrize('name', CONFIGS)
def test_options_fit(name, loaded):
    for options in OPTIONS:
        if name in WRAPPED:
            # The documents say so beside the line.
            options = {
                key.replace('loader.dataset.p', 'loader.dataset.dataset.p'): v
                for key, v in options.items()
            }
        config = loaded(name)
        config.merge_from_dict(options)

        init_default_scope('mmdet')
        for hook in ('checkpoint', 'nominal_batch', 'report'):
            HOOKS.build(config.default_hooks[hook])
        dataset = config.train_dataloader.dataset
        TRANSFORMS.build(dataset.get('dataset', dataset).pipeline[0])
        if config.test_evaluator.type == 'CPPE5Metric':
            CPPE5Metric(
                **{
                    key: value
                    for key, value in config.test_evaluator.items()
                    if key not in ('type', 'ann_file')
                }
            )
