"""What a checkpoint may name, as constructors that take plain data only.

A pickle names callables and gives them arguments of its choosing. The real
``numpy.ndarray`` can be made to read any memory, the real ``bytearray`` to
ask for all of it. So no name leads to the real thing: each leads to a
:class:`Maker`, which checks the kind, the number and the size of what it is
given against what real checkpoints hold.
"""

from __future__ import annotations

import math
import re
from collections import Counter, OrderedDict, defaultdict
from dataclasses import dataclass
from typing import Any, Callable, Optional

import numpy as np
import torch
from mmengine.config import ConfigDict
from mmengine.logging import HistoryBuffer, MessageHub
from mmengine.optim.scheduler import OneCycleParamScheduler

from mmdet_cppe5.engine.demands import check_key, need, sizes

# Numbers and text of fixed width; no objects, records, dates.
_DTYPE = re.compile(r'[<>|=]?([biufc]\d{1,2}|[SU]\d{1,5})')
_DEVICE = re.compile(r'[a-z]{2,12}(:\d{1,4})?')
_MOST_LOGS = 10_000_000  # entries of one scalar's history


@dataclass(frozen=True)
class Maker:
    """A name that a pickle may call.

    Attributes:
        name: the real thing's dotted name.
        make: builds it from checked arguments; None where a pickle may only
            mention the name.
        kind: the real thing, where that is a harmless container's class.
    """

    name: str
    make: Optional[Callable[..., Any]] = None
    kind: Optional[type] = None

    def __call__(self, *args: Any) -> Any:
        """Build what is named.

        Raises:
            TypeError: if it may only be mentioned.
            ValueError: if the arguments are not those of a real checkpoint.
        """
        if self.make is None:
            raise TypeError(f'{self.name} is not callable here')
        return self.make(*args)


@dataclass(frozen=True)
class Storage:
    """The bytes of tensors, and the type the pickle gives them."""

    data: torch.UntypedStorage
    dtype: torch.dtype


@dataclass(frozen=True)
class StorageType:
    """The name of a tensor storage's class."""

    dtype: torch.dtype


def _tensor(
    storage: Any,
    offset: Any,
    size: Any,
    stride: Any,
    requires_grad: Any = False,
    hooks: Any = None,
    *rest: Any,
) -> torch.Tensor:
    """Return a view of a storage; hooks and metadata are not taken."""
    need(isinstance(storage, Storage), 'a tensor without its storage')
    dtype = storage.dtype
    if rest and isinstance(rest[0], torch.dtype):  # _rebuild_tensor_v3
        dtype = rest[0]
    size, stride = sizes(size, 'tensor size'), sizes(stride, 'stride')
    need(type(offset) is int and offset >= 0, 'a broken tensor offset')
    need(len(size) == len(stride), 'a tensor without strides')
    available = storage.data.nbytes() // dtype.itemsize
    steps = sum((n - 1) * step for n, step in zip(size, stride))
    last = offset + steps if 0 not in size else offset - 1
    need(last < available, 'a tensor that reaches past its storage')
    # Repeated elements cost nothing here and gigabytes when they are copied.
    need(math.prod(size) <= available, 'a tensor larger than its storage')
    empty = torch.empty(0, dtype=dtype, device=storage.data.device)
    tensor = empty.set_(storage.data, offset, size, stride)
    return tensor.requires_grad_() if requires_grad is True else tensor


def _parameter(data: Any, requires_grad: Any, *_: Any) -> torch.nn.Parameter:
    need(type(data) is torch.Tensor, 'a parameter without its tensor')
    return torch.nn.Parameter(data, requires_grad is True)


def _dtype(code: Any, *_: Any) -> np.dtype:
    """Return a private copy of a plain NumPy type."""
    known = isinstance(code, str) and _DTYPE.fullmatch(code[:16])
    need(known, f'a NumPy array of type {code!r:.40}')
    return np.dtype(np.dtype(code), copy=True)


def set_dtype(dtype: np.dtype, state: Any) -> None:
    """Set a NumPy type's byte order, and nothing else of it."""
    plain = np.dtype(dtype).__reduce__()[2]
    orders = '|' if plain[1] == '|' else '<>='
    if (
        type(state) is not tuple
        or len(state) != len(plain)
        or not all(
            type(new) is type(old) and new == old
            for new, old in zip(state[:1] + state[2:], plain[:1] + plain[2:])
        )
        or type(state[1]) is not str
        or len(state[1]) != 1
        or state[1] not in orders
    ):
        raise ValueError(f'it alters the NumPy type {dtype}')
    dtype.__setstate__(state)


def _empty_array(kind: Any, *_: Any) -> np.ndarray:
    """Return the array that the pickle then fills."""
    need(kind is NDARRAY, 'an array of an unknown class')
    return np.empty(0)


