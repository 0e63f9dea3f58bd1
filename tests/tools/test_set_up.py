"""The set-up script's decisions, without compiling or installing anything."""

import configparser
import fcntl
import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[2] / 'scripts'
FACTS = {
    'torch': '2.13.0',
    'python': 'cp311',
    'platform': 'linux-x86_64',
    'cuda': None,
}


@pytest.fixture
def modules(monkeypatch):
    """The three modules of the set-up, as ``scripts/set_up.py`` has them."""
    monkeypatch.syspath_prepend(str(SCRIPTS))
    import build_mmcv
    import environment
    import set_up

    return set_up, environment, build_mmcv


def mmlab():
    import stacks

    return stacks.STACKS['mmlab']


def test_a_wheel_built_with_other_flags_is_not_reused(modules, monkeypatch):
    set_up, _, build = modules
    monkeypatch.setattr(build, 'CFLAGS', '-O2 -g0 -w')
    usual = set_up.mmcv_key(mmlab(), FACTS)
    monkeypatch.setattr(build, 'CFLAGS', '-g0 -w')
    assert usual == 'mmcv2.1.0-torch2.13.0-cp311-linux-x86_64-cpu-O2'
    assert set_up.mmcv_key(mmlab(), FACTS) != usual


def test_a_missing_wheel_is_a_sentence(modules, tmp_path, monkeypatch):
    set_up, environment, _ = modules
    monkeypatch.setenv('MMCV_WHEEL', str(tmp_path / 'gone.whl'))
    env = environment.Environment(tmp_path / 'venv')
    with pytest.raises(environment.SetUpError, match=r'gone\.whl is no file'):
        set_up.install_stack(env, mmlab(), FACTS)


@pytest.mark.parametrize('record', ['', '[]', '{"key"', '{"wheel": "x"}'])
def test_a_damaged_record_is_a_record_of_nothing(modules, tmp_path, record):
    set_up, environment, _ = modules
    env = environment.Environment(tmp_path)
    env.mmcv_record.write_text(record)
    assert not set_up.mmcv_fits(env, mmlab(), 'any key')


def test_a_home_that_cannot_be_used_is_a_sentence(
    modules, tmp_path, monkeypatch
):
    _, environment, _ = modules
    blocked = tmp_path / 'file'
    blocked.write_text('')
    monkeypatch.setenv('XDG_CACHE_HOME', str(blocked))
    with pytest.raises(environment.SetUpError, match='XDG_CACHE_HOME'):
        environment.cache_folder()


def test_a_full_disk_is_refused_before_the_work(modules, tmp_path):
    _, environment, _ = modules
    with pytest.raises(environment.SetUpError, match='free disk space'):
        environment.need_space(tmp_path, 10**9)


def test_a_second_set_up_waits_for_the_first(modules, tmp_path, capsys):
    _, environment, _ = modules
    holder = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(holder, fcntl.LOCK_EX)
    entered = threading.Event()

    def second():
        with environment.only_one(tmp_path):
            entered.set()

    thread = threading.Thread(target=second)
    thread.start()
    assert not entered.wait(0.3)
    os.close(holder)
    assert entered.wait(5)
    thread.join()
    assert 'waiting' in capsys.readouterr().out


def test_the_cause_of_a_failure_is_named(modules):
    _, environment, _ = modules
    assert 'no network' in environment.reason(
        'ERROR: Failed to establish a new connection: [Errno 101]'
    )
    assert 'disk is full' in environment.reason(
        'OSError: [Errno 28] No space left on device'
    )


def test_progress_counts_the_files_of_the_plan(modules, tmp_path):
    _, _, build = modules
    progress = build.Progress(tmp_path, print)
    assert progress.count() is None
    (tmp_path / 'build.ninja').write_text(
        'rule compile\n  command = c++\n\n'
        'build a.o: compile a.cpp\nbuild b.o: compile b.cpp\n'
    )
    (tmp_path / 'a.o').write_text('')
    assert progress.count() == (1, 2)


def compiler(path, text):
    path.write_text(f'#!/bin/sh\n{text}\n')
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize(
    ('text', 'why'),
    [
        ('echo "#define __GNUC__ 4"; echo "#define __clang__ 1"', 'clang'),
        (
            'case "$*" in *-dM*) echo "#define __GNUC__ 12";; '
            '*) exit 1;; esac',
            'gcc that fails',
        ),
    ],
)
def test_without_a_precompiled_header_mmcv_is_built_plainly(
    modules, tmp_path, monkeypatch, text, why
):
    _, _, build = modules
    monkeypatch.setenv('CXX', compiler(tmp_path / 'c++', text))
    facts = {'torch_include': [], 'include': ''}
    assert build.make_header(tmp_path, facts, print) is None, why


def test_a_failed_compilation_is_tried_again_without_the_header(
    modules, tmp_path, monkeypatch
):
    _, _, build = modules
    tried = []

    def compile_(python, source, scratch, flags, *others):
        tried.append(flags)
        if '-include' in flags:
            raise subprocess.CalledProcessError(1, 'pip', 'error')
        return 'a wheel'

    monkeypatch.setattr(build, 'fetch_source', lambda *_: tmp_path)
    monkeypatch.setattr(build, 'make_header', lambda *_: 'torch_types.h')
    monkeypatch.setattr(build, '_compile', compile_)
    wheel = build.build_wheel(
        sys.executable, mmlab(), tmp_path, {}, 2, False, print
    )
    assert wheel == 'a wheel'
    assert tried == [f'{build.CFLAGS} -include torch_types.h', build.CFLAGS]


