"""An unpickler that builds data and calls nothing else.

A pickle is a program: it names callables, which the reader looks up and
calls. Here a name is looked up in a table of inert constructors
(:mod:`mmdet_cppe5.engine.inert`) and never imported, so a pickle can only
make tensors, arrays, numbers, text and containers of these. Any other name
is refused before anything is called.

A pickle can also harm by size: by its number of steps, by copying the same
bytes again and again, by nests that overflow the stack of whoever walks
them. All of these are bounded, well above what real checkpoints need.
"""

from __future__ import annotations

import _compat_pickle
import gc
import pickle
import reprlib
from collections import Counter, OrderedDict, defaultdict
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
from mmengine.config import ConfigDict
from mmengine.logging import HistoryBuffer, MessageHub

from mmdet_cppe5.engine import inert
from mmdet_cppe5.engine.demands import check_key, need
from mmdet_cppe5.engine.inert import ALLOWED, Maker

__all__ = ['ALLOWED', 'Unpickler', 'load']

MOST_BYTES = 160 << 20  # of the pickle, without the tensors
MOST_STEPS = 400_000
MOST_DEPTH = 100
MOST_CONTAINERS = 100_000
MOST_ITEMS = 4_000_000  # counted anew at each reference
# Bytes that constructors may copy for each byte of the pickle.
_MOST_COPIES = 4

_MAPPINGS = (dict, OrderedDict, defaultdict, Counter, ConfigDict)
# All that pickle writes from protocol 2 on. The text forms of protocol 0
# are missing, and extension codes, which stand for names registered in this
# process.
_OPCODES = (
    'MARK', 'STOP', 'POP', 'POP_MARK', 'DUP', 'NONE', 'NEWTRUE',
    'NEWFALSE', 'BININT', 'BININT1', 'BININT2', 'LONG1', 'LONG4',
    'BINFLOAT', 'BINSTRING', 'SHORT_BINSTRING', 'BINUNICODE',
    'SHORT_BINUNICODE', 'BINUNICODE8', 'BINBYTES', 'SHORT_BINBYTES',
    'BINBYTES8', 'BYTEARRAY8', 'EMPTY_TUPLE', 'TUPLE', 'TUPLE1', 'TUPLE2',
    'TUPLE3', 'EMPTY_LIST', 'APPEND', 'APPENDS', 'LIST', 'EMPTY_DICT',
    'SETITEM', 'SETITEMS', 'DICT', 'EMPTY_SET', 'ADDITEMS', 'FROZENSET',
    'GLOBAL', 'STACK_GLOBAL', 'REDUCE', 'NEWOBJ', 'NEWOBJ_EX', 'BUILD',
    'BINPERSID', 'BINGET', 'LONG_BINGET', 'BINPUT', 'LONG_BINPUT',
    'MEMOIZE', 'PROTO', 'FRAME',
)  # fmt: skip


