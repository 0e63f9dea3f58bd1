"""The config that a checkpoint carries as text, read without running it.

MMEngine writes the text of its config into every checkpoint, and executes
the text when a run is resumed or when an inferencer is given weights alone.
Even a text of literals can run something: a ``type`` that is in no registry
is imported by its dotted name and called, ``_base_`` and ``custom_imports``
name files and modules, and a few settings are evaluated as expressions.
"""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import mmdet.registry  # noqa: F401  (hangs its registries below MMEngine's)
from mmengine import registry as mmengine_registry
from mmengine.config.utils import MODULE2PACKAGE
from mmengine.registry import Registry

_MOST_CHARACTERS = 256 << 10
_MOST_BRACKETS = 60
_MOST_ITEMS = 20_000
_MOST_STEPS = 4096  # of a range
_NAME = re.compile(r'[A-Za-z_]\w*')
_SCOPES = frozenset({'mmengine', 'mmcv', *MODULE2PACKAGE})
# MMEngine's own words; `_base_` and `custom_imports` read files and modules.
_RESERVED = frozenset(
    {'custom_imports', 'filename', 'text', 'pretty_text', 'env_variables'}
)
# Settings that are evaluated or read as a config file, and what they may be.
_EVALUATED = {
    'warp_mode': re.compile(r'cv2\.MOTION_[A-Z]+'),
    'teacher_config': re.compile(r'mmdet::[\w/-]+\.py'),
}


def literal_config(text: str) -> dict[str, Any]:
    """Read a config of literal assignments.

    Args:
        text: as MMEngine and MMDetection 2.x write it: ``name = value``,
            where a value may use ``dict(...)`` and ``range(...)``.

    Raises:
        ValueError: if anything else is in it.
    """
    if len(text) > _MOST_CHARACTERS:
        raise ValueError(f'it has {len(text):,} characters')
    _check_shape(text)
    try:
        body = ast.parse(text).body
        return {name: _literal(value) for name, value in _assigned(body)}
    except (SyntaxError, RecursionError, MemoryError) as error:
        raise ValueError(
            f'it is not Python ({type(error).__name__})'
        ) from error


def _check_shape(text: str) -> None:
    """Refuse nests that overflow the parser; brackets in text count too."""
    if len(re.findall(r'[,=\[({]', text)) > _MOST_ITEMS:
        raise ValueError(f'it has over {_MOST_ITEMS:,} items')
    depth = 0
    for bracket in re.findall(r'[\[\](){}]', text):
        depth = max(depth + (1 if bracket in '[({' else -1), 0)
        if depth > _MOST_BRACKETS:
            raise ValueError(f'it has over {_MOST_BRACKETS} brackets nested')
    if re.search(r'(?:[-+~!]\s*){9}|(?:\bnot\s+){9}', text):
        raise ValueError('it has operators in a row')


def _assigned(body: list[ast.stmt]) -> Iterator[tuple[str, ast.expr]]:
    for node in body:
        if (
            not isinstance(node, ast.Assign)
            or len(node.targets) != 1
            or not isinstance(node.targets[0], ast.Name)
        ):
            raise ValueError(
                f'line {node.lineno} is not an assignment to a name'
            )
        yield node.targets[0].id, node.value


def _literal(node: ast.expr) -> Any:
    if isinstance(node, ast.Constant):
        if isinstance(node.value, (str, int, float, type(None))):
            return node.value
    elif isinstance(node, (ast.List, ast.Tuple)):
        items = [_literal(item) for item in node.elts]
        return items if isinstance(node, ast.List) else tuple(items)
    elif isinstance(node, ast.Dict):
        return {
            _key(key): _literal(value)
            for key, value in zip(node.keys, node.values)
        }
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = _literal(node.operand)
        if isinstance(value, (int, float)):
            return -value
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return _call(node, node.func.id)
    raise ValueError(f'line {node.lineno} holds more than literals')


def _key(node: ast.expr | None) -> Any:
    key = node.value if isinstance(node, ast.Constant) else None
    if isinstance(key, (str, int, float)):
        return key
    raise ValueError('a dictionary has a key that is not a name')


