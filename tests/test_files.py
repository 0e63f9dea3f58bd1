import hashlib
import json
import os
import stat

import pytest

from mmdet_cppe5.files import (
    atomic_path,
    file_digest,
    read_json,
    write_json,
    write_text,
)


def test_a_failed_write_leaves_what_was_there(tmp_path):
    path = tmp_path / 'scores.json'
    write_text(path, 'old')
    with pytest.raises(UnicodeEncodeError), atomic_path(path) as temporary:
        temporary.write_text('half of the n\udcff', encoding='utf-8')
    assert path.read_text() == 'old'
    assert os.listdir(tmp_path) == ['scores.json']


def test_a_write_makes_folders_and_replaces_in_one_step(tmp_path):
    path = tmp_path / 'a' / 'b' / 'scores.json'
    write_text(path, 'old')
    with atomic_path(path) as temporary:
        assert temporary.suffix == '.json'
        temporary.write_text('new')
        assert path.read_text() == 'old'
    assert path.read_text() == 'new'
    assert os.listdir(path.parent) == ['scores.json']


def test_files_have_the_usual_mode(tmp_path):
    old = os.umask(0o027)
    try:
        write_text(tmp_path / 'x', 'text')
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / 'x').stat().st_mode) == 0o640


def test_a_name_as_long_as_file_systems_allow(tmp_path):
    path = tmp_path / ('n' * 250 + '.json')
    write_text(path, 'text')
    assert path.read_text() == 'text'


def test_json_has_no_word_for_nan(tmp_path):
    path = tmp_path / 'x.json'
    with pytest.raises(ValueError, match='JSON has no word for'):
        write_json(path, {'AP': float('nan')})
    assert os.listdir(tmp_path) == []
    write_json(path, {'AP': None, 'größe': 1 / 3})
    assert json.loads(path.read_text()) == {'AP': None, 'größe': 1 / 3}


@pytest.mark.parametrize(
    ('content', 'message'),
    [
        (b' \n', r'but the file is empty\.'),
        (b'{"a": [1, 2', 'the file was not written to its end'),
        (b'{"a": [1, "bc', 'the file was not written to its end'),
        (b'{"a": 1} x', r'Extra data at line 1, column 10\.'),
        (b'\xff\xfe{}', r'not valid|not UTF-8'),
    ],
)
def test_what_is_wrong_with_a_json_file(tmp_path, content, message):
    path = tmp_path / 'x.json'
    path.write_bytes(content)
    with pytest.raises(ValueError, match=message) as caught:
        read_json(path, 'a ground truth')
    assert str(caught.value).startswith(f'Expected a ground truth in {path}')


def test_no_file_and_a_folder(tmp_path):
    with pytest.raises(FileNotFoundError, match='there is no such file'):
        read_json(tmp_path / 'x.json', 'a ground truth')
    with pytest.raises(FileNotFoundError, match='there is a folder'):
        read_json(tmp_path, 'a ground truth')


def test_digest_of_more_than_one_block(tmp_path):
    data = bytes(range(256)) * 8192  # 2 MiB, two blocks
    (tmp_path / 'x').write_bytes(data)
    assert file_digest(tmp_path / 'x') == hashlib.sha256(data).hexdigest()
    assert file_digest(tmp_path / 'x', 'md5') == hashlib.md5(data).hexdigest()
