"""Decoded images kept in shared memory, for pipelines that decoding limits.

Switched on for any config with::

    --cfg-options train_dataloader.dataset.pipeline.0.type=\
LoadCachedImageFromFile train_dataloader.dataset.pipeline.0.budget_mib=4096
"""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any, Optional

import numpy as np
from mmcv.transforms import LoadImageFromFile
from mmdet.registry import TRANSFORMS

from mmdet_cppe5.files import atomic_path

PREFIX = 'mmdet-cppe5-images-'


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


class ImageStore:
    """Arrays in a folder of shared memory, up to a budget.

    What is stored stays; once the budget is used up nothing more is added,
    which suits epochs that visit every image once in random order. All
    loader workers of one process share the store. It is removed when the
    process that made it ends, or by the next one if that was killed.

    Args:
        budget_mib: limit of all arrays together. Workers that store at the
            same moment can exceed it by one image each.
        folder: a folder in memory; ``/dev/shm`` on Linux.
    """

    def __init__(self, budget_mib: float, folder: str) -> None:
        self._budget = int(budget_mib * 2**20)
        self._remove_left_behind(Path(folder))
        self._owner = os.getpid()
        self.folder = Path(
            tempfile.mkdtemp(prefix=f'{PREFIX}{self._owner}-', dir=folder)
        )
        atexit.register(self._remove)

    @staticmethod
    def _remove_left_behind(folder: Path) -> None:
        for path in folder.glob(f'{PREFIX}*'):
            pid = path.name[len(PREFIX) :].split('-')[0]
            if pid.isdigit() and not _is_running(int(pid)):
                shutil.rmtree(path, ignore_errors=True)

    def _remove(self) -> None:
        if os.getpid() == self._owner:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _file(self, key: str) -> Path:
        digest = hashlib.sha256(key.encode()).hexdigest()
        return self.folder / f'{digest}.npy'

    def used(self) -> int:
        """Return the bytes stored now."""
        with os.scandir(self.folder) as entries:
            return sum(entry.stat().st_size for entry in entries)

    def get(self, key: str) -> Optional[np.ndarray]:
        """Return a private copy of the array stored for ``key``, or None."""
        try:
            return np.load(self._file(key), allow_pickle=False)
        except FileNotFoundError:
            return None

    def put(self, key: str, array: np.ndarray) -> None:
        """Store the array if the budget and the memory allow it."""
        if self.used() + array.nbytes > self._budget:
            return
        if array.nbytes > shutil.disk_usage(self.folder).free:
            return
        with atomic_path(self._file(key)) as path:
            np.save(path, array, allow_pickle=False)


@TRANSFORMS.register_module()
class LoadCachedImageFromFile(LoadImageFromFile):
    """MMCV's ``LoadImageFromFile`` that decodes each image once.

    Yields the very arrays that ``LoadImageFromFile`` yields.

    Args:
        budget_mib: shared memory to use at most, for each training process
            (all its workers together). The 1000 training photographs of
            CPPE-5 differ much in size: 3 bytes a pixel.
        folder: where the memory is; a folder on disk works too, slower.
        **kwargs: those of ``LoadImageFromFile``.

    Raises:
        FileNotFoundError: if ``folder`` does not exist.
    """

    def __init__(
        self,
        budget_mib: float = 2048,
        folder: str = '/dev/shm',
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if not Path(folder).is_dir():
            raise FileNotFoundError(
                f'Expected a folder of shared memory at {folder}, but there '
                'is none; set `folder` of LoadCachedImageFromFile.'
            )
        self._store = ImageStore(budget_mib, folder)

    def transform(self, results: dict[str, Any]) -> Optional[dict[str, Any]]:
        """Put ``img``, ``img_shape`` and ``ori_shape`` into the results."""
        path = str(results['img_path'])
        image = self._store.get(path)
        if image is None:
            loaded = super().transform(results)
            if loaded is not None:
                self._store.put(path, loaded['img'])
            return loaded
        results['img'] = image
        results['img_shape'] = image.shape[:2]
        results['ori_shape'] = image.shape[:2]
        return results
