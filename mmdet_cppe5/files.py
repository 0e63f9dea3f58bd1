"""Reading JSON and writing files so that nothing is ever half-written."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import io
import json
import os
import platform
import re
import secrets
import shutil
import stat
import sys
import tempfile
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Union

try:
    import fcntl
except ImportError:  # Windows: no lock, the rename at the end is still whole
    fcntl = None  # type: ignore[assignment]

_GZIP = b'\x1f\x8b'
_UNZIPPED = 64 << 20  # bytes that any gzip file may unpack to
_GROWTH = 100  # else so many times its size; JSON of boxes has about 10

PathLike = Union[str, 'os.PathLike[str]']

# Device and inode of what this command has read; None outside of a command.
_inputs: ContextVar[set[tuple[int, int]] | None] = ContextVar(
    'inputs', default=None
)
# What the shell connected, rather than a file of that name.
_DESCRIPTOR = re.compile(r'/dev/std(out|err)|(?:/dev|/proc/self)/fd/(\d+)')
_LEFTOVER = re.compile(r'\..*\.([0-9a-f]{6})-(\d+)-[0-9a-f]{8}(\.[^.]*)?')
_swept: set[Path] = set()
_held = threading.local()


@contextlib.contextmanager
def kept_inputs() -> Iterator[None]:
    """Refuse, within the block, to write over a file that was read in it."""
    token = _inputs.set(set())
    try:
        yield
    finally:
        _inputs.reset(token)


def keep(path: PathLike) -> None:
    """Note that ``path`` is an input, which no output may replace."""
    inputs = _inputs.get()
    if inputs is not None:
        found = os.stat(path)
        inputs.add((found.st_dev, found.st_ino))


def check_output(
    path: PathLike | None, inputs: Iterable[PathLike] = ()
) -> None:
    """Refuse a target whose writing would destroy something.

    Args:
        path: where an output is to go, or None; links are followed.
        inputs: paths that are read; which of them exist does not matter.

    Raises:
        ValueError: if ``path`` is a folder, a disk or a socket, or is one of
            the inputs, under whatever name.
    """
    if path is None:
        return
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return
    identity = found.st_dev, found.st_ino
    if stat.S_ISDIR(found.st_mode):
        raise ValueError(f'Expected a file to write, but {path} is a folder.')
    if stat.S_ISBLK(found.st_mode) or stat.S_ISSOCK(found.st_mode):
        raise ValueError(
            f'Expected a file to write, but {path} is a device or a socket.'
        )
    if not stat.S_ISREG(found.st_mode):
        return
    known = identity in (_inputs.get() or ())
    if known or any(_identity(other) == identity for other in inputs):
        raise ValueError(
            f'Expected an output that is no input, but {path} is an input of '
            'this command and would be lost: choose another name.'
        )


def _identity(path: PathLike) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino


@contextlib.contextmanager
def atomic_path(path: PathLike) -> Iterator[Path]:
    """Yield a temporary path that becomes ``path`` when the block succeeds.

    The temporary file lies in the target's own folder, so the final rename
    cannot cross file systems. When the block raises, the temporary file is
    removed and ``path`` keeps what it held before. A link is followed: its
    file is replaced, the link stays. A pipe, a terminal or ``/dev/stdout``
    gets the bytes instead of being replaced.

    Args:
        path: the file to write; missing parent folders are made.

    Yields:
        The path to write to; nothing is there yet.

    Raises:
        ValueError: if writing would destroy something; see
            :func:`check_output`.
    """
    check_output(path)
    if _DESCRIPTOR.fullmatch(os.fspath(path)) or _is_stream(path):
        with tempfile.TemporaryDirectory() as folder:
            temporary = Path(folder) / 'output'
            yield temporary
            _pour(temporary, os.fspath(path))
        return
    target = Path(os.path.realpath(path))
    target.parent.mkdir(parents=True, exist_ok=True)
    _sweep(target.parent)
    temporary = target.with_name(
        f'.{target.stem[:64]}.{_host()}-{os.getpid()}-'
        f'{secrets.token_hex(4)}{target.suffix}'
    )
    try:
        yield temporary
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def _is_stream(path: PathLike) -> bool:
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)


def _pour(source: Path, path: str) -> None:
    """Write a file's bytes to a pipe, a terminal or an open descriptor."""
    match = _DESCRIPTOR.fullmatch(path)
    target: int | str = path
    if match:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        number = {'out': 1, 'err': 2}.get(match[1]) or int(match[2])
        target = os.dup(number)
    with open(source, 'rb') as read, open(target, 'wb') as written:
        shutil.copyfileobj(read, written)


def _host() -> str:
    return hashlib.sha256(platform.node().encode()).hexdigest()[:6]


def _sweep(folder: Path) -> None:
    """Remove, once per folder, the temporary files of killed processes."""
    if folder in _swept or os.name != 'posix':
        return
    _swept.add(folder)
    for name in os.listdir(folder):
        match = _LEFTOVER.fullmatch(name)
        if match and match[1] == _host() and not _runs(int(match[2])):
            (folder / name).unlink(missing_ok=True)


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    return True


