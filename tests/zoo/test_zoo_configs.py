"""All configs load, agree with each other, and differ only where said."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import zoo_models
from mmengine.config import Config

from mmdet_cppe5.zoo.upstream import coco_checkpoint, upstream_config_path

FOLDER = zoo_models.CONFIGS
ALL = sorted(
    str(path.relative_to(FOLDER).with_suffix(''))
    for path in FOLDER.rglob('*.py')
    if path.stem != 'demo_fcos' and path.parent.name != 'finetune'
)
FINETUNE = sorted((FOLDER / 'finetune').glob('*.py'))
COCO_INIT = [name for name in ALL if name.startswith('coco_init/')]


@pytest.fixture(autouse=True, scope='module')
def elsewhere(tmp_path_factory):
    """Nothing here may depend on the working directory."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp('elsewhere'))
        patch.delenv('CPPE5_DATA_ROOT', raising=False)
        yield


def innermost(dataset):
    while 'dataset' in dataset:
        dataset = dataset.dataset
    return dataset


def values_of(config, key):
    """All values under ``key``, at any depth."""
    if isinstance(config, dict):
        found = [config[key]] if key in config else []
        return found + [v for c in config.values() for v in values_of(c, key)]
    if isinstance(config, (list, tuple)):
        return [value for child in config for value in values_of(child, key)]
    return []


def flat(config, path=''):
    """A config as leaves by dotted path, without registry scopes."""
    if isinstance(config, Config):
        config = config.to_dict()
    if isinstance(config, dict):
        items = [(k, v) for k, v in config.items() if k != '_scope_']
    elif isinstance(config, (list, tuple)):
        items = list(enumerate(config))
    else:
        return {path[1:]: config}
    leaves = {}
    for key, value in items:
        leaves.update(flat(value, f'{path}.{key}'))
    return leaves or {path[1:]: type(config)()}


def upstream_of(name):
    text = (FOLDER / f'{name}.py').read_text()
    return re.search(r"'mmdet::([^']+)'", text).group(1)


@pytest.mark.parametrize('name', ALL)
def test_trains_and_tests_on_the_public_splits(name):
    config = zoo_models.load(name)

    train = innermost(config.train_dataloader.dataset)
    assert train.type == 'CPPE5Dataset'
    assert train.data_root + train.ann_file == (
        'data/cppe5/annotations/train.json'
    )
    assert train.data_prefix.img == 'images/'
    for split in ('val', 'test'):
        dataset = config[f'{split}_dataloader'].dataset
        assert dataset.type == 'CPPE5Dataset'
        assert dataset.test_mode
        assert dataset.pipeline
        assert config[f'{split}_evaluator'] == dict(
            type='CPPE5Metric', ann_file=dataset.data_root + dataset.ann_file
        )
        assert dataset.ann_file == 'annotations/test.json'
    assert config.custom_imports['imports'] == ['mmdet_cppe5.plugin']
    assert config.default_scope == 'mmdet'


@pytest.mark.parametrize('name', ALL)
def test_is_complete(name):
    config = zoo_models.load(name)

    classes = 256 if 'grounding' in name else 5  # a prompt's tokens
    assert set(values_of(config.model, 'num_classes')) == {classes}
    assert config.auto_scale_lr.base_batch_size >= 16
    assert config.auto_scale_lr.enable is False
    assert config.default_hooks.checkpoint.save_best == 'cppe5/AP'
    relative = [
        value
        for value in flat(config.model).values()
        if isinstance(value, str) and value.startswith(('configs/', './'))
    ]
    # Released as it was, for a clone of MMDetection.
    assert bool(relative) == (name == 'released/ld_released')
    assert config.find_unused_parameters if name == 'ssd' else True


