"""Unpacking a ``tar.gz`` from the internet without trusting it."""

from __future__ import annotations

import contextlib
import gzip
import os
import re
import tarfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Iterator, Optional, cast

from mmdet_cppe5.progress import progress_bar
from mmdet_cppe5.files import PathLike

_BLOCK = 1 << 18

# tarfile's searches of an extended header take time in the square of its
# length: half a second for 16 KiB.
_HEADER_BYTES = 1 << 15
_HEADER_WORK = 1 << 33


@dataclass(frozen=True)
class Limits:
    """What an archive may hold; CPPE-5's own is far below each.

    Attributes:
        members: entries of any kind.
        member_bytes: unpacked size of one file.
        total_bytes: unpacked size of all files.
    """

    members: int = 10_000
    member_bytes: int = 100 << 20
    total_bytes: int = 2 << 30


def unpack(
    archive: PathLike,
    folder: PathLike,
    wanted: str,
    limits: Optional[Limits] = None,
    progress: bool = True,
) -> list[str]:
    """Unpack the wanted files of a ``tar.gz`` into a folder.

    Names, kinds and sizes are judged before a byte of the entry is written,
    and files are written without the archive's owners, modes and links.

    Args:
        archive: the ``tar.gz`` file.
        folder: where to put the files; made if missing.
        wanted: a regular expression that the whole of an entry's name (with
            ``/``, without a leading ``./``) must match to be unpacked. It
            should not admit more than plain names in known folders.
        limits: what to accept at most.
        progress: show a bar on a terminal.

    Returns:
        The names of the entries that were left out as not wanted.

    Raises:
        ValueError: if the archive is cut short or damaged, holds a link, a
            device, a repeated or an unsafe name, or passes a limit. Files
            that were unpacked before that stay; the caller removes them.
        RuntimeError: if this Python is too old to judge entries.
    """
    if not hasattr(tarfile, 'data_filter'):
        raise RuntimeError(
            'Expected Python 3.9.17, 3.10.12, 3.11.4 or later, whose tarfile '
            'can tell safe entries from unsafe ones. Update Python, or '
            'unpack the archive by hand.'
        )
    try:
        with gzip.open(archive) as stream:
            entries = _entries(_Forward(stream))
            left_out = _unpack_all(
                entries, Path(folder), wanted, limits or Limits(), progress
            )
            _read_to_end(stream)
            return left_out
    except (EOFError, zlib.error, gzip.BadGzipFile, tarfile.TarError) as error:
        raise ValueError(
            f'Expected a whole tar.gz archive in {archive}, but it is cut '
            f'short or damaged ({error}).'
        ) from error


def _read_to_end(stream: gzip.GzipFile) -> None:
    """Read the padding, so that gzip compares its checksum.

    tarfile takes a damaged header for the end and leaves the rest unread.
    """
    for _ in range(16):
        block = stream.read(_BLOCK)
        if not block:
            return
        if block.strip(b'\0'):
            raise tarfile.ReadError('a damaged header')
    raise tarfile.ReadError('megabytes after the last entry')


class _Forward:
    """A stream for ``tarfile`` that only goes forward, in bounded steps.

    An entry that claims to end before it begins would be read for ever, and
    an extended header is read whole, of whatever length the archive claims.
    """

    def __init__(self, stream: gzip.GzipFile) -> None:
        self._stream = stream
        self._work = 0
        self.in_header = True
        self.tell = stream.tell

    def seek(self, position: int) -> int:
        """Skip bytes, as GzipFile does; refuse to read any twice."""
        if position < self.tell():
            raise tarfile.ReadError('an entry that leads back')
        return self._stream.seek(position)

    def read(self, size: int) -> bytes:
        """Read bytes; count those of headers."""
        if self.in_header:
            if not 0 <= size <= _HEADER_BYTES:
                raise tarfile.ReadError(f'a header of {size:,} bytes')
            self._work += size**2
            if self._work > _HEADER_WORK:
                raise tarfile.ReadError('too many long headers')
        return self._stream.read(size)


def _entries(
    stream: _Forward,
) -> Iterator[tuple[tarfile.TarFile, tarfile.TarInfo]]:
    """Yield the archive's entries, ready to be extracted."""
    with _one_error():
        tar = tarfile.open(fileobj=cast(IO[bytes], stream), mode='r:')
    with tar:
        while True:
            stream.in_header = True
            with _one_error():
                member = tar.next()
            if member is None:
                return
            stream.in_header = False
            yield tar, member


@contextlib.contextmanager
def _one_error() -> Iterator[None]:
    """Raise what ``tarfile`` lets through for odd headers as its own error.

    Numbers beyond all sizes are an ``OverflowError`` there, letters for a
    number a ``ValueError``, a header of a header of a header a
    ``RecursionError``.
    """
    try:
        yield
    except (
        ArithmeticError, LookupError, RecursionError, TypeError, ValueError
    ) as error:  # fmt: skip
        raise tarfile.ReadError(
            f'a header that tarfile cannot read: {error}'[:200]
        ) from error


def _unpack_all(
    entries: Iterator[tuple[tarfile.TarFile, tarfile.TarInfo]],
    folder: Path,
    wanted: str,
    limits: Limits,
    progress: bool,
) -> list[str]:
    left_out = []
    seen: set[str] = set()
    total = 0
    bar = progress_bar(progress, desc='Unpacking', unit=' files')
    for count, (tar, member) in enumerate(entries, start=1):
        name = _plain_name(member, folder)
        total += member.size
        _check_limits(name, member.size, total, count, limits)
        if member.isdir():
            continue
        if name in seen:
            raise ValueError(
                f'Expected one {name!r:.200} in the archive, not two.'
            )
        seen.add(name)
        if re.fullmatch(wanted, name):
            tar.extract(member, folder, set_attrs=False, filter='data')
            bar.update()
        else:
            left_out.append(name)
    bar.close()
    return left_out


def _plain_name(member: tarfile.TarInfo, folder: Path) -> str:
    """Return the entry's name, if it is a file or folder inside.

    The standard library's filter for data judges names and kinds; links
    inside the folder and names that only Windows takes for paths pass it.
    """
    plain = member.type in (tarfile.REGTYPE, tarfile.AREGTYPE)
    if not (plain and not member.issparse()) and not member.isdir():
        raise ValueError(
            f'Expected only files and folders in the archive, but '
            f'{member.name!r:.200} is a link, a device or another special '
            'entry.'
        )
    name = ''
    if not set(member.name) & set('\\:\0'):
        with contextlib.suppress(tarfile.FilterError):
            name = tarfile.data_filter(member, os.fspath(folder)).name
    # The filter takes '/x' for 'x'.
    if not name or name != member.name:
        raise ValueError(
            f'Expected only names inside the archive, but it holds '
            f'{member.name!r:.200}.'
        )
    while name.startswith('./'):
        name = name[2:]
    return name


def _check_limits(
    name: str, size: int, total: int, count: int, limits: Limits
) -> None:
    if size < 0:
        raise ValueError(
            f'Expected {name!r:.200} in the archive to have a size, but it '
            f'has {size:,} bytes.'
        )
    for what, value, most in (
        (f'{name!r:.200} in the archive has', size, limits.member_bytes),
        ('The files of the archive have', total, limits.total_bytes),
    ):
        if value > most:
            raise ValueError(
                f'{what} {value:,} bytes unpacked, more than the {most:,} '
                'that are accepted.'
            )
    if count > limits.members:
        raise ValueError(
            f'The archive holds more than the {limits.members:,} entries '
            'that are accepted.'
        )
