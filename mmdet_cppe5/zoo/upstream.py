"""Configs and COCO checkpoints of the installed MMDetection."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import yaml


def upstream_folder() -> Path:
    """Return the folder of configs that MMDetection's wheel brings.

    Raises:
        FileNotFoundError: if MMDetection is missing or brings no configs, as
            an editable install of a clone does.
    """
    spec = importlib.util.find_spec('mmdet')
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError(
            'Expected MMDetection to be installed, but there is no module '
            'mmdet; run pip install mmdet==3.3.0.'
        )
    folder = Path(spec.submodule_search_locations[0]) / '.mim' / 'configs'
    if not folder.is_dir():
        raise FileNotFoundError(
            f'Expected the configs of MMDetection in {folder}, but there is '
            'no such folder; install the wheel with pip install mmdet==3.3.0.'
        )
    return folder


def upstream_config_path(config: str) -> str:
    """Return the path of one of MMDetection's configs.

    Args:
        config: path below MMDetection's ``configs`` folder, such as
            ``'gfl/gfl_r101_fpn_ms-2x_coco.py'``.

    Raises:
        FileNotFoundError: if there is no such config.
    """
    path = upstream_folder() / config
    if not path.is_file():
        raise FileNotFoundError(
            f'Expected a config of MMDetection at {path}, but there is no '
            'such file.'
        )
    return str(path)


def coco_checkpoint(config: str) -> str:
    """Return the URL of the COCO weights that belong to a config.

    It is the first ``Weights`` entry for the config in MMDetection's own
    metafile.

    Args:
        config: as in ``upstream_config_path``.

    Raises:
        FileNotFoundError: if there is no such config or metafile.
        KeyError: if the metafile lists no weights for the config.
    """
    metafile = Path(upstream_config_path(config)).with_name('metafile.yml')
    if not metafile.is_file():
        raise FileNotFoundError(
            f'Expected a metafile with the weights of {config} at '
            f'{metafile}, but there is no such file.'
        )
    entries = yaml.safe_load(metafile.read_text(encoding='utf-8'))['Models']
    for entry in entries:
        if entry.get('Config') == f'configs/{config}' and 'Weights' in entry:
            return entry['Weights']
    raise KeyError(
        f'Expected {metafile} to list weights for configs/{config}, but it '
        'does not.'
    )
