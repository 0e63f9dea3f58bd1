"""No file executes, crashes, hangs or fills the memory."""

import copy
import multiprocessing
import resource
import time

import numpy as np
import pytest
import torch
from hostile import hostile_files
from mmengine.config import Config

from mmdet_cppe5.engine.checkpoint import load_checkpoint_file
from mmdet_cppe5.engine.config_text import inert_text

SECONDS = 2
MEBIBYTES = 500


def use(value):
    """Do with a loaded checkpoint what MMEngine would do."""
    copy.deepcopy(value)
    repr(value)
    places = [value] if isinstance(value, dict) else []
    while places:
        place = places.pop()
        for key, item in place.items():
            if isinstance(item, dict):
                places.append(item)
            if key in ('cfg', 'config'):
                Config.fromstring(item, '.py')
            if str(key).startswith(('best_ckpt', 'last_ckpt')):
                raise AssertionError(f'{item!r} would be deleted')
    if isinstance(value, (np.ndarray, torch.Tensor)):
        value.sum()


def load_all(folder, marker, results):
    """Load each file and send what it did before the next is begun."""
    path = folder / 'a.pth'
    for name, data in hostile_files(marker):
        results.send(name)
        path.write_bytes(data)
        del data
        seconds = SECONDS + 1
        for _ in range(3):  # a busy machine makes one try slower
            start = time.process_time()
            try:
                loaded, said = load_checkpoint_file(path), ''
            except ValueError as error:
                loaded, said = None, str(error)
            seconds = min(seconds, time.process_time() - start)
            if seconds <= SECONDS:
                break
        use(loaded)
        results.send((said, seconds))
    results.send(None)
    results.send(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


def test_hostile_files(tmp_path):
    marker = tmp_path / 'marker'
    with pytest.raises(ValueError, match='not registered'):
        inert_text("model = dict(type='NoSuchModel')")  # imports MMDetection
    # A fork, since importing MMDetection anew takes longer than the files.
    context = multiprocessing.get_context('fork')
    receiver, sender = context.Pipe(duplex=False)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    child = context.Process(target=load_all, args=(tmp_path, marker, sender))
    child.start()
    sender.close()
    seen, slow, silent = [], [], []
    try:
        while (name := receiver.recv()) is not None:
            seen.append(name)
            assert receiver.poll(60), f'{name} hangs'
            said, seconds = receiver.recv()
            assert not marker.exists(), f'{name} was executed'
            if seconds > SECONDS:
                slow.append((name, seconds))
            if said and f'in {tmp_path / "a.pth"}, but' not in said:
                silent.append((name, said))
    except EOFError:
        raise AssertionError(f'{seen[-1]} ended the process') from None
    used = receiver.recv() - before
    child.join()
    assert len(seen) >= 300
    assert len(set(seen)) == len(seen)
    assert slow == []
    assert silent == []
    assert used < MEBIBYTES << 10, f'{used:,} KiB'
    assert [path.name for path in tmp_path.iterdir()] == ['a.pth']