def _call(node: ast.Call, name: str) -> Any:
    """Read ``dict(a=1)``, ``dict({'a-b': 1})`` and ``range(8)``."""
    args = [_literal(arg) for arg in node.args]
    if name == 'dict' and len(args) <= 1 and all(
        isinstance(arg, dict) for arg in args
    ):  # fmt: skip
        made = dict(args[0]) if args else {}
        for keyword in node.keywords:
            made[_key(ast.Constant(keyword.arg))] = _literal(keyword.value)
        return made
    whole = 1 <= len(args) <= 3 and all(type(arg) is int for arg in args)
    if name == 'range' and whole and not node.keywords:
        steps = range(*args)
        if steps[_MOST_STEPS:] == range(0):
            return list(steps)
    raise ValueError(f'line {node.lineno} calls {name!r:.40}')


def inert_text(text: str) -> tuple[str, list[str]]:
    """Return a config's text in a form that can run nothing.

    The new text is written from the values, as plain literals. Entries that
    would be built from something that is registered nowhere are left out:
    MMEngine would import it.

    Args:
        text: the text that came with a checkpoint.

    Returns:
        The new text, and the entries that were left out, each with the
        reason.

    Raises:
        ValueError: if the text is not made of literals, or if its model is
            what had to be left out.
    """
    names = _Registered()
    kept, left_out = [], []
    for name, value in literal_config(text).items():
        if name.startswith('_') or name in _RESERVED:
            continue
        try:
            kept.append(f'{name} = {_written(_safe(value, name, names))}\n')
        except ValueError as error:
            if name == 'model':
                raise
            left_out.append(f'{name} ({error})')
    return ''.join(kept), left_out


class _Registered:
    """The names in MMEngine's registries, in MMDetection's and in mmcv.ops.

    MMDetection's own modules are imported only when a name is found nowhere
    else; that takes seconds.
    """

    def __init__(self) -> None:
        self._names = self._collected(load=False)
        self._loaded = False

    def __contains__(self, name: str) -> bool:
        if name not in self._names and not self._loaded:
            self._names, self._loaded = self._collected(load=True), True
        return name in self._names

    @staticmethod
    def _collected(load: bool) -> set[str]:
        found: set[str] = set()

        def collect(registry: Registry) -> None:
            if load:
                with contextlib.suppress(ImportError):
                    registry.import_from_location()
            found.update(registry.module_dict)
            for child in registry.children.values():
                collect(child)

        for value in vars(mmengine_registry).values():
            if isinstance(value, Registry):
                collect(value)
        if load:  # operators such as RoIAlign are found by their name only
            with contextlib.suppress(ImportError):
                found.update(import_module('mmcv.ops').__all__)
        return found


def _safe(value: Any, key: Any, names: _Registered) -> Any:
    """Return the value if nothing in it can run."""
    if isinstance(value, dict):
        return {name: _safe(item, name, names) for name, item in value.items()}
    if key == 'type':
        return _type(value, names)
    known = value is None or str(value) in _SCOPES
    if key in ('_scope_', 'default_scope') and not known:
        raise ValueError(f'{value!r:.40} is not a scope of OpenMMLab')
    pattern = _EVALUATED.get(key) if isinstance(value, str) else None
    if pattern and not pattern.fullmatch(value):
        raise ValueError(f'{key}={value!r:.60} would be evaluated')
    if isinstance(value, (list, tuple)):
        items = [_safe(item, '', names) for item in value]
        return items if isinstance(value, list) else tuple(items)
    return value


def _type(value: Any, names: _Registered) -> Any:
    """Return a registered name; a dotted path of OpenMMLab becomes one."""
    parts = value.split('.') if isinstance(value, str) else ['']
    if all(_NAME.fullmatch(part) for part in parts) and parts[-1] in names:
        if len(parts) == 1:
            return value
        if parts[0] in _SCOPES and len(parts) == 2:
            return value
        if parts[0] in {'torch', 'mmdet_cppe5', *_SCOPES}:
            return parts[-1]
    raise ValueError(f'{value!r:.60} is not registered')


def _written(value: Any) -> str:
    """Write a value as a literal that MMEngine finds no template in."""
    if isinstance(value, dict):
        items = (f'{_written(k)}: {_written(v)}' for k, v in value.items())
        return f'{{{", ".join(items)}}}'
    if isinstance(value, list):
        return f'[{", ".join(map(_written, value))}]'
    if isinstance(value, tuple):
        return f'({"".join(f"{_written(item)}, " for item in value)})'
    if isinstance(value, str):
        return ascii(value).replace('{', '\\x7b')
    if isinstance(value, float) and abs(value) == float('inf'):
        return '1e999' if value > 0 else '-1e999'
    return repr(value)
