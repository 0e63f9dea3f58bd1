"""Unpacking judges every entry before it writes it."""

import gzip
import io
import tarfile

import pytest
from tiny_release import tar_gz

from mmdet_cppe5.data.archive import Limits, unpack

WANTED = r'images/\w+\.png'


@pytest.fixture
def unpacked(tmp_path):
    def run(content, **limits):
        raw = content if isinstance(content, bytes) else tar_gz(content)
        path = tmp_path / 'a.tar.gz'
        path.write_bytes(raw)
        left_out = unpack(path, tmp_path / 'out', WANTED, Limits(**limits))
        return tmp_path / 'out', left_out

    return run


def entry(name, kind=tarfile.REGTYPE, **fields):
    info = tarfile.TarInfo(name)
    info.type = kind
    for key, value in fields.items():
        setattr(info, key, value)
    return info


def test_wanted_files_come_out_and_others_are_named(unpacked):
    folder, left_out = unpacked(
        [
            (entry('images', tarfile.DIRTYPE), None),
            ('./images/1.png', b'one'),
            ('images/._1.png', b'a Mac was here'),
            ('images/sub/2.png', b'two'),
            ('README', b'hello'),
        ]
    )
    assert (folder / 'images/1.png').read_bytes() == b'one'
    assert left_out == ['images/._1.png', 'images/sub/2.png', 'README']
    assert [p.name for p in folder.rglob('*')] == ['images', '1.png']


@pytest.mark.parametrize(
    'bad',
    [
        '../1.png',
        '/images/1.png',
        'images/../../1.png',
        'images\\1.png',
        'C:1.png',
    ],
)
def test_no_name_leads_outside(unpacked, tmp_path, bad):
    with pytest.raises(ValueError, match='names inside the archive'):
        unpacked({bad: b'x'})
    assert [p.name for p in tmp_path.iterdir()] == ['a.tar.gz']


@pytest.mark.parametrize(
    'kind',
    [
        tarfile.SYMTYPE,
        tarfile.LNKTYPE,
        tarfile.CHRTYPE,
        tarfile.BLKTYPE,
        tarfile.FIFOTYPE,
    ],
)
def test_no_links_and_devices(unpacked, kind):
    bad = entry('images/1.png', kind, linkname='/etc/passwd')
    with pytest.raises(ValueError, match='link, a device'):
        unpacked([(bad, None)])


def test_no_sparse_files(unpacked):
    """A sparse entry claims gigabytes that it does not hold."""
    bad = entry('images/1.png')
    bad.pax_headers = {
        'GNU.sparse.major': '1',
        'GNU.sparse.minor': '0',
        'GNU.sparse.name': 'images/1.png',
        'GNU.sparse.realsize': str(1 << 40),
    }
    data = b'1\n0\n1\n'.ljust(512, b'\0') + b'x'
    with pytest.raises(ValueError, match='special entry'):
        unpacked([(bad, data)])


def test_a_name_comes_once(unpacked):
    with pytest.raises(ValueError, match=r"Expected one 'images/1\.png'"):
        unpacked([('images/1.png', b'a'), ('./images/1.png', b'b')])


def test_limits(unpacked):
    three = {f'images/{k}.png': b'12345' for k in range(3)}
    assert unpacked(three, members=3, member_bytes=5, total_bytes=15)


@pytest.mark.parametrize(
    ('limits', 'text'),
    [
        ({'members': 2}, 'more than the 2 entries'),
        ({'member_bytes': 4}, "'images/0.png' in the archive has 5 bytes"),
        ({'total_bytes': 14}, 'have 15 bytes unpacked, more than the 14'),
    ],
)
def test_beyond_limits(unpacked, limits, text):
    three = {f'images/{k}.png': b'12345' for k in range(3)}
    with pytest.raises(ValueError, match=text):
        unpacked(three, **limits)


