"""YOLO label files -> COCO.

A label file has one object a line: class index, then the box's centre x, y,
width and height as fractions of the image, or the points of a polygon. An
image without label file has no objects. Fractions refer to the image as it
is seen, after the rotation that EXIF asks for.
"""

from __future__ import annotations

import math
from pathlib import Path

from mmdet_cppe5.data.convert.conversion import (
    Conversion,
    Note,
    OfficialForm,
    clip_box,
    numeric_ids,
    tidy,
)
from mmdet_cppe5.image_names import is_hidden
from mmdet_cppe5.images import image_size
from mmdet_cppe5.progress import track
from mmdet_cppe5.data.convert.yolo_layout import YoloSplit, label_path, read_split
from mmdet_cppe5.files import PathLike

Box = tuple[float, float, float, float]

_CLIPPED = 'box reached beyond the image: clipped'
_POLYGON = 'polygon: its bounds became the box'


def yolo_to_coco(
    data_yaml: PathLike, split: str, progress: bool = True
) -> Conversion:
    """Convert one split of a YOLO data set.

    File names are relative to the split's image folder. Image ids are the
    file names' numbers if all have one of their own, else 1, 2, 3, ...
    Category ids are the class indices plus one. Image sizes are read from
    the files.

    Args:
        data_yaml: the data set's ``data.yaml``.
        split: the name of the split in it, such as ``val``.
        progress: show a bar on a terminal.

    Raises:
        FileNotFoundError: if images are not where ``data.yaml`` says.
        ImportError: if Pillow or PyYAML is missing.
        ValueError: if ``data.yaml`` is wrong, an image cannot be read or
            two images share a label file.
    """
    found = read_split(data_yaml, split)
    form, notes = OfficialForm(found.names), []
    labels = _label_files(found)
    ids = numeric_ids([found.file_name(image) for image in found.images])
    pairs = track(zip(found.images, ids), len(ids), 'Converting', progress)
    for image, image_id in pairs:
        width, height = image_size(image, str(image))
        form.add_image(found.file_name(image), width, height, image_id)
        label = labels[image]
        if not label.is_file():
            continue
        lines = _lines(label)
        for number, line in enumerate(lines, start=1):
            where = f'{label.name} line {number}'
            item = _Line(line, where, width, height, notes)
            if line.strip() and item.valid(len(found.names)):
                form.add_box(
                    image_id, item.class_index, item.box, **item.fields
                )
    notes += _orphans(labels)
    return Conversion(form.dataset(), notes)


def _label_files(split: YoloSplit) -> dict[Path, Path]:
    """Return each image's label file; two images must not share one."""
    labels = {image: label_path(image) for image in split.images}
    owner: dict[Path, Path] = {}
    for image, label in labels.items():
        if label in owner:
            raise ValueError(
                f'Expected a label file for each image, but {owner[label]} '
                f'and {image} share {label}.'
            )
        owner[label] = image
    return labels


def _lines(label: Path) -> list[str]:
    try:
        return label.read_text(encoding='utf-8-sig').splitlines()
    except UnicodeDecodeError as error:
        raise ValueError(
            f'Expected a text file in {label}, but it is not UTF-8 (byte '
            f'{error.start}).'
        ) from error


def _orphans(labels: dict[Path, Path]) -> list[Note]:
    """Name the label files that belong to no image."""
    known = set(labels.values())
    notes = []
    for folder in sorted({label.parent for label in known}):
        for path in sorted(folder.glob('*.txt')):
            if is_hidden(path.name) or path.name == 'classes.txt':
                continue
            if path not in known:
                why = 'label file without image'
                notes.append(Note('dropped', why, path.name))
    return notes


class _Line:
    """One line of a label file, judged and turned into pixels."""

    def __init__(
        self,
        line: str,
        where: str,
        width: int,
        height: int,
        notes: list[Note],
    ) -> None:
        words = line.split()
        self._text_class = bool(words) and math.isnan(_number(words[0]))
        self._numbers = [_number(word) for word in words]
        self._where, self._notes = where, notes
        self._size = width, height
        self.class_index = -1
        self.box: Box = (0.0, 0.0, 0.0, 0.0)
        self.fields: dict[str, object] = {}

    def valid(self, class_count: int) -> bool:
        """Fill the attributes, or note why the line is dropped."""
        problem = self._problem(class_count)
        if problem:
            self._notes.append(Note('dropped', problem, self._where))
            return False
        self.class_index = int(self._numbers[0])
        width, height = self._size
        scale = (width, height) * (len(self._numbers) // 2)
        values = [v * s for v, s in zip(self._numbers[1:], scale)]
        if len(values) == 4:
            x, y, w, h = values
            full = (x - w / 2, y - h / 2, w, h)
        else:
            full = self._bounds(values)
        self.box = clip_box(full, width, height)
        if min(tidy(self.box[2]), tidy(self.box[3])) <= 0:
            why = 'nothing of the box lies inside the image'
            self._notes.append(Note('dropped', why, self._where))
            return False
        if [tidy(v) for v in self.box] != [tidy(v) for v in full]:
            self._notes.append(Note('changed', _CLIPPED, self._where))
        return True

    def _problem(self, class_count: int) -> str:
        numbers = self._numbers
        if self._text_class and all(map(math.isfinite, numbers[1:])):
            return 'class is a text, not its number'
        if not all(math.isfinite(value) for value in numbers):
            return 'not only numbers'
        if len(numbers) == 6:
            return 'six numbers: a prediction with its score, not a label'
        if len(numbers) != 5 and (len(numbers) < 7 or len(numbers) % 2 == 0):
            return 'neither a box (5 numbers) nor a polygon (7, 9, ...)'
        if numbers[0] != int(numbers[0]):
            return 'class index is not an integer'
        if not 0 <= numbers[0] < class_count:
            return f'class index outside 0..{class_count - 1}'
        if len(numbers) == 5 and min(numbers[3:]) <= 0:
            return 'box without width or height'
        return ''

    def _bounds(self, values: list[float]) -> Box:
        xs, ys = values[0::2], values[1::2]
        self.fields['segmentation'] = [[tidy(value) for value in values]]
        self._notes.append(Note('changed', _POLYGON, self._where))
        return min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys)


def _number(word: str) -> float:
    try:
        return float(word)
    except ValueError:
        return math.nan
