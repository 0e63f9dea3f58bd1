import hashlib
import json
import os
import stat
import subprocess
import sys
import threading

import pytest

from mmdet_cppe5.files import (
    _swept,
    atomic_path,
    check_output,
    file_digest,
    kept_inputs,
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
    with pytest.raises(ValueError, match='which JSON cannot hold'):
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


def test_an_input_is_no_target_under_any_name(tmp_path):
    path = tmp_path / 'gt.json'
    path.write_text('{}')
    os.symlink(path, tmp_path / 'link.json')
    os.link(path, tmp_path / 'hard.json')
    with kept_inputs():
        read_json(path, 'a file')
        for name in ('gt.json', 'link.json', 'hard.json', 'x/../gt.json'):
            (tmp_path / 'x').mkdir(exist_ok=True)
            with pytest.raises(ValueError, match='is an input'):
                write_text(tmp_path / name, 'new')
    assert path.read_text() == '{}'
    with pytest.raises(ValueError, match='is an input'):
        check_output(tmp_path / 'hard.json', [path, tmp_path / 'no'])
    read_json(path, 'a file')
    write_text(path, 'new')  # outside of a command
    with kept_inputs():
        write_text(path, '{}')
        read_json(path, 'a file', replaceable=True)
        write_text(path, 'newer')


def test_a_link_stays_and_its_file_is_replaced(tmp_path):
    (tmp_path / 'far').mkdir()
    os.symlink('far/x.json', tmp_path / 'link')
    write_text(tmp_path / 'link', 'a')
    write_text(tmp_path / 'link', 'b')
    assert os.readlink(tmp_path / 'link') == 'far/x.json'
    assert (tmp_path / 'far' / 'x.json').read_text() == 'b'
    assert sorted(os.listdir(tmp_path)) == ['far', 'link']


def test_pipes_and_devices_get_the_bytes(tmp_path):
    pipe = tmp_path / 'pipe'
    os.mkfifo(pipe)
    got = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_text()))
    reader.start()
    write_text(pipe, 'hello')
    reader.join()
    assert got == ['hello']
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    write_text('/dev/null', 'x')
    assert stat.S_ISCHR(os.stat('/dev/null').st_mode)
    with pytest.raises(ValueError, match='is a folder'):
        write_text(tmp_path, 'x')


@pytest.mark.parametrize('kind', ['pipe', 'file'])
def test_standard_output_is_written_plainly(tmp_path, kind):
    code = (
        "from mmdet_cppe5.files import write_text; print('first');"
        "write_text('/dev/stdout', 'text\\n'); print('last')"
    )
    if kind == 'pipe':
        run = subprocess.run(
            [sys.executable, '-c', code], stdout=subprocess.PIPE, check=True
        )
        written = run.stdout
    else:
        with open(tmp_path / 'out', 'wb') as out:
            subprocess.run(
                [sys.executable, '-c', code], stdout=out, check=True
            )
        written = (tmp_path / 'out').read_bytes()
    assert written == b'first\ntext\nlast\n'


def test_the_next_run_removes_what_a_killed_one_left(tmp_path):
    code = (
        'import os, signal, sys; from mmdet_cppe5.files import atomic_path\n'
        'with atomic_path(sys.argv[1]) as path:\n'
        "    path.write_text('half'); os.kill(os.getpid(), signal.SIGKILL)"
    )
    path = str(tmp_path / 'a.json')
    subprocess.run([sys.executable, '-c', code, path], check=False)
    assert len(os.listdir(tmp_path)) == 1
    (tmp_path / '.bashrc.json').write_text('mine')
    with atomic_path(tmp_path / 'running.json') as other:
        other.write_text('at work')
        _swept.clear()
        write_text(tmp_path / 'b.json', 'text')
        assert other.exists()
    assert sorted(os.listdir(tmp_path)) == [
        '.bashrc.json', 'b.json', 'running.json',
    ]  # fmt: skip


def test_brackets_nested_too_deeply_are_a_sentence(tmp_path):
    path = tmp_path / 'a.json'
    path.write_text('[' * 100_000)
    with pytest.raises(ValueError, match='a.json, but its lists'):
        read_json(path, 'ground truth')
