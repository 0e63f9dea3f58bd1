"""A data protocol, laid over the data loaders that a config inherits.

A protocol says what a model trains on, chooses its checkpoint by and is
tested on. It is a file of ``configs/_base_/datasets`` with one dict whose name
ends in ``_protocol``. A config names the file last in ``_base_`` and calls

    globals().update(use_protocol(_base_))

which keeps the inherited pipelines, samplers, wrappers and batch sizes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Optional

Settings = Mapping[str, Any]

_PLUGIN = 'mmdet_cppe5.plugin'


def use_protocol(
    base: Settings,
    protocol: Optional[Settings] = None,
    *,
    train: Optional[Settings] = None,
    test: Optional[Settings] = None,
    evaluator: Optional[Settings] = None,
) -> dict[str, Any]:
    """Return what a protocol sets in a config, to be merged by MMEngine.

    Args:
        base: ``_base_``: what the config inherits, with the three loaders.
        protocol: ``dataset``, settings of all its data sets; ``train``, a
            list of settings that are laid over these, trained on together;
            ``test`` and, where it is another one, ``val``; ``evaluator``; and
            ``best``, the metric that chooses the checkpoint. By default the
            one whose file is named last in ``_base_``.
        train: more settings of each training data set, as ``pipeline``.
        test: more settings of the validation and test data sets.
        evaluator: more settings of both evaluators.

    Returns:
        The loaders, evaluators, hooks and imports by their names in a config.

    Raises:
        ValueError: if no protocol or no loader is inherited.
    """
    if protocol is None:
        protocol = _last_protocol(base)
    tested = protocol['test']
    parts = {
        'train': [_join(protocol, part, train) for part in protocol['train']],
        'val': [_join(protocol, protocol.get('val', tested), test)],
        'test': [_join(protocol, tested, test)],
    }
    settings: dict[str, Any] = {}
    for split, datasets in parts.items():
        inherited = _inherited_dataset(base, split)
        settings[f'{split}_dataloader'] = {
            'dataset': _lay_over(inherited, datasets)
        }
    for split in ('val', 'test'):
        name = f'{split}_evaluator'
        settings[name] = _evaluator(
            {**protocol['evaluator'], **(evaluator or {})},
            parts[split][0],
            base.get(name),
        )
    settings['default_hooks'] = _hooks(base, protocol['best'])
    settings['custom_imports'] = _imports(base)
    return settings


def _last_protocol(base: Settings) -> Settings:
    names = [name for name in base if name.endswith('_protocol')]
    if not names:
        raise ValueError(
            'Expected a data protocol in _base_, but there is none; name one '
            'of configs/_base_/datasets there, as cppe5.py.'
        )
    return base[names[-1]]


def _join(
    protocol: Settings, part: Settings, more: Optional[Settings]
) -> dict[str, Any]:
    return {**protocol['dataset'], **part, **(more or {})}


def _inherited_dataset(base: Settings, split: str) -> Settings:
    loader = base.get(f'{split}_dataloader')
    if not loader:
        raise ValueError(
            f'Expected _base_ to bring {split}_dataloader, but it does not; '
            'name a whole config of MMDetection or '
            "'mmdet::_base_/datasets/coco_detection.py' there."
        )
    return loader['dataset']


def _lay_over(
    inherited: Settings, parts: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    """Return what replaces the data set inside any wrappers."""
    if 'dataset' in inherited:
        return {'dataset': _lay_over(inherited['dataset'], parts)}
    several = inherited.get('datasets')
    if several is None and len(parts) == 1:
        return parts[0]
    one = several[0] if several else inherited
    whole = [{**one, **part} for part in parts]
    if len(whole) == 1:
        return {'_delete_': True, **whole[0]}
    return {'_delete_': True, 'type': 'ConcatDataset', 'datasets': whole}


def _evaluator(
    settings: Settings, dataset: Settings, inherited: Any
) -> dict[str, Any]:
    ann_file = dataset['data_root'] + dataset['ann_file']
    same = (
        isinstance(inherited, Mapping)
        and inherited.get('type') == settings['type']
    )
    # Another metric's arguments are not this one's.
    start = {} if same else {'_delete_': True}
    return {**start, **settings, 'ann_file': ann_file}


def _hooks(base: Settings, best: str) -> dict[str, Any]:
    hooks: dict[str, Any] = {
        'checkpoint': {
            'save_best': best,
            'rule': 'greater',
            'max_keep_ckpts': 2,
        },
        'nominal_batch': {'type': 'NominalBatchHook'},
    }
    if 'report' not in base.get('default_hooks', {}):
        # Off: --cfg-options default_hooks.report.test=True writes one.
        hooks['report'] = {'type': 'ReportHook', 'test': False, 'val': False}
    return hooks


def _imports(base: Settings) -> dict[str, Any]:
    others = base.get('custom_imports', {}).get('imports', [])
    others = [others] if isinstance(others, str) else others
    imports = [name for name in others if name != _PLUGIN]
    return {'imports': [*imports, _PLUGIN], 'allow_failed_imports': False}
