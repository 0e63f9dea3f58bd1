"""Reading what ``torch.save`` wrote, from the file's own sizes.

``torch.load`` believes the sizes that a pickle claims: depending on its
version it makes room for them, or reads past the end of a record. Here
every size is compared with the file first. Two forms exist: since PyTorch
1.6 a zip archive with ``data.pkl`` and one record for each storage, before
that five pickles followed by the storages.
"""

from __future__ import annotations

import io
import os
import struct
import sys
import zipfile
from typing import IO, Any, Callable, Optional

import torch

from mmdet_cppe5.engine.demands import need
from mmdet_cppe5.engine.inert import Storage
from mmdet_cppe5.engine.safe_pickle import MOST_BYTES, Unpickler

Restore = Callable[[torch.UntypedStorage, str], torch.UntypedStorage]

ZIP_MAGIC = b'PK\x03\x04'
_MAGIC_NUMBER = 0x1950A86A20F9469CFC6C
_PROTOCOL = 1001
_BLOCK = 4 << 20


def read_torch_file(stream: IO[bytes], map_location: Any = None) -> Any:
    """Read a file that ``torch.save`` wrote, without executing anything.

    Args:
        stream: the file, from its beginning; it must be seekable.
        map_location: where tensors go; as ``torch.load`` takes it.

    Raises:
        ValueError: if it is none, is damaged, or asks for anything but data.
            Arbitrary bytes may also end in other exceptions.
    """
    size = stream.seek(0, os.SEEK_END)
    stream.seek(0)
    restore = torch.serialization._get_restore_location(map_location)
    magic = stream.read(len(ZIP_MAGIC))
    stream.seek(0)
    if magic == ZIP_MAGIC:
        return _read_zip(stream, size, restore)
    need(magic[:1] == b'\x80', 'no pickle')
    return _read_legacy(stream, size, restore)


def _unpickle(stream: IO[bytes], look_up: Callable[[tuple], Storage]) -> Any:
    unpickler = Unpickler(stream, encoding='utf-8')
    unpickler.persistent_load = look_up
    return unpickler.load()


def _claim(saved: tuple, fields: int) -> tuple[torch.dtype, str, str, int]:
    """Return type, key, place and number of bytes of a claimed storage."""
    need(len(saved) == fields, 'a broken storage')
    _, kind, key, place, count = saved[:5]
    if isinstance(place, bytes):
        place = place.decode('ascii')
    need(
        type(key) is str and type(place) is str and len(place) < 64
        and type(count) is int and 0 <= count < 1 << 48,
        'a broken storage',
    )  # fmt: skip
    return kind.dtype, key, place, count * kind.dtype.itemsize


