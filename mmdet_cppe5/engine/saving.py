"""Checkpoints that survive a full disk and a killed run.

MMEngine writes a checkpoint straight under its final name and deletes the
one before beforehand; whoever is interrupted in between has none. Importing
the module puts three things in the place of MMEngine's own: local files are
written beside their target and renamed, the checkpoint hook deletes only
after it has saved, and a run that is resumed passes over a damaged file.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Optional, Union

from mmengine.fileio import LocalBackend, register_backend
from mmengine.fileio import io as mmengine_io
from mmengine.hooks import CheckpointHook as MMEngineCheckpointHook
from mmengine.logging import print_log
from mmengine.registry import HOOKS
from mmengine.runner import runner as mmengine_runner

from mmdet_cppe5.engine.checkpoint import load_checkpoint_file
from mmdet_cppe5.files import atomic_path

_STEP = re.compile(r'(?:epoch|iter)_(\d+)\.pth')


class WholeFileBackend(LocalBackend):
    """MMEngine's local files, written whole or not at all."""

    def put(self, obj: bytes, filepath: Union[str, Path]) -> None:
        """Write bytes beside the target, then rename."""
        with atomic_path(filepath) as path, path.open('wb') as stream:
            stream.write(obj)
            stream.flush()
            os.fsync(stream.fileno())

    def put_text(
        self, obj: str, filepath: Union[str, Path], encoding: str = 'utf-8'
    ) -> None:
        """Write text beside the target, then rename."""
        self.put(obj.encode(encoding), filepath)


class _RemovesLater:
    """A file backend that keeps what it is told to remove, for now."""

    def __init__(self, backend: Any) -> None:
        self._backend = backend
        self._calls: list[tuple[Any, str]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._backend, name)

    def remove(self, path: str) -> None:
        self._calls.append((self._backend.remove, path))

    def rmtree(self, path: str) -> None:
        self._calls.append((self._backend.rmtree, path))

    def remove_now(self) -> None:
        for function, path in self._calls:
            function(path)


class CheckpointHook(MMEngineCheckpointHook):
    """MMEngine's hook, which deletes the old only once the new is saved."""

    @contextmanager
    def _removing_last(self) -> Iterator[None]:
        backend = self.file_backend
        self.file_backend = later = _RemovesLater(backend)
        try:
            yield
            later.remove_now()
        finally:
            self.file_backend = backend

    def _save_checkpoint_with_step(self, *args: Any, **kwargs: Any) -> None:
        with self._removing_last():
            super()._save_checkpoint_with_step(*args, **kwargs)

    def _save_best_checkpoint(self, *args: Any, **kwargs: Any) -> None:
        with self._removing_last():
            super()._save_best_checkpoint(*args, **kwargs)


def find_latest_checkpoint(path: str) -> Optional[str]:
    """Return the newest checkpoint of a run that can be read.

    Args:
        path: the run's work directory.

    Returns:
        The checkpoint that MMEngine noted as the last, else, with a warning,
        the readable one of the most steps, else None.
    """
    noted = Path(path) / 'last_checkpoint'
    last = noted.read_text().strip() if noted.is_file() else ''
    steps = {
        file: int(match[1])
        for file in Path(path).glob('*_*.pth')
        if (match := _STEP.fullmatch(file.name))
    }
    others = sorted(steps, key=steps.__getitem__, reverse=True)
    for file in [*([Path(last)] if last else []), *others]:
        try:
            load_checkpoint_file(file)
        except (OSError, ValueError) as error:
            print_log(f'Passed over: {error}', 'current', logging.WARNING)
            continue
        if str(file) != last:
            print_log(
                f'Resuming from {file}, the last checkpoint in {path} that '
                'can be read.',
                'current',
                logging.WARNING,
            )
        return str(file)
    print_log(f'No checkpoint in {path}; starting anew.', 'current')
    return None


def _install() -> None:
    register_backend('local', WholeFileBackend, force=True, prefixes='')
    mmengine_io.backend_instances.clear()
    HOOKS.register_module(
        name='CheckpointHook', module=CheckpointHook, force=True
    )
    mmengine_runner.find_latest_checkpoint = find_latest_checkpoint


_install()