class _Source:
    """A stream that hands out what it has, and no more than is bearable."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.taken = 0

    def read(self, size: int) -> bytes:
        self.taken += size
        need(
            self.taken <= MOST_BYTES, f'a pickle of over {MOST_BYTES:,} bytes'
        )
        data = self._stream.read(size)
        if len(data) < size:
            raise EOFError('it ends in the middle')
        return data

    def readline(self) -> bytes:
        line = self._stream.readline(1000)
        self.taken += len(line)
        if line[-1:] != b'\n':
            raise EOFError('it ends in the middle of a name')
        return line


# The Python version of pickle's reader: the C version cannot be overridden
# where a state is set on an object. A checkpoint has few objects, its bulk
# are tensors, which are read apart.
class Unpickler(pickle._Unpickler):
    """Reads pickles of plain data; see the module's docstring."""

    def __init__(self, stream: IO[bytes], **options: Any) -> None:
        self._source = _Source(stream)
        self._copied = 0
        super().__init__(self._source, **options)

    def load(self) -> Any:
        """Read one pickle, up to its end and no further.

        Raises:
            ValueError: if it asks for anything but data, or for too much.
        """
        self.read, self.readline = self._source.read, self._source.readline
        self.metastack: list[Any] = []
        self.stack: list[Any] = []
        self.append = self.stack.append
        self.proto = 0
        collecting = gc.isenabled()
        gc.disable()  # it would walk all that is being built again and again
        try:
            value = self._run()
            _check_nesting(value)
        finally:
            if collecting:
                gc.enable()
        return value

    def _run(self) -> Any:
        steps = self.dispatch
        for _ in range(MOST_STEPS):
            code = self.read(1)[0]
            if code not in steps:
                raise ValueError(f'it has the unknown opcode {bytes([code])}')
            try:
                steps[code](self)
            except pickle._Stop as stop:
                return stop.value
        raise ValueError(f'its pickle takes over {MOST_STEPS:,} steps')

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
            raise ValueError(f'it asks for {key:.200}')
        return ALLOWED[key]

    def _made(self, maker: Any, args: Any) -> Any:
        """Call a constructor of the table, if it has not copied too much."""
        need(type(args) is tuple, 'arguments that are no tuple')
        if not isinstance(maker, Maker):
            raise TypeError(f'{reprlib.repr(maker)} is not callable here')
        for arg in args:
            self._pay(arg)
        return maker(*args)

    def _pay(self, value: Any) -> None:
        if isinstance(value, (str, bytes, bytearray, list, tuple, dict)):
            self._copied += len(value)
        most = _MOST_COPIES * self._source.taken + 4096
        need(self._copied <= most, 'the same bytes again and again')

    def load_frame(self) -> None:
        """Pass over the length of a frame; it only helps reading ahead."""
        self.read(8)

    def load_long1(self) -> None:
        """Read an integer of at most 32 bytes."""
        self._load_long(self.read(1)[0])

    def load_long4(self) -> None:
        """Read an integer of at most 32 bytes."""
        self._load_long(int.from_bytes(self.read(4), 'little'))

    def _load_long(self, size: int) -> None:
        need(size <= 32, f'an integer of {size:,} bytes')
        self.append(pickle.decode_long(self.read(size)))

    def load_bytearray8(self) -> None:
        """Read the bytes before making room for them."""
        size = int.from_bytes(self.read(8), 'little')
        self.append(bytearray(self.read(size)))

    def load_reduce(self) -> None:
        """Call a constructor of the table."""
        args = self.stack.pop()
        self.stack[-1] = self._made(self.stack[-1], args)

    def load_newobj_ex(self) -> None:
        """Call a constructor of the table; none takes names."""
        names = self.stack.pop()
        need(type(names) is dict and not names, 'named arguments')
        self.load_reduce()

    def load_binpersid(self) -> None:
        """Have a storage looked up, and nothing but a storage."""
        saved = self.stack.pop()
        known = type(saved) is tuple and saved[:1] in (
            ('storage',),
            (b'storage',),
        )
        if not known or not isinstance(saved[1], inert.StorageType):
            raise ValueError(f'it refers to {reprlib.repr(saved)}')
        self.append(self.persistent_load(saved))

    def load_build(self) -> None:
        """Set an object's state where the state is plain data."""
        state = self.stack.pop()
        target = self.stack[-1]
        kind = type(target)
        if isinstance(target, np.dtype):
            inert.set_dtype(target, state)
        elif kind is np.ndarray:
            self._pay(state[-1] if type(state) is tuple and state else ())
            inert.set_array(target, state)
        elif kind is HistoryBuffer:
            inert.set_history(target, state)
        elif kind is MessageHub:
            inert.set_hub(target, state)
        elif kind is OrderedDict:
            inert.set_ordered(target, state)
        else:
            raise ValueError(
                f'it sets the state of a {kind.__module__}.{kind.__qualname__}'
            )

    def load_setitem(self) -> None:
        """Put one item into a dictionary."""
        value, key = self.stack.pop(), self.stack.pop()
        self._set_items([key, value])

    def load_setitems(self) -> None:
        """Put items into a dictionary."""
        self._set_items(self.pop_mark())

    def load_dict(self) -> None:
        """Make a dictionary of items."""
        items = self.pop_mark()
        self.append({})
        self._set_items(items)

    def _set_items(self, items: list[Any]) -> None:
        target = self.stack[-1]
        need(type(target) in _MAPPINGS, 'items of what is not a dictionary')
        need(len(items) % 2 == 0, 'a key without its value')
        for key, value in zip(items[::2], items[1::2]):
            check_key(key)
            target[key] = value

    def load_append(self) -> None:
        """Put one item at the end of a list."""
        self._extend([self.stack.pop()])

    def load_appends(self) -> None:
        """Put items at the end of a list."""
        self._extend(self.pop_mark())

    def _extend(self, items: list[Any]) -> None:
        target = self.stack[-1]
        need(type(target) is list, 'items of what is not a list')
        target.extend(items)

    def load_additems(self) -> None:
        """Put items into a set."""
        items, target = self.pop_mark(), self.stack[-1]
        need(type(target) is set, 'items of what is not a set')
        for item in items:
            check_key(item)
            target.add(item)

    def load_frozenset(self) -> None:
        """Make a set of items."""
        items = self.pop_mark()
        for item in items:
            check_key(item)
        self.append(frozenset(items))