def set_array(array: np.ndarray, state: Any) -> None:
    """Fill an array whose sizes agree with its bytes."""
    known = type(state) is tuple and len(state) == 5
    need(known and type(state[0]) is int, 'a broken NumPy array')
    version, shape, dtype, fortran, data = state
    _check_items(dtype, data, math.prod(sizes(shape, 'array shape')))
    need(type(fortran) in (bool, int), 'a broken NumPy array')
    array.__setstate__((version, shape, dtype, bool(fortran), data))


def _check_items(dtype: Any, data: Any, count: int) -> None:
    need(
        isinstance(dtype, np.dtype) and type(data) in (bytes, bytearray),
        'a NumPy array without its bytes',
    )
    need(
        len(data) == count * dtype.itemsize,
        'a NumPy array of another size than its bytes',
    )
    if dtype.kind == 'U':
        points = np.frombuffer(data, dtype.newbyteorder('=').str[0] + 'u4')
        if not dtype.isnative:
            points = points.byteswap()
        need((points <= 0x10FFFF).all(), 'text beyond Unicode')


def _scalar(dtype: Any, data: Any) -> np.generic:
    """Return one number of a plain NumPy type."""
    _check_items(dtype, data, 1)
    return np.frombuffer(data, dtype, count=1)[0]


def _encode(text: Any, encoding: Any) -> bytes:
    """Return the bytes that pickle protocol 2 writes as text."""
    if type(text) is not str or encoding != 'latin1':
        raise ValueError(f'it holds bytes in the encoding {encoding!r:.40}')
    return text.encode('latin1')


def _plain(kind: type, *given: type) -> Callable[..., Any]:
    """Return a constructor that copies one argument of the given types."""

    def make(*args: Any) -> Any:
        need(
            len(args) <= 1 and all(type(arg) in given for arg in args),
            f'a {kind.__name__} made of something else',
        )
        if issubclass(kind, (set, frozenset, dict)):
            for item in args[0] if args else ():
                check_key(item)
        return kind(*args)

    return make


def _byte_array(*args: Any) -> bytearray:
    if len(args) == 2:
        args = (_encode(args[0], str(args[1]).replace('-', '')),)
    return bytearray(_plain(bytes, bytes)(*args))


def _complex(*args: Any) -> complex:
    need(
        len(args) <= 2 and all(type(arg) in (int, float) for arg in args),
        'a complex number made of something else',
    )
    return complex(*args)


def _slice(*args: Any) -> slice:
    whole = all(arg is None or type(arg) is int for arg in args)
    need(1 <= len(args) <= 3 and whole, 'a broken slice')
    return slice(*args)


def _ordered(pairs: Any = ()) -> OrderedDict:
    """Return an ordered dictionary; Python 2 gave it a list of pairs."""
    need(type(pairs) in (list, tuple), 'a broken OrderedDict')
    made = OrderedDict()
    for pair in pairs:
        need(type(pair) in (list, tuple) and len(pair) == 2, 'a broken pair')
        check_key(pair[0])
        made[pair[0]] = pair[1]
    return made


def _default(factory: Any = None, items: Any = None) -> defaultdict:
    kind = factory.kind if isinstance(factory, Maker) else None
    need(factory is None or kind is not None, 'a broken defaultdict')
    return defaultdict(kind, _plain(dict, dict)(items or {}))


def _config(items: Any = None) -> ConfigDict:
    """Return a config's dictionary, its values as they are."""
    made = ConfigDict()
    dict.update(made, _plain(dict, dict)(items or {}))
    return made


def _size(items: Any = ()) -> torch.Size:
    return torch.Size(sizes(tuple(items), 'torch.Size'))


def _device(kind: Any, index: Any = None) -> torch.device:
    known = type(kind) is str and _DEVICE.fullmatch(kind[:32])
    need(known and (index is None or type(index) is int), 'a broken device')
    return torch.device(kind if index is None else f'{kind}:{index}')


def _history() -> HistoryBuffer:
    return HistoryBuffer()


def set_history(buffer: HistoryBuffer, state: Any) -> None:
    """Set the two columns of a scalar's history."""
    need(type(state) is dict, 'a broken HistoryBuffer')
    columns = [state.get('_log_history'), state.get('_count_history')]
    for column in columns:
        need(
            type(column) is np.ndarray
            and column.ndim == 1
            and column.dtype.kind in 'biuf'
            and len(column) == len(columns[0]),
            'a broken HistoryBuffer',
        )
    most = state.get('max_length')
    need(type(most) is int and 0 < most <= _MOST_LOGS, 'a broken max_length')
    buffer.max_length = most
    buffer._log_history, buffer._count_history = columns


def _hub() -> MessageHub:
    return MessageHub.__new__(MessageHub)