@contextlib.contextmanager
def locked(folder: PathLike, tell: Callable[[str], None]) -> Iterator[None]:
    """Let one process at a time work in a folder; the others wait.

    Args:
        folder: an existing folder. Nothing is written into it. A thread
            that has locked it may lock it again.
        tell: called with a sentence if there is another process to wait
            for, or if the file system knows no locks.
    """
    place = os.path.realpath(folder)
    held: set[str] = _held.__dict__.setdefault('folders', set())
    if fcntl is None or place in held:
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    held.add(place)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            tell(f'Another process is at work in {folder}; waiting for it.')
            fcntl.flock(handle, fcntl.LOCK_EX)
        except OSError:  # a network file system without locks
            tell(f'{folder} cannot be locked; start one command at a time.')
        yield
    finally:
        held.discard(place)
        os.close(handle)


def write_text(path: PathLike, text: str) -> None:
    """Write UTF-8 ``text`` to ``path`` whole or not at all."""
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding='utf-8')


def write_json(path: PathLike, value: Any, indent: int | None = None) -> None:
    """Write ``value`` as strict JSON (no NaN) to ``path``, whole or not.

    Raises:
        ValueError: if ``value`` holds a NaN or an infinity, which JSON has
            no word for; write ``None`` for an undefined number instead.
    """
    try:
        text = json.dumps(value, indent=indent, allow_nan=False)
    except ValueError as error:
        raise ValueError(
            f'Expected finite numbers to write to {path}, but there is a NaN '
            'or an infinity, which JSON cannot hold.'
        ) from error
    write_text(path, text + '\n')


def read_json(
    path: PathLike,
    what: str,
    object_hook: Callable[[dict[str, Any]], Any] | None = None,
    replaceable: bool = False,
) -> Any:
    """Parse a JSON file, or say in one sentence why it cannot be read.

    Args:
        path: the file; may be compressed with gzip.
        what: what the file should be, for the error message, such as
            ``'ground truth (a COCO annotation file)'``.
        object_hook: called with each JSON object as soon as it is read; its
            result stands in for the object.
        replaceable: the command may write over the file; see
            :func:`kept_inputs`.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if the file is empty, cut short or not JSON.
    """
    file = Path(path)
    if not file.is_file():
        found = 'a folder' if file.is_dir() else 'no such file'
        raise FileNotFoundError(
            f'Expected {what} at {file}, but there is {found}.'
        )
    if not replaceable:
        keep(file)
    data = file.read_bytes()
    if data[:2] == _GZIP:
        data = _unzipped(data, what, file)
    if not data.strip():
        raise ValueError(f'Expected {what} in {file}, but the file is empty.')
    try:
        return json.loads(data, object_hook=object_hook)
    except RecursionError as error:
        raise ValueError(
            f'Expected {what} in {file}, but its lists and objects lie in '
            'each other too deep to be read.'
        ) from error
    except UnicodeDecodeError as error:
        raise ValueError(
            f'Expected {what} in {file}, but the file is not UTF-8 text '
            f'({error.reason} at byte {error.start}).'
        ) from error
    except json.JSONDecodeError as error:
        raise ValueError(
            f'Expected {what} in {file}, but it is not valid JSON: '
            f'{error.msg.removesuffix(" at")} at line {error.lineno}, column '
            f'{error.colno}'
            f'{_where_it_ends(error)}.'
        ) from error
    except ValueError as error:  # Python reads no integer of 5,000 digits
        raise ValueError(
            f'Expected {what} in {file}, but it holds a number that cannot '
            f'be read ({str(error).split(";")[0]}).'
        ) from error


def _unzipped(data: bytes, what: str, file: Path) -> bytes:
    """Unpack gzip data that does not grow beyond what JSON can."""
    limit = max(_UNZIPPED, _GROWTH * len(data))
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
            text = stream.read(limit + 1)
    except (EOFError, OSError, zlib.error) as error:
        raise ValueError(
            f'Expected {what} in {file}, but its gzip data is damaged: '
            f'{error}.'
        ) from error
    if len(text) > limit:
        raise ValueError(
            f'Expected {what} in {file}, but it unpacks to over '
            f'{limit >> 20:,} MiB, more than {_GROWTH} times its size.'
        )
    return text


def _where_it_ends(error: json.JSONDecodeError) -> str:
    """Say so where the text stops in the middle."""
    inside_string = error.msg.startswith('Unterminated string')
    if error.doc[error.pos :].strip() and not inside_string:
        return ''
    return '; the file was not written to its end'


def file_digest(path: PathLike, algorithm: str = 'sha256') -> str:
    """Return the hexadecimal digest of a file, read in blocks."""
    digest = hashlib.new(algorithm)
    with open(path, 'rb') as stream:
        while block := stream.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
