"""An unpickler that builds data and calls nothing else.

The module has the part of :mod:`pickle`'s interface that ``torch.load``
wants of its ``pickle_module``. A pickle is a program: it names callables,
which the reader looks up and calls. Here a name is looked up in a table of
inert constructors and never imported, so a pickle can only make tensors,
arrays, numbers, text and containers of these. Any other name is refused
before anything is called.

Two things beyond the table are checked, because they reach past data: the
state given to a NumPy type may change its byte order only (anything else
could have NumPy take numbers for addresses), and persistent ids may only
name tensor storages.
"""

from __future__ import annotations

import _compat_pickle
import pickle
from collections import Counter, OrderedDict, defaultdict
from typing import IO, Any

import numpy as np
import torch
from mmengine.config import ConfigDict
from mmengine.logging import HistoryBuffer, MessageHub
from mmengine.optim.scheduler import OneCycleParamScheduler
from numpy import ndarray

# The kinds of numbers and text that an array may hold; no Python objects.
_PLAIN_KINDS = 'biufcSU'
_WITH_ATTRIBUTES = (OrderedDict, HistoryBuffer, MessageHub)


def _numpy_dtype(code: str, *_: Any) -> np.dtype:
    """Return a private copy of a plain NumPy type."""
    dtype = np.dtype(code) if isinstance(code, str) else None
    if dtype is None or dtype.kind not in _PLAIN_KINDS:
        raise ValueError(f'it holds a NumPy array of type {code!r}')
    return np.dtype(dtype, copy=True)


def _empty_array(*_: Any) -> ndarray:
    """Return the array that the pickle then fills."""
    return np.empty(0)


def _encode(text: str, encoding: str) -> bytes:
    """Return the bytes that pickle protocol 2 writes as text."""
    if encoding != 'latin1':
        raise ValueError(f'it holds bytes in the encoding {encoding!r}')
    return text.encode('latin1')


def _numpy_scalar(dtype: np.dtype, data: bytes) -> np.generic:
    """Return one number of a plain NumPy type."""
    return np.frombuffer(data, dtype, count=1)[0]


class _NotMade:
    """Stands for a class of which a pickle may name methods, no more."""

    def __init__(self, origin: type) -> None:
        self.origin = origin


# OneCycleLR keeps its formula in its state.
_ONE_CYCLE = _NotMade(OneCycleParamScheduler)
_METHODS = {
    HistoryBuffer: ('min', 'max', 'current', 'mean'),
    _ONE_CYCLE: ('_annealing_cos', '_annealing_linear'),
}


def _method(owner: Any, name: str) -> Any:
    """Return one of the few methods that MMEngine keeps in its states."""
    for known, names in _METHODS.items():
        if owner is known and name in names:
            return getattr(getattr(owner, 'origin', owner), name)
    raise ValueError(f'it asks for {name!r:.40} of {owner!r:.80}')


def _constructors() -> dict[str, Any]:
    """Return everything a checkpoint may name, by its dotted name."""
    table: dict[str, Any] = {
        'collections.OrderedDict': OrderedDict,
        'collections.defaultdict': defaultdict,
        'collections.Counter': Counter,
        '_codecs.encode': _encode,
        'builtins.getattr': _method,
        'numpy.dtype': _numpy_dtype,
        'numpy.ndarray': ndarray,
        'torch.Size': torch.Size,
        'torch.device': torch.device,
        'mmengine.config.config.ConfigDict': ConfigDict,
        'mmengine.logging.history_buffer.HistoryBuffer': HistoryBuffer,
        'mmengine.logging.message_hub.MessageHub': MessageHub,
        'mmengine.optim.scheduler.param_scheduler.OneCycleParamScheduler': (
            _ONE_CYCLE
        ),
    }
    for kind in (
        bool, bytearray, bytes, complex, dict, float, frozenset, int, list,
        set, slice, str, tuple,
    ):  # fmt: skip
        table[f'builtins.{kind.__name__}'] = kind
    for module in ('numpy.core.multiarray', 'numpy._core.multiarray'):
        table[f'{module}._reconstruct'] = _empty_array
        table[f'{module}.scalar'] = _numpy_scalar
    for name in (
        '_rebuild_tensor', '_rebuild_tensor_v2', '_rebuild_parameter',
    ):  # fmt: skip
        table[f'torch._utils.{name}'] = getattr(torch._utils, name)
    for name, value in vars(torch).items():
        if isinstance(value, torch.dtype):
            table[f'torch.{name}'] = value
    return table


