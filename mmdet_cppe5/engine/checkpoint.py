"""Loading checkpoints without running what they bring.

A ``.pth`` file is a pickle, and a pickle can run anything. PyTorch 2.6 and
later therefore refuse by default what MMEngine writes, and earlier versions
run it. The loaders of this module read the checkpoints of MMDetection 2.x
and 3.x on every PyTorch version through
:mod:`mmdet_cppe5.engine.safe_pickle`, which executes nothing. Importing the
module puts them in the place of MMEngine's own for local files and for every
scheme that ends in a download, so that training, resuming, testing and
inference use them.
"""

from __future__ import annotations

import glob
import hashlib
import io
import logging
import os
import re
from pathlib import Path
from typing import IO, Any, Callable, Optional, Union
from urllib.parse import urlparse

import mmengine
import torch
from mmengine.dist import barrier, is_main_process
from mmengine.fileio import get_file_backend
from mmengine.logging import print_log
from mmengine.runner import checkpoint as mmengine_checkpoint
from mmengine.runner.checkpoint import CheckpointLoader

from mmdet_cppe5.core.settings import listed
from mmdet_cppe5.download import RemoteFile, download
from mmdet_cppe5.engine.disarm import disarmed
from mmdet_cppe5.engine.torch_file import read_torch_file
from mmdet_cppe5.files import PathLike, read_json

MapLocation = Optional[
    Union[str, torch.device, dict[str, str], Callable[..., Any]]
]

# The first bytes of a hash, as in `resnet50-0676ba61.pth`; not a date.
_HASH_IN_NAME = re.compile(r'-([0-9a-f]{8,64})\.')
_DATE = re.compile(r'(19|20)\d{6}$')


def load_checkpoint_file(
    path: PathLike, map_location: MapLocation = 'cpu'
) -> Any:
    """Read a checkpoint file without executing anything.

    Args:
        path: a file that ``torch.save`` wrote, in the zip form or the one
            from before PyTorch 1.6.
        map_location: where tensors go; as ``torch.load`` takes it.

    Returns:
        What was saved: usually a dict with ``state_dict`` and ``meta``, and
        from training runs also ``optimizer``, ``param_schedulers`` and
        ``message_hub``.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if the file is no checkpoint, is cut short, or asks for
            anything but data; the sentence names it.
    """
    file = Path(path).expanduser()
    if not file.is_file():
        raise FileNotFoundError(
            f'Expected a checkpoint at {file}, but there is no such file.'
        )
    try:
        with file.open('rb') as stream:
            return _load(stream, map_location, str(file))
    except ValueError as error:
        # Such as the last of a run that was killed while it was written.
        before = _one_before(file)
        if before is None:
            raise
        raise ValueError(
            f'{error} The one before it may be whole: --resume {before}.'
        ) from error


def _one_before(file: Path) -> Optional[Path]:
    """Return the checkpoint that a run left before this one, if any."""

    def number(path: Path) -> int:
        digits = re.search(r'(\d+)$', path.stem)
        return int(digits.group()) if digits else -1

    kind = file.stem.rstrip('0123456789')
    earlier = [
        path
        for path in file.parent.glob(f'{glob.escape(kind)}*{file.suffix}')
        if path.stem.rstrip('0123456789') == kind
        and 0 <= number(path) < number(file)
    ]
    return max(earlier, key=number, default=None)


def _load(stream: IO[bytes], map_location: MapLocation, source: str) -> Any:
    """Read a checkpoint from a seekable stream."""
    try:
        loaded = read_torch_file(stream, map_location)
        return disarmed(loaded, source)
    # Arbitrary bytes end in arbitrary errors.
    except Exception as error:
        reason = (str(error) or 'it ends in the middle').splitlines()[0]
        if not isinstance(error, (ValueError, EOFError)):
            reason = f'it is damaged ({type(error).__name__}: {reason:.200})'
        raise ValueError(
            f'Expected a checkpoint of plain data in {source}, but '
            f'{reason.rstrip(".")}; nothing of it was executed.'
        ) from error


@CheckpointLoader.register_scheme(prefixes='', force=True)
def load_from_local(filename: str, map_location: MapLocation = None) -> Any:
    """Load a local checkpoint; see :func:`load_checkpoint_file`."""
    return load_checkpoint_file(filename, map_location)


@CheckpointLoader.register_scheme(prefixes=('http://', 'https://'), force=True)
def load_from_http(filename: str, map_location: MapLocation = None) -> Any:
    """Download a checkpoint once, then load it.

    In distributed runs the main process downloads, the others wait for it.
    The file stays in PyTorch's hub cache; one whose name carries no hash is
    kept apart by its address, so that ``latest.pth`` of one server is never
    taken for that of another.

    Raises:
        OSError: if the download fails.
        ValueError: if the file is refused.
    """
    path = _cached(filename)
    try:
        if is_main_process():
            _download(filename, path)
    finally:
        barrier()
    _download(filename, path)  # on nodes that do not share the cache
    try:
        return load_checkpoint_file(path, map_location)
    except ValueError as error:
        print_log(f'{error} Fetching it again.', 'current', logging.WARNING)
        path.unlink(missing_ok=True)
        _download(filename, path)
        return load_checkpoint_file(path, map_location)


