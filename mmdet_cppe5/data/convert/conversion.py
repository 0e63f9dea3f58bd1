"""What all converters share: the official COCO form and a list of notes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import PurePosixPath
from typing import Any, Optional, Union

from mmdet_cppe5.coco.records import listed

Number = Union[int, float]

#: The share of its objects that a conversion, a split or a fix may lose.
MOST_LOST = 0.5


@dataclass(frozen=True)
class Note:
    """One thing that a conversion left out or altered.

    Attributes:
        kind: ``'dropped'`` or ``'changed'``.
        why: the reason, the same words for the same reason.
        where: the file, line, image or annotation it happened to.
    """

    kind: str
    why: str
    where: str


@dataclass
class Conversion:
    """A converted data set or result file, and what was lost on the way.

    Attributes:
        content: the JSON value to be written: a data set in the official
            COCO form, or a list of COCO results.
        notes: everything dropped or changed, in order.
        remarks: sentences about how the input was read.
        kept: how many objects are left; None counts them in ``content``.
    """

    content: Any
    notes: list[Note] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    kept: Optional[int] = None

    def main_reason(self) -> str:
        """Say why most of what was dropped was, with an example."""
        dropped = [note for note in self.notes if note.kind == 'dropped']
        if not dropped:
            return 'the input holds none'
        (why, count), *_ = Counter(note.why for note in dropped).most_common(1)
        where = next(note.where for note in dropped if note.why == why)
        return f'{why} ({count:,} of {len(dropped):,} dropped, such as {where})'

    def check_loss(self, most: float = MOST_LOST) -> None:
        """Make sure that enough is left to call it a success.

        Args:
            most: the share of the objects that may be dropped.

        Raises:
            ValueError: if no object is left, or more are dropped; the main
                reason comes first.
        """
        kept = self._objects() if self.kept is None else self.kept
        lost = sum(note.kind == 'dropped' for note in self.notes)
        if kept and lost <= most * (kept + lost):
            return
        raise ValueError(
            f'Expected at least {1 - most:.0%} of the objects to be left, but '
            f'{f"only {kept:,}" if kept else "none"} of {kept + lost:,} '
            f'{"are" if kept > 1 else "is"}: {self.main_reason()}. Nothing '
            'was written; --allow-empty writes what is left.'
        )

    def _objects(self) -> int:
        content = self.content
        return len(
            content['annotations'] if isinstance(content, dict) else content
        )

    def summary(self, examples: int = 3) -> list[str]:
        """Return one line for each reason, with a count and examples."""
        groups: dict[tuple[str, str], list[str]] = {}
        for note in self.notes:
            groups.setdefault((note.kind, note.why), []).append(note.where)
        lines = []
        for (kind, why), places in groups.items():
            more = len(places) - examples
            tail = f' and {more:,} more' if more > 0 else ''
            shown = ', '.join(places[:examples])
            lines.append(f'{kind} {len(places):,}: {why} ({shown}{tail})')
        return lines

    def report(self) -> list[dict[str, str]]:
        """Return the notes as JSON objects."""
        return [asdict(note) for note in self.notes]


def tidy(value: float) -> Number:
    """Round to a millionth of a pixel, and to an int where it is one.

    A millionth is far above the rounding errors of the conversions and far
    below any annotation's precision, so integers come back as integers.
    """
    rounded = round(float(value), 6)
    return int(rounded) if rounded == int(rounded) else rounded


def numeric_ids(names: Sequence[str]) -> list[int]:
    """Return one image id for each file name.

    ``1003.png`` gets 1003, as in CPPE-5, if every name is such a number and
    no two are the same; otherwise the ids are 1, 2, 3, ... in the order
    given.

    Args:
        names: file names, with or without folders.
    """
    stems = [PurePosixPath(name).stem for name in names]
    if all(stem.isascii() and stem.isdigit() for stem in stems):
        numbers = [int(stem) for stem in stems]
        if len(set(numbers)) == len(numbers):
            return numbers
    return list(range(1, len(names) + 1))


class OfficialForm:
    """Builds a data set in the form of CPPE-5's own annotation files.

    Args:
        classes: the class names; they get the category ids 1, 2, 3, ...
    """

    def __init__(self, classes: Sequence[str]) -> None:
        repeated = {name for name in classes if classes.count(name) > 1}
        if repeated:
            raise ValueError(
                'Expected each class name once, but these are repeated: '
                f'{listed(sorted(repeated))}.'
            )
        self._images: list[dict[str, Any]] = []
        self._annotations: list[dict[str, Any]] = []
        self._categories = [
            {'supercategory': 'none', 'id': position, 'name': name}
            for position, name in enumerate(classes, start=1)
        ]

    def add_image(
        self, file_name: str, width: int, height: int, image_id: int
    ) -> None:
        """Add an image of ``width`` x ``height`` pixels."""
        self._images.append(
            {
                'file_name': file_name,
                'height': int(height),
                'width': int(width),
                'id': image_id,
            }
        )

    def add_box(
        self,
        image_id: int,
        class_index: int,
        box: Iterable[float],
        **fields: Any,
    ) -> None:
        """Add a box; annotation ids count from 1 unless given.

        Args:
            image_id: the id of its image.
            class_index: the position of its class among ``classes``.
            box: x, y, width, height in pixels.
            **fields: official fields that differ from the usual ones.
        """
        x, y, width, height = (tidy(value) for value in box)
        annotation = {
            'area': tidy(width * height),
            'iscrowd': 0,
            'bbox': [x, y, width, height],
            'category_id': class_index + 1,
            'ignore': 0,
            'segmentation': [],
            'image_id': image_id,
            'id': len(self._annotations) + 1,
        }
        annotation.update(fields)
        self._annotations.append(annotation)

    def dataset(self) -> dict[str, Any]:
        """Return the data set as a JSON value."""
        return {
            'images': self._images,
            'type': 'instances',
            'annotations': self._annotations,
            'categories': self._categories,
        }


def clip_box(
    box: tuple[float, float, float, float], width: float, height: float
) -> tuple[float, float, float, float]:
    """Cut a box x, y, w, h to an image; w or h is <= 0 if nothing is left."""
    x, y, w, h = box
    left, top = max(x, 0.0), max(y, 0.0)
    return (
        left,
        top,
        min(x + w, float(width)) - left,
        min(y + h, float(height)) - top,
    )
