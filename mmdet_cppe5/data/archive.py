"""Unpacking a ``tar.gz`` from the internet without trusting it."""

from __future__ import annotations

import gzip
import os
import re
import tarfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Optional, cast

from mmdet_cppe5.progress import progress_bar
from mmdet_cppe5.files import PathLike

_BLOCK = 1 << 18


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
            careful = cast(IO[bytes], _Careful(stream))
            with tarfile.open(fileobj=careful, mode='r:') as tar:
                left_out = _unpack_all(
                    tar, Path(folder), wanted, limits or Limits(), progress
                )
            _read_to_end(stream)
            return left_out
    except (EOFError, zlib.error, gzip.BadGzipFile, tarfile.TarError) as error:
        raise ValueError(
            f'Expected a whole tar.gz archive in {archive}, but it is cut '
            f'short or damaged ({error}).'
        ) from error


def _read_to_end(stream: gzip.GzipFile) -> None:
    """Read the padding, so that gzip compares its checksum."""
    for _ in range(16):
        if not stream.read(_BLOCK):
            return
    raise tarfile.ReadError('megabytes after the last entry')


class _Careful:
    """A stream that refuses to hand out a huge piece at once.

    ``tarfile`` reads an entry's extended header whole, of whatever length
    the archive claims; the files' own data is read in small blocks here.
    """

    def __init__(self, stream: gzip.GzipFile) -> None:
        self._stream = stream
        self.seek, self.tell = stream.seek, stream.tell

    def read(self, size: int = -1) -> bytes:
        if not 0 <= size <= 1 << 20:
            raise tarfile.ReadError(f'a header of {size:,} bytes')
        return self._stream.read(size)


def _unpack_all(
    tar: tarfile.TarFile,
    folder: Path,
    wanted: str,
    limits: Limits,
    progress: bool,
) -> list[str]:
    left_out = []
    seen: set[str] = set()
    total = 0
    bar = progress_bar(progress, desc='Unpacking', unit=' files')
    for count, member in enumerate(tar, start=1):
        name = _plain_name(member, folder)
        total += member.size
        _check_limits(name, member.size, total, count, limits)
        if member.isdir():
            continue
        if name in seen:
            raise ValueError(f'Expected one {name} in the archive, not two.')
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
    try:
        name = tarfile.data_filter(member, os.fspath(folder)).name
    except tarfile.FilterError:
        name = ''
    # The filter takes '/x' for 'x'.
    if name != member.name or set(name) & set('\\:\0'):
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
    for what, value, most in (
        (f'{name} in the archive has', size, limits.member_bytes),
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
