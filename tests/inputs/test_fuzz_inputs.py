"""Files broken at random end in a sentence; see ``scripts/fuzz_inputs.py``."""

import importlib.util

import pytest


@pytest.fixture(scope='module')
def fuzz(repo_root):
    path = repo_root / 'scripts' / 'fuzz_inputs.py'
    spec = importlib.util.spec_from_file_location('fuzz_inputs', path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize('start', range(0, 500, 100))
def test_five_hundred_mutations(fuzz, tmp_path, start, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # Memory is that of the whole test run here.
    monkeypatch.setattr(fuzz, 'MEBIBYTES', 1 << 20)
    monkeypatch.setattr(fuzz, '_SLOW', {'report': 0, 'compare': 0.3})
    for seed in range(start, start + 100):
        command, fault = fuzz.one_round(seed, tmp_path)
        assert fault == '', f'{command}, --seed {seed}: {fault}'
