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
import os
import re
import sys
from pathlib import Path
from typing import IO, Any, Callable, Optional, Union
from urllib.parse import urlparse

import mmengine
import torch
from mmengine.dist import barrier, is_main_process
from mmengine.runner import checkpoint as mmengine_checkpoint
from mmengine.runner.checkpoint import CheckpointLoader

from mmdet_cppe5.engine import safe_pickle
from mmdet_cppe5.files import PathLike, atomic_path, read_json

MapLocation = Optional[
    Union[str, torch.device, dict[str, str], Callable[..., Any]]
]

_ZIP_MAGIC = b'PK\x03\x04'
# The first bytes of a hash, as in `resnet50-0676ba61.pth`.
_HASH_IN_NAME = re.compile(r'-[0-9a-f]{8,}\.')


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
        if stream.read(len(_ZIP_MAGIC)) == _ZIP_MAGIC:
            stream.seek(0)
            # torch.load would hand TorchScript, which is code, to another
            # reader; this asks just as torch.load does.
            records = torch._C.PyTorchFileReader(stream).get_all_records()
            if 'constants.pkl' in records:
                raise ValueError('it is a TorchScript program')
        else:
            # Out of memory, not out of a file: torch.load would take a file
            # for a tar archive of PyTorch 0.1 and unpack it if it is one.
            stream.seek(0)
            stream = io.BytesIO(stream.read())
        stream.seek(0)
        return torch.load(
            stream,
            map_location=map_location,
            pickle_module=safe_pickle,
            weights_only=False,  # the unpickler is safe_pickle's
        )
    # Arbitrary bytes end in arbitrary errors.
    except Exception as error:
        reason = (str(error) or type(error).__name__).splitlines()[0]
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
    if is_main_process():
        _download(filename, path)
    barrier()
    _download(filename, path)  # on nodes that do not share the cache
    return load_checkpoint_file(path, map_location)


def _cached(url: str) -> Path:
    name = os.path.basename(urlparse(url).path)
    if not _HASH_IN_NAME.search(name):
        name = f'{hashlib.sha256(url.encode()).hexdigest()[:16]}-{name}'
    return Path(torch.hub.get_dir()) / 'checkpoints' / name


def _download(url: str, path: Path) -> None:
    if path.is_file():
        return
    try:
        with atomic_path(path) as temporary:
            torch.hub.download_url_to_file(
                url, str(temporary), progress=sys.stderr.isatty()
            )
    except OSError as error:
        raise OSError(
            f'Expected to download the checkpoint {url}, but: {error}. A '
            'copy from elsewhere can be named: --cfg-options '
            'model.backbone.init_cfg.checkpoint=FILE for a backbone, '
            'load_from=FILE for a detector; model.backbone.init_cfg=None '
            'starts a backbone from random weights.'
        ) from error


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
            f'of {sorted(models)}.'
        )
    return models[name]
