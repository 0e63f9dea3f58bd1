"""Steps of a job that are not done again while their results stand.

A step's marker records what went in and the digests of what came out. It is
written after the work, so a step that was interrupted leaves none; and a step
whose inputs changed, or whose results are gone or were altered, is done anew.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mmdet_cppe5.files import file_digest, read_json, write_json


@dataclass(frozen=True)
class Step:
    """One piece of work with files as its result.

    Attributes:
        name: names the marker file.
        inputs: everything the result depends on, as JSON values.
        outputs: the files it leaves; all of them must exist afterwards.
        work: does it; may find what an interrupted attempt left behind.
    """

    name: str
    inputs: Mapping[str, Any]
    outputs: Sequence[Path]
    work: Callable[[], None]

    def run(self, folder: Path) -> bool:
        """Do the step unless its result stands.

        Args:
            folder: where the markers are; outputs outside it are fine.

        Returns:
            Whether anything had to be done.

        Raises:
            FileNotFoundError: if the work left out one of the outputs.
        """
        if self.stands(folder):
            return False
        marker = self._marker(folder)
        marker.unlink(missing_ok=True)
        self.work()
        for path in self.outputs:
            if not path.is_file():
                raise FileNotFoundError(
                    f'Expected the step {self.name!r} to leave {path}, but '
                    'there is no such file.'
                )
        write_json(marker, self._record())
        return True

    def stands(self, folder: Path) -> bool:
        """Tell whether the step is done and its result unchanged."""
        marker = self._marker(folder)
        if not marker.is_file():
            return False
        if not all(path.is_file() for path in self.outputs):
            return False
        try:
            return bool(read_json(marker, 'a marker') == self._record())
        except ValueError:
            return False

    def _marker(self, folder: Path) -> Path:
        return folder / f'{self.name}.json'

    def _record(self) -> dict[str, Any]:
        outputs = {str(path): file_digest(path) for path in self.outputs}
        return {'inputs': dict(self.inputs), 'outputs': outputs}