def _cached(url: str) -> Path:
    name = os.path.basename(urlparse(url).path) or 'checkpoint.pth'
    if not _hash_in(name):
        name = f'{hashlib.sha256(url.encode()).hexdigest()[:16]}-{name}'
    return Path(torch.hub.get_dir()) / 'checkpoints' / name


def _hash_in(name: str) -> str:
    """Return the digits of the SHA-256 that a file's name carries, or ''."""
    found = _HASH_IN_NAME.search(name)
    return found.group(1) if found and not _DATE.match(found.group(1)) else ''


def _download(url: str, path: Path) -> None:
    """Fetch a checkpoint that can be read, unless the right one is there."""
    # The digits that `_cached` gave the name are those of the address.
    digest = _hash_in(os.path.basename(urlparse(url).path))
    file = RemoteFile(path.name, (url,), sha256=digest)
    try:
        download(
            file,
            path.parent,
            report=lambda sentence: print_log(sentence, 'current'),
            check=_problem,
        )
    except ConnectionError as error:
        said = ' '.join(line.strip() for line in str(error).splitlines())
        raise OSError(
            f'Expected to download the checkpoint {url}, but: {said} A '
            'copy from elsewhere can be named: --cfg-options '
            'model.backbone.init_cfg.checkpoint=FILE for a backbone, '
            'load_from=FILE for a detector; model.backbone.init_cfg=None '
            'starts a backbone from random weights.'
        ) from error


def _problem(path: Path) -> str:
    """Say why a downloaded file is no checkpoint, or return ''."""
    try:
        load_checkpoint_file(path)
    except ValueError as error:
        return str(error)
    return ''


@CheckpointLoader.register_scheme(
    prefixes=[r'(\S+\:)?s3://', r'(\S+\:)?petrel://'], force=True
)
def load_from_ceph(
    filename: str, map_location: MapLocation = None, backend: str = 'petrel'
) -> Any:
    """Load a checkpoint from an object store, through MMEngine's backend."""
    store = get_file_backend(filename, backend_args={'backend': backend})
    with io.BytesIO(store.get(filename)) as stream:
        return _load(stream, map_location, filename)


@CheckpointLoader.register_scheme(prefixes='pavi://', force=True)
def load_from_pavi(filename: str, map_location: MapLocation = None) -> Any:
    """Refuse SenseTime's model cloud, which only its own client can read.

    Raises:
        ValueError: always; download the file with that client first.
    """
    raise ValueError(
        f'Expected a file or an http(s) address, but got {filename}. '
        'Download the checkpoint with the client of pavi, then name the file.'
    )


@CheckpointLoader.register_scheme(
    prefixes=('modelzoo://', 'torchvision://'), force=True
)
def load_from_torchvision(
    filename: str, map_location: MapLocation = None
) -> Any:
    """Load ImageNet weights of torchvision by their name.

    The usual names need no torchvision: MMEngine brings their addresses.
    """
    hub = Path(mmengine.__file__).parent / 'hub'
    models = read_json(hub / 'torchvision_0.12.json', 'addresses of weights')
    if filename.split('://', 1)[1] not in models:
        models = mmengine_checkpoint.get_torchvision_models()
    return load_from_http(_look_up(models, filename), map_location)


@CheckpointLoader.register_scheme(
    prefixes=('open-mmlab://', 'openmmlab://'), force=True
)
def load_from_openmmlab(
    filename: str, map_location: MapLocation = None
) -> Any:
    """Load weights of OpenMMLab's collection by their name."""
    address = _look_up(
        mmengine_checkpoint.get_external_models(),
        filename,
        mmengine_checkpoint.get_deprecated_model_names(),
    )
    if address.startswith(('http://', 'https://')):
        return load_from_http(address, map_location)
    home = Path(mmengine_checkpoint._get_mmengine_home())
    return load_checkpoint_file(home / address, map_location)


@CheckpointLoader.register_scheme(prefixes='mmcls://', force=True)
def load_from_mmcls(filename: str, map_location: MapLocation = None) -> Any:
    """Load the backbone of an image classifier by its name."""
    address = _look_up(mmengine_checkpoint.get_mmcls_models(), filename)
    return mmengine_checkpoint._process_mmcls_checkpoint(
        load_from_http(address, map_location)
    )


def _look_up(
    models: dict[str, str],
    filename: str,
    renamed: Optional[dict[str, str]] = None,
) -> str:
    name = filename.split('://', 1)[1]
    name = (renamed or {}).get(name, name)
    if name not in models:
        raise KeyError(
            f'Expected a known model in {filename!r}, but {name!r} is none '
            f'of {listed(sorted(models))}.'
        )
    return models[name]