class _Bounded:
    """A stream that refuses to hand out a huge piece at once.

    :mod:`zipfile` reads the list of records whole.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.seek, self.tell = stream.seek, stream.tell
        self.seekable = stream.seekable

    def read(self, size: int = -1) -> bytes:
        need(size <= _BLOCK, 'a list of records that is too long')
        data = self._stream.read(_BLOCK + 1 if size < 0 else size)
        need(len(data) <= _BLOCK, 'a list of records that is too long')
        return data


def _read_zip(stream: IO[bytes], size: int, restore: Restore) -> Any:
    try:
        archive = zipfile.ZipFile(_Bounded(stream))
    except zipfile.BadZipFile as error:
        raise ValueError(f'it is cut short or damaged ({error})') from error
    records = _records(archive, size)
    pickles = [name for name in records if name.endswith('/data.pkl')]
    need(len(pickles) == 1, f'{len(pickles)} pickles named data.pkl')
    folder = pickles[0][: -len('data.pkl')]
    _check_byte_order(archive, records.get(f'{folder}byteorder'))
    storages: dict[str, torch.UntypedStorage] = {}

    def look_up(saved: tuple) -> Storage:
        dtype, key, place, nbytes = _claim(saved, 5)
        if key not in storages:
            record = records.get(f'{folder}data/{key}')
            need(record is not None, f'no record of the storage {key!r:.40}')
            need(
                record.file_size == nbytes,
                f'{record.file_size:,} bytes of the storage {key!r:.40}, '
                f'not {nbytes:,}',
            )
            with archive.open(record) as source:
                storages[key] = restore(_read_storage(source, nbytes), place)
        need(storages[key].nbytes() == nbytes, 'a storage of two sizes')
        return Storage(storages[key], dtype)

    with archive:
        program = _read_pickle(archive, records[pickles[0]])
        return _unpickle(program, look_up)


def _read_pickle(
    archive: zipfile.ZipFile, record: zipfile.ZipInfo
) -> io.BytesIO:
    need(
        record.file_size <= MOST_BYTES,
        f'a pickle of {record.file_size:,} bytes',
    )
    with archive.open(record) as source:
        return io.BytesIO(b''.join(iter(lambda: source.read(_BLOCK), b'')))


def _records(
    archive: zipfile.ZipFile, size: int
) -> dict[str, zipfile.ZipInfo]:
    """Return the records by name, if they fit into the file unpacked."""
    records: dict[str, zipfile.ZipInfo] = {}
    for record in archive.infolist():
        name = record.filename
        need(name not in records, f'two records {name!r:.80}')
        if '/code/' in name or name.endswith('/constants.pkl'):
            raise ValueError('it is a TorchScript program')
        need(
            record.compress_type == zipfile.ZIP_STORED
            and record.file_size == record.compress_size
            and not record.flag_bits & 1,
            f'the compressed record {name!r:.80}',
        )
        records[name] = record
    total = sum(record.file_size for record in records.values())
    need(total <= size, f'records of {total:,} bytes in a file of {size:,}')
    return records


def _check_byte_order(
    archive: zipfile.ZipFile, record: Optional[zipfile.ZipInfo]
) -> None:
    if record is None:
        return
    need(record.file_size < 16, 'a broken byte order')
    order = archive.read(record)
    need(
        order == sys.byteorder.encode(),
        f'numbers in the byte order {order!r}, not {sys.byteorder}',
    )


def _read_storage(source: IO[bytes], nbytes: int) -> torch.UntypedStorage:
    """Read a storage in blocks; the caller knows that the bytes exist."""
    whole = torch.empty(nbytes, dtype=torch.uint8)
    view = memoryview(whole.numpy())
    for start in range(0, nbytes, _BLOCK):
        block = source.read(min(_BLOCK, nbytes - start))
        need(len(block) == min(_BLOCK, nbytes - start), 'less than it claims')
        view[start : start + len(block)] = block
    return whole.untyped_storage()


def _read_legacy(stream: IO[bytes], size: int, restore: Restore) -> Any:
    """Read the older form.

    The storages come after the pickle that names them. It is read once to
    find them, and once more with them in hand.
    """

    def refuse(saved: tuple) -> Storage:
        raise ValueError('it has a tensor outside its main pickle')

    need(_unpickle(stream, refuse) == _MAGIC_NUMBER, 'no checkpoint')
    need(_unpickle(stream, refuse) == _PROTOCOL, 'another protocol')
    _unpickle(stream, refuse)  # the sizes of C types where it was written
    start = stream.tell()
    claims: dict[str, tuple[torch.dtype, str, int]] = {}
    blank: dict[str, torch.UntypedStorage] = {}
    claimed = 0

    def note(saved: tuple) -> Storage:
        need(saved[5:] == (None,), 'a view of a storage')
        dtype, key, place, nbytes = _claim(saved, 6)
        if key not in claims:
            claims[key] = dtype, place, nbytes
            nonlocal claimed
            claimed += nbytes
            need(claimed <= size, f'{claimed:,} bytes in a file of {size:,}')
            blank[key] = torch.UntypedStorage(nbytes)
        need(claims[key][0] == dtype, 'a storage of two types')
        need(claims[key][2] == nbytes, 'a storage of two sizes')
        return Storage(blank[key], dtype)

    _unpickle(stream, note)
    blank.clear()
    storages = _legacy_storages(stream, claims, restore)
    stream.seek(start)

    def look_up(saved: tuple) -> Storage:
        dtype, key, _, _ = _claim(saved, 6)
        return Storage(storages[key], dtype)

    return _unpickle(stream, look_up)


def _legacy_storages(
    stream: IO[bytes],
    claims: dict[str, tuple[torch.dtype, str, int]],
    restore: Restore,
) -> dict[str, torch.UntypedStorage]:
    def refuse(saved: tuple) -> Storage:
        raise ValueError('it has a tensor outside its main pickle')

    keys = _unpickle(stream, refuse)
    known = type(keys) is list and all(type(key) is str for key in keys)
    need(known and sorted(keys) == sorted(claims), 'other storages than named')
    storages = {}
    for key in keys:
        dtype, place, nbytes = claims[key]
        (count,) = struct.unpack('<q', stream.read(8))
        need(count * dtype.itemsize == nbytes, 'a storage of two sizes')
        storages[key] = restore(_read_storage(stream, nbytes), place)
    return storages