def _dispatch() -> dict[int, Any]:
    """Return the method of each accepted opcode, its own where there is."""
    given = pickle._Unpickler.dispatch
    own = {
        getattr(pickle, name)[0]: getattr(Unpickler, f'load_{name.lower()}')
        for name in _OPCODES
        if f'load_{name.lower()}' in vars(Unpickler)
    }
    codes = [getattr(pickle, name)[0] for name in _OPCODES]
    table = {code: own.get(code, given[code]) for code in codes}
    table[pickle.NEWOBJ[0]] = Unpickler.load_reduce
    return table


Unpickler.dispatch = _dispatch()


def _children(value: Any) -> list[Any]:
    """Return what a container holds; keys and set items are plain."""
    if isinstance(value, dict):
        inside = list(value.values())
        return inside + list(getattr(value, '__dict__', {}).values())
    if type(value) in (list, tuple):
        return list(value)
    if type(value) is MessageHub:
        return list(vars(value).values())
    need(not isinstance(value, Maker), 'a class in place of data')
    return []


@dataclass
class _Open:
    """A container on the way down from the top, and what is known of it."""

    value: Any
    inside: list[Any]
    depth: int = 0
    weight: int = 1

    def add(self, depth: int, weight: int) -> None:
        self.depth = max(self.depth, depth + 1)
        self.weight += weight
        need(self.depth <= MOST_DEPTH, f'over {MOST_DEPTH} containers nested')
        need(self.weight <= MOST_ITEMS, f'over {MOST_ITEMS:,} items')


def _check_nesting(top: Any) -> None:
    """Refuse nests too deep to walk, too large to print, or endless.

    Depth and number of items are those of a walk that follows every
    reference anew, found without recursion and by measuring each container
    once.
    """
    measured: dict[int, tuple[int, int]] = {}
    path = [_Open(None, [top])]
    opened: set[int] = set()
    while path:
        last = path[-1]
        if not last.inside:
            path.pop()
            opened.discard(id(last.value))
            measured[id(last.value)] = last.depth, last.weight
            if path:
                path[-1].add(last.depth, last.weight)
            continue
        value = last.inside.pop()
        need(len(measured) <= MOST_CONTAINERS, 'too many containers')
        need(id(value) not in opened, 'a container that holds itself')
        inside = [] if id(value) in measured else _children(value)
        if inside:
            opened.add(id(value))
            path.append(_Open(value, inside))
            need(
                len(path) <= MOST_DEPTH, f'over {MOST_DEPTH} containers nested'
            )
        else:
            known = measured.get(id(value), (0, 1))
            if isinstance(value, (dict, list, tuple)):
                measured[id(value)] = known
            last.add(*known)


def load(stream: IO[bytes], **options: Any) -> Any:
    """Read one pickle, as ``pickle.load`` does."""
    return Unpickler(stream, **options).load()
