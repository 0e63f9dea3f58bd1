"""Where the configs are: in a clone, or in an installed wheel."""

from __future__ import annotations

from pathlib import Path

from mmdet_cppe5.files import PathLike

_PACKAGE = Path(__file__).resolve().parent


def config_root() -> Path:
    """Return the folder of this project's configs.

    A wheel carries them in ``.mim/configs`` inside the package; in a clone
    they lie beside the package.

    Raises:
        FileNotFoundError: if neither folder exists.
    """
    places = (_PACKAGE / '.mim' / 'configs', _PACKAGE.parent / 'configs')
    for place in places:
        if place.is_dir():
            return place
    raise FileNotFoundError(
        f'Expected the configs in {places[0]} (an installed wheel) or in '
        f'{places[1]} (a clone), but neither is there; install again.'
    )


def find_config(name: PathLike) -> str:
    """Return the path of a config, wherever the command is run.

    Args:
        name: a path; one that does not exist from here is looked for among
            this project's configs, with or without the leading ``configs/``.

    Returns:
        The path found, or ``name`` as it was where there is none.
    """
    path = Path(name)
    if path.exists() or path.is_absolute():
        return str(name)
    parts = path.parts[1:] if path.parts[:1] == ('configs',) else path.parts
    found = config_root().joinpath(*parts)
    return str(found) if parts and found.is_file() else str(name)
