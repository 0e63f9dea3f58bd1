"""Downloads against a local server that behaves as badly as real ones."""

import hashlib
import os
import threading

import pytest
from faulty_server import faulty_server

from mmdet_cppe5.download import RemoteFile, download, google_drive

BODY = bytes(range(256)) * 4096  # 1 MiB; a third of it is 349,525 bytes
SHA = hashlib.sha256(BODY).hexdigest()
MD5 = hashlib.md5(BODY).hexdigest()


@pytest.fixture
def server():
    with faulty_server(blob=BODY) as server:
        yield server


@pytest.fixture
def fetch(server, tmp_path):
    """Download from the given faults in order; return path and reports."""

    def run(*faults, folder=tmp_path, **fields):
        urls = tuple(f'{server.url}/{fault}/blob' for fault in faults)
        fields = {'size': len(BODY), 'sha256': SHA, 'md5': MD5, **fields}
        file = RemoteFile('blob', urls, **fields)
        said = []
        path = download(
            file, folder, retries=2, timeout=5, wait=0.01,
            report=said.append, progress=False,
        )  # fmt: skip
        return path, said

    return run


def test_a_good_source_delivers_and_the_next_call_asks_nobody(fetch, server):
    path, said = fetch('good')
    assert path.read_bytes() == BODY
    assert said == []
    assert fetch('good')[0] == path
    assert server.requests == [('good', None)]
    assert os.listdir(path.parent) == ['blob']


def test_dropped_connections_are_resumed_where_they_broke(fetch, server):
    path, said = fetch('drops')
    assert path.read_bytes() == BODY
    assert [r for _, r in server.requests] == [
        None, 'bytes=349525-', 'bytes=699050-', 'bytes=1048575-',
    ]  # fmt: skip
    assert 'cut off after 349,525 of 1,048,576 bytes' in said[0]


def test_a_server_that_ignores_ranges_starts_over(fetch, server):
    path, _ = fetch('deaf')
    assert path.read_bytes() == BODY
    assert [r for _, r in server.requests] == [
        None, 'bytes=349525-', 'bytes=349425-',
    ]  # fmt: skip


def test_a_server_that_never_gets_further_is_given_up(fetch, server):
    with pytest.raises(ConnectionError, match='3 times in a row'):
        fetch('stuck')
    # Two that got further (349,425, then 349,525), three that did not.
    assert len(server.requests) == 2 + 3


def test_another_range_than_asked_is_not_stitched_in(fetch):
    path, said = fetch('shifted')
    assert path.read_bytes() == BODY
    assert any('another range' in sentence for sentence in said)


def test_wrong_bytes_are_refused_and_the_next_source_used(fetch, tmp_path):
    path, said = fetch('wrong', 'good')
    assert path.read_bytes() == BODY
    assert f'not {SHA}' in said[0]


@pytest.mark.parametrize(
    ('fault', 'fields', 'text'),
    [
        ('wrong', {}, 'sent another file: its sha256 is'),
        ('wrong', {'sha256': ''}, 'sent another file: its md5 is'),
        ('short', {}, 'has a file of 1,048,575 bytes, not 1,048,576'),
        ('endless', {}, 'sends more than 1,048,576 bytes'),
        ('page', {}, 'sends a web page instead of the file'),
        ('gone', {}, r'answers HTTP 404 .*\(gone, or not public\)'),
    ],
)
def test_what_the_source_did_is_said(fetch, tmp_path, fault, fields, text):
    with pytest.raises(ConnectionError, match=text):
        fetch(fault, **fields)
    assert not (tmp_path / 'blob').exists()


def test_every_source_is_named_and_what_to_do(fetch, tmp_path):
    with pytest.raises(ConnectionError) as caught:
        fetch('gone', 'page', 'wrong')
    text = str(caught.value)
    assert text.count('\n') == 4
    assert '/gone/' in text
    assert '/page/' in text
    assert '/wrong/' in text
    assert SHA in text
    assert str(tmp_path / 'blob') in text


def test_a_source_that_is_busy_is_asked_again(fetch, server):
    path, said = fetch('busy')
    assert path.read_bytes() == BODY
    assert [f for f, _ in server.requests] == ['busy'] * 3
    assert len(said) == 2


def test_no_server_at_all(tmp_path):
    file = RemoteFile('blob', ('http://127.0.0.1:9/blob',), 1)
    with pytest.raises(ConnectionError, match='no answer'):
        download(file, tmp_path, retries=0, wait=0.01)


def test_a_later_run_goes_on_where_an_earlier_one_stopped(
    fetch, server, tmp_path
):
    (tmp_path / 'blob.part').write_bytes(BODY[:1000])
    path, _ = fetch('good')
    assert path.read_bytes() == BODY
    assert server.requests == [('good', 'bytes=1000-')]


def test_a_spoilt_part_costs_one_more_download(fetch, server, tmp_path):
    (tmp_path / 'blob.part').write_bytes(b'?' * 1000)
    path, said = fetch('good')
    assert path.read_bytes() == BODY
    assert [r for _, r in server.requests] == ['bytes=1000-', None]
    assert 'starting over' in said[0]


@pytest.mark.parametrize('length', [len(BODY), len(BODY) + 5])
def test_a_part_as_long_as_the_file_or_longer(fetch, tmp_path, length):
    (tmp_path / 'blob.part').write_bytes(b'?' * length)
    assert fetch('good')[0].read_bytes() == BODY


def test_without_a_digest_no_old_part_is_trusted(fetch, server, tmp_path):
    (tmp_path / 'blob.part').write_bytes(BODY[:1000])
    path, _ = fetch('good', sha256='', md5='')
    assert path.read_bytes() == BODY
    assert server.requests == [('good', None)]


def test_a_broken_copy_is_replaced_and_reported(fetch, tmp_path):
    (tmp_path / 'blob').write_bytes(BODY[:-1] + b'?')
    path, said = fetch('good')
    assert path.read_bytes() == BODY
    assert 'is replaced: its sha256' in said[0]


def test_a_broken_copy_stays_when_no_source_delivers(fetch, tmp_path):
    (tmp_path / 'blob').write_bytes(b'old')
    with pytest.raises(ConnectionError):
        fetch('gone')
    assert (tmp_path / 'blob').read_bytes() == b'old'


def test_the_first_digits_of_a_digest_are_enough(fetch, tmp_path):
    assert fetch('good', sha256=SHA[:8])[0].read_bytes() == BODY
    wrong = ('0' if SHA[7] != '0' else '1').join([SHA[:7], ''])
    with pytest.raises(ConnectionError, match=f'not {wrong}'):
        fetch('good', sha256=wrong, folder=tmp_path / 'other')


def test_two_at_once_download_once(fetch, server):
    results = []
    threads = [
        threading.Thread(target=lambda: results.append(fetch('good')[0]))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [path.read_bytes() == BODY for path in results] == [True] * 4
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    'fields',
    [
        {'name': '../x'},
        {'name': ''},
        {'urls': ('file:///etc/passwd',)},
        {'sha256': 'abc'},
    ],
)
def test_a_description_that_makes_no_sense(fields):
    with pytest.raises(ValueError, match='Expected'):
        RemoteFile(**{'name': 'x', 'urls': ('https://x/x',), **fields})


def test_google_drive_address():
    assert 'id=abc&' in google_drive('abc')
    assert google_drive('abc').startswith('https://')
