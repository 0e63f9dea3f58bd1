"""What a checkpoint tells a run to execute or to delete, taken out of it.

A checkpoint of plain data still steers whoever reads it. MMEngine executes
the text of the config that it carries, and its checkpoint hook deletes the
files that it names as the best ones so far. Both are put into a form that
can do no harm before anybody sees the checkpoint.
"""

from __future__ import annotations

import logging
import re
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any

from mmengine.logging import MessageHub, print_log

from mmdet_cppe5.engine.config_text import inert_text

_CHECKPOINT_NAME = re.compile(r'[\w.@+ -]+\.pth')


def disarmed(loaded: Any, source: str) -> Any:
    """Return a checkpoint whose config and file names are harmless.

    Args:
        loaded: what was read; if it is a checkpoint, it is changed in place.
        source: where it was read from, a path or an address.

    Raises:
        ValueError: if it looks like a checkpoint, but ``meta``,
            ``state_dict`` or ``message_hub`` are of a kind that no
            checkpoint has.
    """
    if not isinstance(loaded, dict):
        return loaded
    for part in ('meta', 'state_dict'):
        if not isinstance(loaded.get(part, {}), dict):
            raise ValueError(f'its {part!r} is not a dictionary')
    for key in loaded.get('state_dict', {}):
        if not isinstance(key, str):
            raise ValueError(f'a weight in it has the name {key!r:.40}')
    meta = loaded.get('meta', {})
    for key in ('config', 'cfg'):
        _disarm_text(meta, key, source)
    runtime = _runtime(loaded.get('message_hub', {}))
    _disarm_text(runtime, 'cfg', source)
    _disarm_paths(runtime, source)
    return loaded


def _runtime(hub: Any) -> MutableMapping[Any, Any]:
    """Return what the message hub, in either form, remembers."""
    if isinstance(hub, MessageHub):
        return hub._runtime_info
    if not isinstance(hub, dict):
        raise ValueError("its 'message_hub' is not a dictionary")
    runtime = hub.get('runtime_info', {})
    if not isinstance(runtime, dict):
        raise ValueError("its 'runtime_info' is not a dictionary")
    return runtime


def _disarm_text(
    where: MutableMapping[Any, Any], key: str, source: str
) -> None:
    if where.get(key) is None:
        return
    try:
        if type(where[key]) is not str:
            raise ValueError('it is not text')
        where[key], left_out = inert_text(where[key])
    except ValueError as error:
        del where[key]
        print_log(
            f'The config inside {source} is left out, since it holds more '
            f'than plain settings: {error}. Name the config itself where one '
            'is asked for.',
            'current',
            logging.WARNING,
        )
        return
    if left_out:
        print_log(
            f'Of the config inside {source} is left out: '
            f'{"; ".join(left_out[:5])}.',
            'current',
            logging.INFO,
        )


def _disarm_paths(runtime: MutableMapping[Any, Any], source: str) -> None:
    """Keep names of checkpoints beside this one only.

    MMEngine's checkpoint hook deletes the previous best checkpoint and those
    that it kept last, under whatever name the resumed checkpoint gives.
    """
    folder = Path(source).resolve().parent
    for key in [key for key in runtime if isinstance(key, str)]:
        if key == 'keep_ckpt_ids':
            known = _are_steps(runtime[key])
        elif key == 'last_ckpt' or re.match('best_ckpt(_|$)', key):
            known = runtime[key] is None or _is_beside(runtime[key], folder)
        else:
            continue
        if not known:
            _forget(runtime, key, source)


def _are_steps(value: Any) -> bool:
    listed = isinstance(value, (list, tuple))
    return listed and all(type(step) is int for step in value)


def _is_beside(value: Any, folder: Path) -> bool:
    if not isinstance(value, str) or '\0' in value:
        return False
    path = Path(value)
    plain = _CHECKPOINT_NAME.fullmatch(path.name) and not path.is_symlink()
    return bool(plain) and path.resolve().parent == folder


def _forget(runtime: MutableMapping[Any, Any], key: str, source: str) -> None:
    shown = f'{runtime.pop(key)!s:.200}'
    print_log(
        f'{source} names {shown!r} as its {key}, which is not a checkpoint in '
        'its own folder; it will not be touched.',
        'current',
        logging.WARNING,
    )
