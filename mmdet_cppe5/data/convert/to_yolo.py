"""COCO -> YOLO label files, images and ``data.yaml``."""

from __future__ import annotations

import shutil
from collections import defaultdict
from pathlib import Path, PurePosixPath
from typing import Any, Optional

from mmdet_cppe5.coco.records import listed, shorten
from mmdet_cppe5.data.convert.conversion import Conversion, Note, clip_box, tidy
from mmdet_cppe5.image_names import ImageFolder, inner_name
from mmdet_cppe5.images import image_size
from mmdet_cppe5.data.convert.yolo_layout import class_names, read_data_yaml
from mmdet_cppe5.files import PathLike, write_text

#: File systems take 255 bytes; a file that is being written has a longer name.
_LONGEST_NAME = 230
_SIZE = "declared size is not the file's: the file's was used"


def coco_to_yolo(
    dataset: dict[str, Any],
    folder: PathLike,
    split: str,
    images: Optional[PathLike] = None,
    copy: bool = False,
    allow_empty: bool = True,
) -> Conversion:
    """Write one split of a COCO data set in the YOLO form.

    Labels go to ``labels/SPLIT``, images (linked, or copied) to
    ``images/SPLIT``, and ``data.yaml`` gains the split. Classes are numbered
    from 0 by ascending category id. Boxes are cut to the image, because
    Ultralytics leaves out every image that has a box beyond its border.

    Args:
        dataset: the COCO data set.
        folder: the folder of the YOLO data set.
        split: ``train``, ``val`` or ``test``.
        images: the folder of the image files; None writes labels only and
            trusts the declared sizes.
        copy: copy the images instead of linking to them.
        allow_empty: write also if no object or less than half is left.

    Returns:
        The content of ``data.yaml``, and what YOLO cannot hold.

    Raises:
        FileNotFoundError: if an image file is missing.
        ValueError: if two images would share a label file, if ``data.yaml``
            is there with other classes, or if too little is left.
    """
    root = Path(folder)
    categories = sorted(dataset['categories'], key=lambda item: item['id'])
    index = {item['id']: k for k, item in enumerate(categories)}
    names = [item['name'] for item in categories]
    config = _config(root, split, names)
    notes: list[Note] = []
    boxes = _by_image(dataset, index, notes)
    pictures = None if images is None else ImageFolder(images)
    labels: dict[PurePosixPath, str] = {}
    places: list[tuple[Path, Path]] = []
    taken: dict[PurePosixPath, str] = {}
    for image in dataset['images']:
        name = PurePosixPath(_inner_name(image, notes))
        label = name.with_suffix('.txt')
        if label in taken:
            raise ValueError(
                f'Expected a label file for each image, but {taken[label]} '
                f'and {name} would share {label}.'
            )
        taken[label] = str(name)
        size = image['width'], image['height']
        if pictures is not None:
            source = pictures.find(image['file_name'])
            if source is None:
                raise FileNotFoundError(
                    f'Expected an image at {pictures.folder / name}.'
                )
            places.append((source, root / 'images' / split / name))
            size = image_size(source, str(source))
            if size != (image['width'], image['height']):
                notes.append(Note('changed', _SIZE, str(name)))
        labels[label] = _label_text(boxes[image['id']], index, size, notes)
    kept = sum(text.count('\n') for text in labels.values())
    conversion = Conversion(config, notes, kept=kept)
    if not allow_empty:
        conversion.check_loss()
    for source, target in places:
        _place(source, target, copy)
    for label, text in labels.items():
        write_text(root / 'labels' / split / label, text)
    _write_config(root, config)
    return conversion


def _config(root: Path, split: str, names: list[str]) -> dict[str, Any]:
    """Return the ``data.yaml`` there is, with the split added."""
    path = root / 'data.yaml'
    config: dict[str, Any] = {}
    if path.is_file():
        config = read_data_yaml(path)
        if list(class_names(config, path)) != names:
            raise ValueError(
                f'Expected the classes {listed(names)} in {path}, but it has '
                f'{listed(class_names(config, path))}; use another folder.'
            )
    config[split] = f'images/{split}'
    config.setdefault('train', config[split])  # Ultralytics wants both
    config.setdefault('val', config[split])
    config['names'] = dict(enumerate(names))
    return config


def _write_config(root: Path, config: dict[str, Any]) -> None:
    try:
        import yaml
    except ImportError as error:
        raise ImportError(
            "Writing data.yaml needs PyYAML: pip install 'mmdet-cppe5[data]'."
        ) from error
    text = yaml.safe_dump(config, sort_keys=False, allow_unicode=True)
    write_text(root / 'data.yaml', text)


def _by_image(
    dataset: dict[str, Any], index: dict[int, int], notes: list[Note]
) -> dict[int, list[dict[str, Any]]]:
    """Group the annotations that YOLO can hold by image id."""
    known = {image['id'] for image in dataset['images']}
    groups: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for annotation in dataset['annotations']:
        where = f'annotation {annotation.get("id")}'
        if annotation['image_id'] not in known:
            notes.append(Note('dropped', 'box of no image', where))
        elif annotation['category_id'] not in index:
            notes.append(Note('dropped', 'box of no category', where))
        elif annotation.get('iscrowd'):
            notes.append(Note('dropped', 'crowd region', where))
        else:
            groups[annotation['image_id']].append(annotation)
        for extra in ('segmentation', 'keypoints'):
            if annotation.get(extra):
                why = f'{extra} left out, box kept'
                notes.append(Note('changed', why, where))
    return groups


def _inner_name(image: dict[str, Any], notes: list[Note]) -> str:
    """Return an image's name inside the folder, noted where it differs."""
    name, inner = image['file_name'], inner_name(image['file_name'])
    if not inner or '\0' in name:
        raise ValueError(
            f'Expected file names inside the image folder, but got '
            f'{shorten(name)}.'
        )
    if max(len(part.encode()) for part in inner.split('/')) > _LONGEST_NAME:
        raise ValueError(
            f'Expected file names of at most {_LONGEST_NAME} bytes, but got '
            f'{shorten(name)} of image id {shorten(image["id"])}.'
        )
    if inner != name:
        why = 'file name had back slashes or led outside: brought inside'
        notes.append(Note('changed', why, f'image {shorten(image["id"])}'))
    return inner


def _place(source: Path, target: Path, copy: bool) -> None:
    """Link or copy one image."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.exists() and target.samefile(source):
        return
    target.unlink(missing_ok=True)
    if copy:
        shutil.copyfile(source, target)
    else:
        target.symlink_to(source.resolve())


def _label_text(
    annotations: list[dict[str, Any]],
    index: dict[int, int],
    size: tuple[int, int],
    notes: list[Note],
) -> str:
    width, height = size
    lines = []
    for annotation in annotations:
        where = f'annotation {annotation.get("id")}'
        box = tuple(float(value) for value in annotation['bbox'])
        x, y, w, h = clip_box(box, width, height)
        if min(tidy(w), tidy(h)) <= 0:
            why = 'nothing of the box lies inside the image'
            notes.append(Note('dropped', why, where))
            continue
        if [tidy(v) for v in (x, y, w, h)] != [tidy(v) for v in box]:
            why = 'box reached beyond the image: clipped'
            notes.append(Note('changed', why, where))
        values = (
            (x + w / 2) / width,
            (y + h / 2) / height,
            w / width,
            h / height,
        )
        # Twelve digits: integers of pixels come back as integers.
        numbers = ' '.join(f'{value:.12g}' for value in values)
        lines.append(f'{index[annotation["category_id"]]} {numbers}\n')
    return ''.join(lines)
