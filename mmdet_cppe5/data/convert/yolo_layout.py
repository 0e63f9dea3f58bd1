"""Where a YOLO data set keeps its images, labels and class names."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mmdet_cppe5.coco.records import listed
from mmdet_cppe5.images import find_images
from mmdet_cppe5.files import PathLike


@dataclass(frozen=True)
class YoloSplit:
    """One split of a YOLO data set.

    Attributes:
        root: the folder that file names are relative to.
        images: the image files, sorted.
        names: the class names by class index.
    """

    root: Path
    images: tuple[Path, ...]
    names: tuple[str, ...]

    def file_name(self, image: Path) -> str:
        """Return an image's name relative to :attr:`root`, with ``/``."""
        return image.relative_to(self.root).as_posix()


def read_data_yaml(path: PathLike) -> dict[str, Any]:
    """Read ``data.yaml``.

    Raises:
        FileNotFoundError: if there is none.
        ImportError: if PyYAML is missing.
        ValueError: if it is not YAML or describes poses, not boxes.
    """
    try:
        import yaml
    except ImportError as error:
        raise ImportError(
            "Reading data.yaml needs PyYAML: pip install 'mmdet-cppe5[data]'."
        ) from error
    file = Path(path)
    if not file.is_file():
        raise FileNotFoundError(f'Expected a data.yaml at {file}.')
    try:
        data = yaml.safe_load(file.read_text(encoding='utf-8-sig'))
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        text = ' '.join(str(error).split())
        raise ValueError(
            f'Expected a data.yaml in {file}, but it is not YAML: {text}.'
        ) from error
    if not isinstance(data, dict):
        raise ValueError(
            f'Expected a mapping in {file}, but got {data!r:.80}.'
        )
    if 'kpt_shape' in data:
        raise ValueError(
            f'Expected boxes, but {file} describes poses (kpt_shape).'
        )
    return data


def class_names(data: dict[str, Any], where: PathLike) -> tuple[str, ...]:
    """Return ``names`` of a ``data.yaml``, a list or a mapping 0..n-1."""
    names = data.get('names')
    if isinstance(names, dict):
        if sorted(names) != list(range(len(names))):
            raise ValueError(
                f'Expected names for the classes 0..{len(names) - 1} in '
                f'{where}, but got {listed(sorted(names, key=str))}.'
            )
        names = [names[position] for position in range(len(names))]
    if not isinstance(names, list) or not names:
        raise ValueError(
            f'Expected class names under `names` in {where}, but got '
            f'{names!r:.80}.'
        )
    return tuple(str(name) for name in names)


def read_split(path: PathLike, split: str) -> YoloSplit:
    """Find the images of one split of a ``data.yaml``.

    The split's entry may be a folder, a text file with one image a line, or
    a list of these, relative to ``path`` in the file, which is relative to
    the file itself.

    Raises:
        FileNotFoundError: if a folder or list is missing.
        ValueError: if the split is not in the file, or has no images.
    """
    data = read_data_yaml(path)
    if data.get(split) is None:
        known = [name for name in ('train', 'val', 'test') if data.get(name)]
        raise ValueError(
            f'Expected the split {split!r} in {path}, but it has '
            f'{listed(known) or "none"}.'
        )
    base = Path(path).parent / str(data.get('path') or '')
    entries = data[split] if isinstance(data[split], list) else [data[split]]
    images: list[Path] = []
    roots: list[Path] = []
    for entry in entries:
        place = _locate(base, str(entry))
        if place.suffix == '.txt':
            images += _listed(place)
            roots.append(base)
        else:
            images += find_images(place)
            roots.append(place)
    if not images:
        raise ValueError(f'Expected images of {split!r} below {roots[0]}.')
    root = roots[0] if len(set(roots)) == 1 else base
    names = class_names(data, path)
    outside = [image for image in images if root not in image.parents]
    if outside:
        raise ValueError(
            f'Expected the images of {split!r} below {root}, but '
            f'{outside[0]} is not.'
        )
    return YoloSplit(root, tuple(sorted(set(images))), names)


def _locate(base: Path, entry: str) -> Path:
    place = base / entry
    if not place.exists() and entry.startswith('../'):
        # Exports by Roboflow say ../train/images beside their data.yaml.
        inside = base / entry[len('../') :]
        place = inside if inside.exists() else place
    if not place.exists():
        raise FileNotFoundError(
            f'Expected images or a list of them at {place}, but there is '
            'nothing; `path` in data.yaml is relative to that file.'
        )
    return place


def _listed(path: Path) -> list[Path]:
    try:
        lines = path.read_text(encoding='utf-8-sig').splitlines()
    except UnicodeDecodeError as error:
        raise ValueError(
            f'Expected a list of images in {path}, but it is not UTF-8.'
        ) from error
    names = [line.strip().replace('\\', '/') for line in lines]
    return [path.parent / name for name in names if name]


def label_path(image: Path) -> Path:
    """Return where an image's labels are by YOLO's rule.

    The last folder named ``images`` is replaced by ``labels``; without one
    the label file lies beside the image.
    """
    parts = list(image.parent.parts)
    for position in reversed(range(len(parts))):
        if parts[position] == 'images':
            parts[position] = 'labels'
            break
    return Path(*parts) / f'{image.stem}.txt'
