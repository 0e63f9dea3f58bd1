"""The last good checkpoint outlives a full disk and a killed run."""

import resource

import pytest
import torch
from mmengine.fileio import get_file_backend
from test_checkpoint import Toy, run, weights

from mmdet_cppe5.engine import saving

KEEP_ONE = {'type': 'CheckpointHook', 'interval': 1, 'max_keep_ckpts': 1}


def test_a_full_disk_leaves_the_old_file(tmp_path):
    path = tmp_path / 'a.pth'
    backend = get_file_backend(str(path))
    backend.put(b'old', str(path))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        with pytest.raises(OSError, match='too large'):
            backend.put(bytes(5000), str(path))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert path.read_bytes() == b'old'
    assert [p.name for p in tmp_path.iterdir()] == ['a.pth']


def test_the_old_checkpoint_goes_after_the_new_is_saved(tmp_path, monkeypatch):
    keep = {'checkpoint': KEEP_ONE}
    run(tmp_path / 'a', 3, hooks=keep)
    names = sorted(p.name for p in (tmp_path / 'a').glob('*.pth'))
    assert names == ['epoch_3.pth']

    saved = saving.WholeFileBackend.put

    def full(self, obj, filepath):
        if 'epoch_3' in str(filepath):
            raise OSError('No space left on device')
        saved(self, obj, filepath)

    monkeypatch.setattr(saving.WholeFileBackend, 'put', full)
    with pytest.raises(OSError, match='No space'):
        run(tmp_path / 'b', 3, hooks=keep)
    names = sorted(p.name for p in (tmp_path / 'b').glob('*.pth'))
    assert names == ['epoch_2.pth']


def test_a_damaged_last_checkpoint_is_passed_over(tmp_path):
    run(tmp_path / 'b', 3)
    last = tmp_path / 'b' / 'epoch_3.pth'
    given = str(tmp_path / 'b' / 'epoch_2.pth')
    straight = run(tmp_path / 'a', 4, load_from=given, resume=True)
    last.write_bytes(last.read_bytes()[:-100])
    resumed = run(tmp_path / 'b', 4, resume=True)
    assert torch.equal(weights(resumed.model), weights(straight.model))
    (tmp_path / 'b' / 'last_checkpoint').write_text('')
    found = saving.find_latest_checkpoint(str(tmp_path / 'b'))
    assert found == str(tmp_path / 'b' / 'epoch_4.pth')
    assert saving.find_latest_checkpoint(str(tmp_path / 'no')) is None
    assert isinstance(resumed.model, Toy)