def set_hub(hub: MessageHub, state: Any) -> None:
    """Set what MMEngine's message hub remembers of a run."""
    need(type(state) is dict, 'a broken MessageHub')
    for name in ('_log_scalars', '_runtime_info', '_resumed_keys'):
        value = state.get(name, OrderedDict())
        need(type(value) in (dict, OrderedDict), 'a broken MessageHub')
        setattr(hub, name, OrderedDict(value))
    hub._instance_name = str(state.get('_instance_name', ''))[:200]


def set_ordered(target: OrderedDict, state: Any) -> None:
    """Set the version numbers that a state dict of PyTorch carries."""
    known = type(state) is dict and set(state) <= {'_metadata'}
    need(known, 'an OrderedDict with attributes of its own')
    target.__dict__.update(state)


NDARRAY = Maker('numpy.ndarray')
_HISTORY = Maker('HistoryBuffer', _history)
# OneCycleLR keeps its formula in its state.
_ONE_CYCLE = Maker('OneCycleParamScheduler')
_METHODS = {
    'HistoryBuffer': (HistoryBuffer, ('min', 'max', 'current', 'mean')),
    'OneCycleParamScheduler': (
        OneCycleParamScheduler,
        ('_annealing_cos', '_annealing_linear'),
    ),
}


def _method(owner: Any, name: Any) -> Any:
    """Return one of the few methods that MMEngine keeps in its states."""
    known = getattr(owner, 'name', '') if isinstance(owner, Maker) else ''
    kind, names = _METHODS.get(known, (None, ()))
    if kind is not None and type(name) is str and name in names:
        return getattr(kind, name)
    raise ValueError(f'it asks for {name!r:.40} of <class {known!r:.80}>')


_STORAGES = {
    'Double': 'float64', 'Float': 'float32', 'Half': 'float16',
    'BFloat16': 'bfloat16', 'Long': 'int64', 'Int': 'int32',
    'Short': 'int16', 'Char': 'int8', 'Byte': 'uint8', 'Bool': 'bool',
    'ComplexFloat': 'complex64', 'ComplexDouble': 'complex128',
    'Untyped': 'uint8',
}  # fmt: skip


def _containers() -> dict[str, Maker]:
    makers = {
        'collections.OrderedDict': (_ordered, OrderedDict),
        'collections.Counter': (_plain(Counter, dict), Counter),
        'collections.defaultdict': (_default, None),
        'builtins.bytearray': (_byte_array, None),
        'builtins.complex': (_complex, None),
        'builtins.slice': (_slice, None),
    }
    for kind, given in (
        (bool, (bool, int)), (int, (bool, int, float)),
        (float, (bool, int, float)), (str, (str,)), (bytes, (bytes,)),
        (dict, (dict,)), (list, (list, tuple)), (tuple, (list, tuple)),
        (set, (list, tuple)), (frozenset, (list, tuple)),
    ):  # fmt: skip
        makers[f'builtins.{kind.__name__}'] = (_plain(kind, *given), kind)
    return {name: Maker(name, *parts) for name, parts in makers.items()}


def _allowed() -> dict[str, Any]:
    """Return everything a checkpoint may name, by its dotted name."""
    table: dict[str, Any] = _containers()
    for name, make in {
        '_codecs.encode': _encode,
        'builtins.getattr': _method,
        'numpy.dtype': _dtype,
        'torch.Size': _size,
        'torch.device': _device,
        'torch._utils._rebuild_tensor': _tensor,
        'torch._utils._rebuild_tensor_v2': _tensor,
        'torch._utils._rebuild_tensor_v3': _tensor,
        'torch._utils._rebuild_parameter': _parameter,
        'mmengine.config.config.ConfigDict': _config,
        'mmengine.logging.message_hub.MessageHub': _hub,
    }.items():
        table[name] = Maker(name, make)
    for module in ('numpy.core.multiarray', 'numpy._core.multiarray'):
        table[f'{module}._reconstruct'] = Maker('_reconstruct', _empty_array)
        table[f'{module}.scalar'] = Maker('scalar', _scalar)
    table['numpy.ndarray'] = NDARRAY
    table['mmengine.logging.history_buffer.HistoryBuffer'] = _HISTORY
    schedulers = 'mmengine.optim.scheduler.param_scheduler'
    table[f'{schedulers}.OneCycleParamScheduler'] = _ONE_CYCLE
    for short, dtype in _STORAGES.items():
        for module in ('torch', 'torch.cuda', 'torch.storage'):
            made = StorageType(getattr(torch, dtype))
            table[f'{module}.{short}Storage'] = made
    for name, value in vars(torch).items():
        if isinstance(value, torch.dtype):
            table[f'torch.{name}'] = value
    return table


ALLOWED = _allowed()
