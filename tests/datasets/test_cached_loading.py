import multiprocessing
import os

import cv2
import numpy as np
import pytest
from mmcv.transforms import LoadImageFromFile

from mmdet_cppe5.datasets.cached_loading import (
    PREFIX,
    ImageStore,
    LoadCachedImageFromFile,
)


@pytest.fixture
def image_path(tmp_path):
    image = np.random.default_rng(0).integers(0, 256, (20, 30, 3), np.uint8)
    path = tmp_path / 'a.png'
    cv2.imwrite(str(path), image)
    return path


@pytest.fixture
def memory(tmp_path):
    folder = tmp_path / 'memory'
    folder.mkdir()
    return folder


def test_yields_what_the_stock_loader_yields(image_path, memory):
    cached = LoadCachedImageFromFile(budget_mib=1, folder=str(memory))
    stock = LoadImageFromFile()({'img_path': str(image_path)})
    for _ in range(2):
        ours = cached({'img_path': str(image_path)})
        np.testing.assert_array_equal(ours.pop('img'), stock['img'])
        assert ours == {k: v for k, v in stock.items() if k != 'img'}


def test_the_second_time_needs_no_file(image_path, memory):
    cached = LoadCachedImageFromFile(budget_mib=1, folder=str(memory))
    first = cached({'img_path': str(image_path)})['img'].copy()
    image_path.unlink()
    again = cached({'img_path': str(image_path)})['img']
    np.testing.assert_array_equal(again, first)
    again[:] = 0  # a pipeline may write into its image
    third = cached({'img_path': str(image_path)})['img']
    np.testing.assert_array_equal(third, first)


def test_the_budget_holds(memory):
    store = ImageStore(budget_mib=3000 / 2**20, folder=str(memory))
    image = np.zeros((10, 100), np.uint8)
    for key in ('a', 'b', 'c', 'd'):
        store.put(key, image)
    assert store.get('b') is not None
    assert store.get('c') is None  # 2 x (1000 + header) + 1000 > 3000
    assert store.used() <= 3000


def _store_from_child(store):
    store.put('child', np.arange(4))
    store._remove()  # what atexit would call: only the owner removes


def test_workers_share_one_store(memory):
    store = ImageStore(budget_mib=1, folder=str(memory))
    child = multiprocessing.get_context('fork').Process(
        target=_store_from_child, args=(store,)
    )
    child.start()
    child.join()
    np.testing.assert_array_equal(store.get('child'), np.arange(4))
    store._remove()
    assert not store.folder.exists()


def test_what_a_killed_process_left_is_removed(memory):
    dead = multiprocessing.get_context('fork').Process(target=os.getpid)
    dead.start()
    dead.join()
    left = memory / f'{PREFIX}{dead.pid}-xyz'
    left.mkdir()
    alive = memory / f'{PREFIX}{os.getpid()}-xyz'
    alive.mkdir()
    ImageStore(budget_mib=1, folder=str(memory))
    assert not left.exists()
    assert alive.exists()


def test_no_such_memory_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError, match='set `folder`'):
        LoadCachedImageFromFile(folder=str(tmp_path / 'nowhere'))