def test_a_bomb_is_refused_before_it_goes_off(unpacked):
    """1 GiB of zeros in about 1 MB; unpacked, an image of nothing."""
    info = entry('images/1.png', size=1 << 30)
    stream = io.BytesIO()
    with gzip.GzipFile(fileobj=stream, mode='wb', compresslevel=1) as out:
        out.write(info.tobuf())
        for _ in range(64):
            out.write(bytes(1 << 20))
    with pytest.raises(ValueError, match='1,073,741,824 bytes unpacked'):
        unpacked(stream.getvalue())


def test_a_bomb_in_a_header_is_refused(unpacked):
    """tarfile would read this extended header into memory whole."""
    info = entry('pax', tarfile.XHDTYPE, size=1 << 31)
    raw = gzip.compress(info.tobuf() + bytes(1 << 20))
    with pytest.raises(ValueError, match='a header of 2,147,483,648 bytes'):
        unpacked(raw)


def chained(kind, content, count=1):
    """Return ``count`` extended headers of one another, and a file."""
    info = entry('pax', kind, size=len(content))
    header = info.tobuf() + content + bytes(-len(content) % 512)
    return gzip.compress(header * count + entry('x').tobuf() + bytes(1024), 1)


PAX, LONG = tarfile.XHDTYPE, tarfile.GNUTYPE_LONGNAME


@pytest.mark.parametrize(
    ('raw', 'cause'),
    [
        (chained(PAX, b'17 path=x'), ''),  # longer than the header
        (chained(PAX, b'9' * 30 + b' path=images/1.png\n'), 'too large'),
        (chained(PAX, b'9' * 5000 + b' path=images/1.png\n'), 'string'),
        (chained(PAX, b'12 size=-512\n'), ''),
        (chained(PAX, b'20 GNU.sparse.map=x\n'), ''),
        (chained(PAX, b'18 path=images/1.png\n', 3000), 'recursion'),
        (chained(LONG, b'images/1.png\0', 3000), 'recursion'),
        (chained(tarfile.XGLTYPE, b'8 a=b\n\n', 3000), ''),
        (chained(PAX, b'1' * 40_000), 'a header of'),
        (chained(tarfile.GNUTYPE_SPARSE, b'x' * 600), ''),
    ],
)
def test_odd_extended_headers(unpacked, raw, cause):
    """What tarfile says of these is no ``TarError``, or nothing at all."""
    with pytest.raises(ValueError, match=f'archive.*{cause}'):
        unpacked(raw)


def test_headers_are_bounded_together(unpacked):
    """Each takes tarfile a moment, thousands of them would take hours."""
    long = b'30000 a='.ljust(29_999, b'x') + b'\n'
    assert unpacked(chained(tarfile.XGLTYPE, long, 5))
    with pytest.raises(ValueError, match='too many long headers'):
        unpacked(chained(tarfile.XGLTYPE, long, 20))


def test_no_entry_leads_back(unpacked):
    """A size below zero would make tarfile read an entry for ever."""
    info = entry('images')
    info.type = tarfile.DIRTYPE
    header = bytearray(info.tobuf())
    header[124:136] = b'\xff' * 10 + b'\xfc\x00'  # -1024 in base 256
    header[148:156] = b' ' * 8
    header[148:156] = b'%06o\0 ' % sum(header)
    with pytest.raises(ValueError, match='leads back|to have a size|damaged'):
        unpacked(gzip.compress(bytes(header) + bytes(1024)))


def test_a_damaged_header_is_no_end(unpacked):
    raw = bytearray(gzip.decompress(tar_gz({f'{k}.png': b'x' for k in 'ab'})))
    raw[1024] ^= 1  # the second header's name
    with pytest.raises(ValueError, match='a damaged header'):
        unpacked(gzip.compress(bytes(raw)))


RAW = tar_gz({'images/1.png': bytes(range(256)) * 300})


@pytest.mark.parametrize(
    'raw',
    [
        RAW[: len(RAW) // 2],
        RAW[:-9] + b'?' + RAW[-8:],
        RAW[:-8] + bytes(4) + RAW[-4:],  # the checksum itself
        RAW + gzip.compress(bytes(5 << 20)),
        b'not a tar.gz at all',
    ],
)
def test_a_cut_or_spoilt_archive(unpacked, raw):
    with pytest.raises(ValueError, match='cut short or damaged'):
        unpacked(raw)
