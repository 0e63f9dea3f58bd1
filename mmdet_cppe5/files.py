"""Reading JSON and writing files so that nothing is ever half-written."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import io
import json
import os
import secrets
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Union

_GZIP = b'\x1f\x8b'
_UNZIPPED = 64 << 20  # bytes that any gzip file may unpack to
_GROWTH = 100  # else so many times its size; JSON of boxes has about 10

PathLike = Union[str, 'os.PathLike[str]']


@contextlib.contextmanager
def atomic_path(path: PathLike) -> Iterator[Path]:
    """Yield a temporary path that becomes ``path`` when the block succeeds.

    The temporary file lies in the target's own folder, so the final rename
    cannot cross file systems. When the block raises, the temporary file is
    removed and ``path`` keeps what it held before.

    Args:
        path: the file to write; missing parent folders are made.

    Yields:
        The path to write to; nothing is there yet.
    """
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(
        f'.{target.stem[:64]}.{secrets.token_hex(8)}{target.suffix}'
    )
    try:
        yield temporary
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def check_not_input(path: PathLike | None, inputs: Iterable[PathLike]) -> None:
    """Refuse to write over a file that is read.

    Args:
        path: the file to write; None for none.
        inputs: the files that are read.

    Raises:
        ValueError: if the file is one of them.
    """
    if path is None or not Path(path).exists():
        return
    for each in inputs:
        if Path(each).exists() and Path(path).samefile(each):
            raise ValueError(
                f'Expected an output that is no input, but {path} is read '
                'too: choose another name.'
            )


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
            'or an infinity, which JSON has no word for.'
        ) from error
    write_text(path, text + '\n')


def read_json(
    path: PathLike,
    what: str,
    object_hook: Callable[[dict[str, Any]], Any] | None = None,
) -> Any:
    """Parse a JSON file, or say in one sentence why it cannot be read.

    Args:
        path: the file; may be compressed with gzip.
        what: what the file should be, for the error message, such as
            ``'ground truth (a COCO annotation file)'``.
        object_hook: called with each JSON object as soon as it is read; its
            result stands in for the object.

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
            f'{error.msg} at line {error.lineno}, column {error.colno}'
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
