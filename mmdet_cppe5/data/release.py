"""A published data set: where it is and what it must hold.

CPPE-5's archive and its digests: the data set's README (md5) and the
``dataset_infos.json`` of its Hugging Face page (size, sha256), which agree.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Optional

from mmdet_cppe5.classes import CLASSES
from mmdet_cppe5.download import RemoteFile, google_drive


@dataclass(frozen=True)
class HubCopy:
    """A data set's parquet copy on the Hugging Face Hub.

    Attributes:
        index: address of the JSON list of one split's parquet files, with
            ``{split}`` for the split's name.
        file: address of one of them, with ``{path}`` for its path.
    """

    index: str
    file: str


@dataclass(frozen=True)
class Release:
    """A published data set: where it is and what it must hold.

    Attributes:
        archive: the ``tar.gz`` with ``annotations`` and ``images``.
        splits: number of images by split name.
        hub: the copy to fall back on, if there is one.
        classes: names of the category ids 1, 2, 3, ...
    """

    archive: RemoteFile
    splits: Mapping[str, int]
    hub: Optional[HubCopy] = None
    classes: tuple[str, ...] = CLASSES


CPPE5 = Release(
    archive=RemoteFile(
        name='dataset.tar.gz',
        urls=(
            'https://github.com/Rishit-dagli/CPPE-Dataset/releases/download/'
            'v0.1.0/dataset.tar.gz',
            google_drive('1MGnaAfbckUmigGUvihz7uiHGC6rBIbvr'),
        ),
        size=238_482_705,
        sha256='1151086e59fcb87825ecf4d362847a3f'
        '023ba69e7ace0f513d5aadc0e3dd3094',
        md5='f4e043f983cff94ef82ef7d57a879212',
    ),
    splits={'train': 1000, 'test': 29},
    hub=HubCopy(
        index='https://huggingface.co/api/datasets/rishitdagli/cppe-5/tree/'
        'refs%2Fconvert%2Fparquet/default/{split}',
        file='https://huggingface.co/datasets/rishitdagli/cppe-5/resolve/'
        'refs%2Fconvert%2Fparquet/{path}',
    ),
)