def test_nvcc_never_sees_the_header(modules, tmp_path, monkeypatch):
    _, _, build = modules
    tried = []
    monkeypatch.setattr(build, 'fetch_source', lambda *_: tmp_path)
    monkeypatch.setattr(
        build, '_compile', lambda *given: tried.append(given[3])
    )
    build.build_wheel(sys.executable, mmlab(), tmp_path, {}, 2, True, print)
    assert tried == [build.CFLAGS]


def test_a_compiled_wheel_is_kept_and_taken_again(
    modules, tmp_path, monkeypatch, capsys
):
    set_up, environment, build = modules
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path / 'cache'))
    monkeypatch.setattr(set_up, 'check_compiler', lambda facts: None)
    monkeypatch.setattr(
        environment.Environment, 'install', lambda *given: None
    )
    calls = []

    def build_wheel(python, stack, scratch, facts, jobs, cuda, say):
        calls.append(cuda)
        (scratch / 'mmcv-2.1.0-x.whl').write_text('wheel')
        return scratch / 'mmcv-2.1.0-x.whl'

    monkeypatch.setattr(build, 'build_wheel', build_wheel)
    env = environment.Environment(tmp_path / 'venv')
    key = set_up.mmcv_key(mmlab(), FACTS)
    shelf = environment.cache_folder() / key
    for _ in range(2):
        wheel = set_up.compile_mmcv(env, mmlab(), FACTS, key, shelf)
        assert wheel == shelf / 'mmcv-2.1.0-x.whl'
        assert wheel.read_text() == 'wheel'
    assert calls == [False]
    assert [path.name for path in shelf.iterdir()] == [wheel.name]
    assert 'CPU operations' in capsys.readouterr().out


def installed(folder, *distributions):
    site = folder / 'lib/python3.11/site-packages'
    for name in distributions:
        (site / f'{name}.dist-info').mkdir(parents=True)


@pytest.mark.parametrize(
    ('there', 'asked', 'extra'),
    [
        ([], None, 'framework'),
        ([], 'onedl', 'onedl'),
        (['mmengine-0.10.7'], None, 'framework'),
        (['onedl_mmengine-0.10.12'], None, 'onedl'),
        (['onedl_mmengine-0.10.12'], 'onedl', 'onedl'),
    ],
)
def test_the_stack_is_what_is_asked_for_or_there(
    modules, tmp_path, monkeypatch, there, asked, extra
):
    set_up, environment, _ = modules
    monkeypatch.setattr(sys, 'version_info', (3, 11, 7))
    monkeypatch.delenv('STACK', raising=False)
    if asked:
        monkeypatch.setenv('STACK', asked)
    installed(tmp_path, *there)
    env = environment.Environment(tmp_path)
    assert set_up.choose_stack(env).extra == extra


@pytest.mark.parametrize(
    ('python', 'asked', 'sentence'),
    [
        ((3, 11, 7), 'onedl', r'has the stack mmlab.*VENV=\.venv-onedl'),
        ((3, 11, 7), 'other', "mmlab or onedl, but it is 'other'"),
        ((3, 8, 18), 'mmlab', r'mmcv 2\.1\.0 needs Python 3\.9'),
    ],
)
def test_a_stack_that_cannot_be_had_is_a_sentence(
    modules, tmp_path, monkeypatch, python, asked, sentence
):
    set_up, environment, _ = modules
    monkeypatch.setattr(sys, 'version_info', python)
    monkeypatch.setenv('STACK', asked)
    installed(tmp_path, 'mmengine-0.10.7')
    env = environment.Environment(tmp_path)
    with pytest.raises(environment.SetUpError, match=sentence):
        set_up.choose_stack(env)


def test_no_compiler_is_a_sentence(modules, monkeypatch):
    set_up, environment, _ = modules
    monkeypatch.setenv('CXX', 'no-such-compiler')
    with pytest.raises(environment.SetUpError, match='build-essential'):
        set_up.check_compiler({'include': ''})


def test_no_headers_of_python_is_a_sentence(modules, tmp_path, monkeypatch):
    set_up, environment, _ = modules
    monkeypatch.setenv('CXX', sys.executable)
    with pytest.raises(environment.SetUpError, match='python3-dev'):
        set_up.check_compiler({'include': str(tmp_path)})


def test_development_brings_no_stack(tmp_path):
    done = subprocess.run(
        [sys.executable, 'setup.py', '-q', 'egg_info', '-e', str(tmp_path)],
        cwd=SCRIPTS.parent,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    sections = configparser.ConfigParser(allow_no_value=True)
    sections.optionxform = str
    text = next(tmp_path.glob('*.egg-info/requires.txt')).read_text()
    sections.read_string('[install]\n' + text)
    for part in ('install', 'dev', 'tests', 'report', 'data', 'benchmark'):
        names = {re.split(r'[<>=\[]', line)[0] for line in sections[part]}
        assert not names & {'torch', 'mmcv', 'mmdet', 'onedl-mmcv'}, part
    assert 'mmcv' in ' '.join(sections['framework'])
    assert 'onedl-mmcv' in ' '.join(sections['onedl'])