COMMON = (
    r'(val|test)_evaluator\..*|cppe5_protocol\..*|custom_imports\..*'
    r'|default_hooks\.checkpoint\.(max_keep_ckpts|rule|save_best)'
    r'|default_hooks\.report\.(type|test|val)'
    r'|default_hooks\.nominal_batch\.type'
    r'|(train|val|test)_dataloader\.dataset(\.dataset)?'
    r'\.(type|data_root|ann_file|data_prefix\.img)'
    r'|model\.(roi_head\.)?bbox_head\.(\d\.)?num_classes'
)
OWN = {
    'yolov3': [
        r'default_hooks\.checkpoint\.interval',
        r'param_scheduler\.0\.end',
        r'train_cfg\.val_interval',
        r'train_pipeline\..*',
        r'train_dataloader\.dataset\.pipeline\..*',
    ],
    'sparse_rcnn': [r'model\.roi_head\.bbox_roi_extractor\.type'],
    'grid_rcnn': [r'param_scheduler\.0\.end'],
    'deformable_detr': [r'auto_scale_lr\.enable'],
    'ld': [r'model\.type', r'model\.teacher_config'],
    'dcn': [r'model\.roi_head\.bbox_roi_extractor\.type'],
    'ssd512': [r'model\.bbox_head\.type'],
    'rtmdet_tiny': [
        r'param_scheduler\.0\.end',
        r'auto_scale_lr\.base_batch_size',
        r'param_scheduler\.1\.eta_min(_ratio)?',
    ],
    'rtmdet_l': [
        r'param_scheduler\.0\.end',
        r'auto_scale_lr\.base_batch_size',
        r'param_scheduler\.1\.eta_min(_ratio)?',
    ],
    'rtmdet_x': [
        r'param_scheduler\.0\.end',
        r'auto_scale_lr\.base_batch_size',
        r'param_scheduler\.1\.eta_min(_ratio)?',
    ],
    'yolox_s': [r'param_scheduler\.1\.eta_min(_ratio)?'],
    'dino_r50': [r'auto_scale_lr\.enable'],
    'dino_swin_l': [r'auto_scale_lr\.enable'],
    'ddq_detr_r50': [r'param_scheduler\.0\.end', r'auto_scale_lr\.enable'],
    'mm_grounding_dino_tiny': [r'model\.type', r'model\.encoder\.num_cp'],
}


@pytest.mark.parametrize(
    'name',
    [n for n in zoo_models.PAPER + zoo_models.MODERN if n != 'ssd'],
)
def test_differs_from_mmdetection_only_as_said(name):
    theirs = flat(Config.fromfile(upstream_config_path(upstream_of(name))))
    ours = flat(zoo_models.load(name))

    different = {
        key
        for key in ours.keys() | theirs.keys()
        if ours.get(key, 'absent') != theirs.get(key, 'absent')
    }

    own = OWN.get(name, [])
    allowed = '|'.join([COMMON, *own])
    assert {k for k in different if not re.fullmatch(allowed, k)} == set()
    for pattern in own:
        # A difference that is no longer one must not stay listed.
        assert any(re.fullmatch(pattern, key) for key in different)


def test_yolo_distorts_colours_first_as_released():
    pipeline = zoo_models.load('yolov3').train_dataloader.dataset.pipeline

    assert [step.type for step in pipeline] == [
        'LoadImageFromFile',
        'LoadAnnotations',
        'PhotoMetricDistortion',
        'Expand',
        'MinIoURandomCrop',
        'RandomResize',
        'RandomFlip',
        'PackDetInputs',
    ]
    assert pipeline[0].to_float32


@pytest.mark.parametrize('name', ['yolov3', 'grid_rcnn'])
def test_released_warm_up_is_upstream_s(name):
    released = zoo_models.load(f'released/{name}_released')
    upstream = Config.fromfile(upstream_config_path(upstream_of(name)))

    assert flat(released.param_scheduler) == flat(upstream.param_scheduler)


def test_released_tridentnet_differs_as_the_reference_says():
    ours, released = (
        flat(zoo_models.load(n))
        for n in ('tridentnet', 'released/tridentnet_released')
    )

    different = {
        key: released.get(key)
        for key in ours.keys() | released.keys()
        if ours.get(key, 'absent') != released.get(key, 'absent')
    }
    assert different == {
        'model.roi_head.shared_head.init_cfg': None,
        'model.roi_head.shared_head.init_cfg.type': None,
        'model.roi_head.shared_head.init_cfg.checkpoint': None,
        'model.train_cfg.rpn.allowed_border': 0,
    }


