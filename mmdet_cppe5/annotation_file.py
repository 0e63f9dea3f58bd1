"""Annotation files wherever MMEngine's backends reach: disk, HTTP, stores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Optional

from mmengine.fileio import get_local_path

from mmdet_cppe5.coco.loading import load_ground_truth_json
from mmdet_cppe5.files import file_digest


@dataclass(frozen=True)
class AnnotationFile:
    """A COCO annotation file that has been read.

    Attributes:
        path: where it was read from: a path, or an address such as
            ``'https://…'`` or ``'s3://…'``.
        data: its content.
        sha256: digest of the bytes that were read.
    """

    path: str
    data: dict[str, Any]
    sha256: str

    def describe(self) -> dict[str, str]:
        """Return what identifies the file in a document of scores."""
        return {'path': self.path, 'sha256': self.sha256}


def read_annotation_file(
    path: str,
    backend_args: Optional[Mapping[str, Any]] = None,
    annotated: bool = True,
) -> AnnotationFile:
    """Read a COCO annotation file through MMEngine's file backends.

    Args:
        path: a path or an address.
        backend_args: as everywhere in MMDetection; None lets the address
            decide (``http``, ``https``, ``s3``, else the local disk).
        annotated: whether it must have ``annotations``.

    Raises:
        FileNotFoundError: if there is no such file.
        OSError: if a remote file cannot be fetched.
        ValueError: if the file is something else.
    """
    try:
        with get_local_path(path, backend_args=backend_args) as local:
            try:
                data = load_ground_truth_json(local, annotated)
            except (FileNotFoundError, ValueError) as error:
                # Of a remote file, `local` is a copy that soon is gone.
                text = str(error).replace(str(local), path)
                raise type(error)(text) from error
            return AnnotationFile(path, data, file_digest(local))
    except FileNotFoundError:
        raise
    except OSError as error:
        raise OSError(
            f'Expected ground truth (a COCO annotation file) at {path}, but '
            f'it cannot be fetched: {error}. Check the address and '
            f'`backend_args` ({backend_args}).'
        ) from error
