"""Every data protocol, laid over every kind of model, names its own files."""

import json

import pytest
import zoo_models
from mmdet.registry import DATASETS, METRICS
from mmengine.config import Config
from mmengine.registry import init_default_scope

import mmdet_cppe5.plugin  # noqa: F401
from mmdet_cppe5.classes import CLASSES
from mmdet_cppe5.drawn import write_drawn_dataset
from mmdet_cppe5.zoo.protocol import use_protocol

BASES = zoo_models.CONFIGS.parent / '_base_' / 'datasets'
# Training files, validation file, test file; images of the drawn set below.
PROTOCOLS = {
    'cppe5': (['train.json'], 'test.json', 'test.json', 4),
    'cppe5_trainval_split': (
        ['split/train.json'],
        'split/val.json',
        'test.json',
        3,
    ),
    'cppe5_paper_protocol': (
        ['train.json', 'test.json'],
        'held_out.json',
        'held_out.json',
        6,
    ),
}
# Of every kind: wrappers around the training data, and how often they repeat.
MODELS = {
    'faster_rcnn': ([], 1),
    'yolov3': ([], 1),  # with a pipeline of its own
    'ssd512': (['RepeatDataset'], 5),
    'yolox_s': (['MultiImageMixDataset'], 1),
    'mm_grounding_dino_tiny': ([], 1),
}


@pytest.fixture(scope='module')
def drawn(tmp_path_factory):
    """A drawn data set with the annotation files of all protocols."""
    root = tmp_path_factory.mktemp('drawn')
    write_drawn_dataset(root, num_train=4, num_test=2)
    (root / 'held_out').symlink_to(root / 'images')
    folder = root / 'annotations'
    (folder / 'held_out.json').symlink_to(folder / 'test.json')
    (folder / 'split').mkdir()
    content = json.loads((folder / 'train.json').read_text())
    parts = {'train': content['images'][:3], 'val': content['images'][3:]}
    for name, images in parts.items():
        ids = {image['id'] for image in images}
        part = dict(
            content,
            images=images,
            annotations=[
                each
                for each in content['annotations']
                if each['image_id'] in ids
            ],
        )
        (folder / 'split' / f'{name}.json').write_text(json.dumps(part))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv('CPPE5_DATA_ROOT', str(root))
        yield root


def swapped(model, protocol, folder):
    """A model's config with another protocol's file in its ``_base_``."""
    text = (zoo_models.CONFIGS / f'{model}.py').read_text()
    old = "'../_base_/datasets/cppe5.py'"
    assert old in text
    path = folder / f'{model}.py'
    path.write_text(text.replace(old, repr(str(BASES / f'{protocol}.py'))))
    return Config.fromfile(path, import_custom_modules=False)


def stacked(model, protocol, folder):
    """A config that inherits a finished one and another protocol."""
    bases = [str(zoo_models.CONFIGS / f'{model}.py')]
    if protocol != 'cppe5':
        bases.append(str(BASES / f'{protocol}.py'))
    path = folder / 'stacked.py'
    path.write_text(
        f'_base_ = {bases!r}\n'
        'from mmdet_cppe5.zoo.protocol import use_protocol\n'
        'globals().update(use_protocol(_base_))\n'
    )
    return Config.fromfile(path, import_custom_modules=False)


def unwrap(dataset):
    """Return the wrappers' types and the data sets inside them."""
    wrappers = []
    while 'dataset' in dataset:
        wrappers.append(dataset.type)
        dataset = dataset.dataset
    return wrappers, dataset.get('datasets', [dataset])


def check_names(config, model, protocol, root):
    train, val, test, _ = PROTOCOLS[protocol]
    wrappers, parts = unwrap(config.train_dataloader.dataset)
    assert wrappers == MODELS[model][0]
    assert [part.ann_file for part in parts] == [
        f'annotations/{name}' for name in train
    ]
    upstream = zoo_models.load(model)
    _, (plain,) = unwrap(upstream.train_dataloader.dataset)
    for part in parts:
        # What the model brings of its own stays.
        assert part.type == 'CPPE5Dataset'
        assert part.pipeline == plain.pipeline
        assert part.get('filter_cfg') == plain.get('filter_cfg')
        assert part.get('return_classes') == plain.get('return_classes')
        assert part.data_prefix.img == 'images/'
    for split, name in (('val', val), ('test', test)):
        dataset = config[f'{split}_dataloader'].dataset
        assert dataset.ann_file == f'annotations/{name}'
        assert dataset.test_mode
        folder = 'held_out/' if name == 'held_out.json' else 'images/'
        assert dataset.data_prefix.img == folder
        assert config[f'{split}_evaluator'] == dict(
            type='CPPE5Metric', ann_file=f'{root}/annotations/{name}'
        )
    assert config.default_hooks.checkpoint.save_best == 'cppe5/AP'
    assert config.custom_imports['imports'] == ['mmdet_cppe5.plugin']


@pytest.mark.parametrize('protocol', PROTOCOLS)
@pytest.mark.parametrize('model', MODELS)
def test_protocol_names_its_files_everywhere(model, protocol, drawn, tmp_path):
    check_names(stacked(model, protocol, tmp_path), model, protocol, drawn)
    config = swapped(model, protocol, tmp_path)
    check_names(config, model, protocol, drawn)
    init_default_scope('mmdet')
    train = DATASETS.build(config.train_dataloader.dataset)
    assert len(train) == MODELS[model][1] * PROTOCOLS[protocol][3]
    assert train.metainfo['classes'] == CLASSES
    assert len(train[0]['data_samples'].gt_instances.labels) > 0
    if 'grounding' not in model:
        METRICS.build(config.val_evaluator)


def test_a_protocol_can_be_taken_back(drawn, tmp_path):
    (tmp_path / 'paper.py').write_text(
        f'_base_ = [{str(zoo_models.CONFIGS / "yolox_s.py")!r},\n'
        f'          {str(BASES / "cppe5_paper_protocol.py")!r}]\n'
        'from mmdet_cppe5.zoo.protocol import use_protocol\n'
        'globals().update(use_protocol(_base_))\n'
        'val_evaluator.update(classwise=True)\n'
    )
    path = tmp_path / 'public.py'
    path.write_text(
        "_base_ = 'paper.py'\n"
        'from mmdet_cppe5.zoo.protocol import use_protocol\n'
        'globals().update(use_protocol(_base_, _base_.cppe5_protocol))\n'
    )

    config = Config.fromfile(path, import_custom_modules=False)

    # The metric's own settings stay, since it is the same metric.
    assert config.val_evaluator.pop('classwise')
    check_names(config, 'yolox_s', 'cppe5', drawn)


def test_what_a_base_lacks_is_named():
    with pytest.raises(
        ValueError, match=r'data protocol in _base_.*cppe5\.py'
    ):
        use_protocol({'train_dataloader': {}})
    protocol = {
        'dataset': {'data_root': 'data/'},
        'train': [{'ann_file': 'a.json'}],
        'test': {'ann_file': 'b.json'},
        'evaluator': {'type': 'CPPE5Metric'},
        'best': 'cppe5/AP',
    }
    with pytest.raises(ValueError, match='bring train_dataloader'):
        use_protocol({'cppe5_protocol': protocol})


def test_imports_of_the_base_are_kept():
    base = zoo_models.load('faster_rcnn')
    base = {**base, 'custom_imports': {'imports': 'projects.mine.module'}}

    imports = use_protocol(base)['custom_imports']['imports']

    assert imports == ['projects.mine.module', 'mmdet_cppe5.plugin']