# The digits that end each file's name, from MMDetection 3.3.0's metafiles.
COCO_FILES = {
    'faster_rcnn': '1d2dac9c',
    'yolov3': 'a2c3acb8',
    'reppoints': '91babaa2',
    'sparse_rcnn': 'c23c3564',
    'fcos': '511424d6',
    'grid_rcnn': 'ec76a754',
    'deformable_detr': '844e0f93',
    'fsaf': 'e3f6e6fd',
    'ld': '8dc5bad8',
    'vfnet': '7729adb5',
    'regnet': 'e2081918',
    'double_heads': '586b67df',
    'dcn': 'c0df27ff',
    'empirical_attention': '8b2523a6',
    'tridentnet': '46d227ba',
    'ssd512': '0a47a1ca',
    'rtmdet_x': 'cc79b9ae',
    'dino_swin_l': 'a654145f',
}


@pytest.mark.parametrize('name', COCO_INIT)
def test_coco_start_is_of_the_same_network(name):
    config = zoo_models.load(name)
    model = name.split('/')[1][: -len('_coco_init')]

    assert config.load_from == coco_checkpoint(upstream_of(model))
    digits = re.search(r'([0-9a-f]{8})\.pth$', config.load_from).group(1)
    assert digits == COCO_FILES.get(model, digits)
    assert config.model.backbone.init_cfg is None


def test_every_model_with_coco_weights_has_a_coco_start():
    models = {*zoo_models.PAPER, *zoo_models.MODERN}
    # No such network on COCO; fine-tuning starts from weights anyway.
    models -= {'ssd', 'mm_grounding_dino_tiny'}

    assert set(COCO_INIT) == {f'coco_init/{m}_coco_init' for m in models}


@pytest.mark.parametrize('path', FINETUNE, ids=lambda path: path.stem)
def test_finetuning_never_looks_at_the_test_images(path):
    name = path.stem[: -len('_finetune')]
    config = Config.fromfile(path, import_custom_modules=False)

    train = innermost(config.train_dataloader.dataset)
    assert train.ann_file == 'annotations/split/train.json'
    val = 'annotations/split/val.json'
    assert config.val_dataloader.dataset.ann_file == val
    assert config.val_evaluator.ann_file == f'data/cppe5/{val}'
    assert config.load_from == coco_checkpoint(upstream_of(name))
    # The released rate, for this batch.
    plain = zoo_models.load(name)
    batch = config.train_dataloader.batch_size
    assert config.auto_scale_lr.base_batch_size == batch
    assert config.optim_wrapper.optimizer.lr == pytest.approx(
        plain.optim_wrapper.optimizer.lr
        * batch
        / plain.auto_scale_lr.base_batch_size
    )
    assert config.optim_wrapper.clip_grad
    (hook,) = config.custom_hooks
    assert hook.monitor == config.default_hooks.checkpoint.save_best


def test_data_root_follows_the_environment(monkeypatch):
    monkeypatch.setenv('CPPE5_DATA_ROOT', '/elsewhere/cppe5')
    config = Config.fromfile(
        FOLDER / 'yolox_s.py', import_custom_modules=False
    )

    train = config.train_dataloader.dataset.dataset
    assert train.data_root == '/elsewhere/cppe5/'
    assert config.test_evaluator.ann_file == (
        '/elsewhere/cppe5/annotations/test.json'
    )


def test_configs_load_from_a_build_for_a_wheel(tmp_path):
    root = Path(__file__).parents[2]
    subprocess.run(
        [sys.executable, 'setup.py', '-q', 'build_py', '-d', tmp_path],
        cwd=root,
        check=True,
        capture_output=True,
    )
    folder = tmp_path / 'mmdet_cppe5' / '.mim' / 'configs' / 'cppe5'

    config = Config.fromfile(
        folder / 'coco_init' / 'fcos_coco_init.py', import_custom_modules=False
    )

    assert flat(config) == flat(zoo_models.load('coco_init/fcos_coco_init'))
    assert (tmp_path / 'mmdet_cppe5' / '.mim' / 'model-index.yml').is_file()
