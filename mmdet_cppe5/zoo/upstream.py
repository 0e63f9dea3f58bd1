"""Files that come with the installed MMDetection: configs, tools, weights."""

from __future__ import annotations

import importlib.util
from functools import cache
from pathlib import Path

import yaml

from mmdet_cppe5.paths import config_root

_OURS = 'mmdet_cppe5::'


def upstream_path(name: str) -> Path:
    """Return the path of a file that comes with the installed MMDetection.

    A wheel carries its configs and tools in ``.mim`` inside the package; in
    a clone they lie beside the package.

    Args:
        name: path in MMDetection's repository, as ``'tools/test.py'`` or
            ``'configs/gfl/gfl_r101_fpn_ms-2x_coco.py'``.

    Raises:
        ImportError: if MMDetection is not installed.
        FileNotFoundError: if it has no such file.
    """
    spec = importlib.util.find_spec('mmdet')
    if spec is None or spec.origin is None:
        raise ImportError(
            "MMDetection is not installed; run `pip install 'mmdet>=3.3.0,"
            "<3.4.0'` (or `make setup` in a clone)."
        )
    package = Path(spec.origin).parent
    places = [package / '.mim' / name, package.parent / name]
    for place in places:
        if place.is_file():
            return place
    raise FileNotFoundError(
        f"Expected MMDetection's {name} at {' or '.join(map(str, places))}, "
        'but it is at neither; install mmdet 3.3.0 again.'
    )


def upstream_config_path(config: str) -> str:
    """Return the path of one of MMDetection's configs.

    Args:
        config: path below MMDetection's ``configs`` folder, such as
            ``'gfl/gfl_r101_fpn_ms-2x_coco.py'``.

    Raises:
        ImportError: if MMDetection is not installed.
        FileNotFoundError: if there is no such config.
    """
    return str(upstream_path(f'configs/{config}'))


@cache
def find_package_configs() -> None:
    """Let a config stand on ``mmdet_cppe5::`` and on any ``mmdet::`` config.

    MMEngine knows OpenMMLab's packages only, and looks in their ``.mim``
    folder, which pip does not make for an editable clone. Where MMEngine
    finds a config, nothing changes.
    """
    from mmengine.config import Config

    stock = Config._get_cfg_path

    def get_cfg_path(cfg_path: str, filename: str) -> tuple[str, str | None]:
        if cfg_path.startswith(_OURS):
            # No scope, as for a path: these configs are MMDetection's kind.
            return _own_config_path(cfg_path[len(_OURS) :], filename), None
        try:
            return stock(cfg_path, filename)
        except FileNotFoundError:
            if not cfg_path.startswith('mmdet::'):
                raise
        return upstream_config_path(cfg_path[len('mmdet::') :]), 'mmdet'

    Config._get_cfg_path = staticmethod(get_cfg_path)


def _own_config_path(name: str, filename: str) -> str:
    path = config_root() / name
    if not path.is_file():
        raise FileNotFoundError(
            f'Expected the _base_ {_OURS}{name} of {filename} below '
            f'{config_root()}, but there is no such file; write the path as '
            f'in {_OURS}cppe5/faster_rcnn.py.'
        )
    return str(path)


def coco_checkpoint(config: str) -> str:
    """Return the URL of the COCO weights that belong to a config.

    It is the first ``Weights`` entry for the config in MMDetection's own
    metafile.

    Args:
        config: as in ``upstream_config_path``.

    Raises:
        ImportError: if MMDetection is not installed.
        FileNotFoundError: if there is no such config or metafile.
        KeyError: if the metafile lists no weights for the config.
    """
    metafile = upstream_path(f'configs/{Path(config).parent}/metafile.yml')
    entries = yaml.safe_load(metafile.read_text(encoding='utf-8'))['Models']
    for entry in entries:
        if entry.get('Config') == f'configs/{config}' and 'Weights' in entry:
            return entry['Weights']
    raise KeyError(
        f'Expected {metafile} to list weights for configs/{config}, but it '
        'does not.'
    )