ALLOWED = _constructors()


# The Python version of pickle's reader: the C version cannot be overridden
# where a state is set on an object. A checkpoint has few objects, its bulk
# is read by torch.
class Unpickler(pickle._Unpickler):
    """Reads pickles of plain data; see the module's docstring."""

    dispatch = dict(pickle._Unpickler.dispatch)  # noqa: RUF012
    # Extension codes stand for names registered in this process.
    for _code in (pickle.EXT1, pickle.EXT2, pickle.EXT4):
        del dispatch[_code[0]]

    def find_class(self, module: str, name: str) -> Any:
        """Return the constructor of that name.

        Raises:
            ValueError: if it is not one of :data:`ALLOWED`.
        """
        if self.proto < 3:  # these protocols write names of Python 2
            module, name = _compat_pickle.NAME_MAPPING.get(
                (module, name),
                (_compat_pickle.IMPORT_MAPPING.get(module, module), name),
            )
        key = f'{module}.{name}'
        if key not in ALLOWED:
            raise ValueError(f'it asks for {key}')
        return ALLOWED[key]

    def load_persid(self) -> None:
        """Refuse the text form of persistent ids, which torch never uses."""
        raise ValueError('it has a persistent id in text form')

    def load_binpersid(self) -> None:
        """Let torch look up a storage, and nothing but a storage."""
        saved_id = self.stack[-1]
        if not isinstance(saved_id, tuple) or saved_id[:1] not in (
            ('storage',),
            (b'storage',),
        ):
            raise ValueError(f'it refers to {saved_id!r:.80}')
        super().load_binpersid()

    def load_build(self) -> None:
        """Set an object's state where the state is plain data."""
        target, state = self.stack[-2], self.stack[-1]
        if isinstance(target, np.dtype):
            _check_dtype_state(target, state)
            super().load_build()
        elif type(target) is ndarray:
            super().load_build()
        elif isinstance(target, _WITH_ATTRIBUTES) and isinstance(state, dict):
            self.stack.pop()
            _set_attributes(target, state)
        else:
            kind = type(target)
            raise ValueError(
                f'it sets the state of a {kind.__module__}.{kind.__qualname__}'
            )

    dispatch[pickle.PERSID[0]] = load_persid
    dispatch[pickle.BINPERSID[0]] = load_binpersid
    dispatch[pickle.BUILD[0]] = load_build


def _set_attributes(target: Any, state: dict[str, Any]) -> None:
    """Set attributes of an object, never of its class."""
    if isinstance(target, HistoryBuffer):
        # Its own __setstate__ puts these into a table of the whole process.
        state.pop('statistics_methods', None)
        target._set_default_statistics()
    vars(target).update(state)


def _check_dtype_state(dtype: np.dtype, state: Any) -> None:
    """Refuse a state that changes more than a type's byte order."""
    plain = np.dtype(dtype).__reduce__()[2]
    if not isinstance(state, tuple) or (
        state[:1] + state[2:] != plain[:1] + plain[2:]
        or state[1] not in ('<', '>', '|', '=')
    ):
        raise ValueError(f'it alters the NumPy type {dtype} with {state!r}')


def load(stream: IO[bytes], **options: Any) -> Any:
    """Read one pickle, as ``pickle.load`` does."""
    return Unpickler(stream, **options).load()
