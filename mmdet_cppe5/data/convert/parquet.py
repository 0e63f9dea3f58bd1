"""Hugging Face parquet files of a detection data set -> COCO and images.

The form of ``rishitdagli/cppe-5``: columns ``image_id``, ``image`` (bytes),
``width``, ``height`` and ``objects`` with ``id``, ``area``, ``bbox`` (x, y,
width, height in pixels) and ``category``, a position counted from 0.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Optional

from mmdet_cppe5.coco.records import listed
from mmdet_cppe5.data.convert.conversion import (
    Conversion,
    Note,
    OfficialForm,
    tidy,
)
from mmdet_cppe5.images import content_format, image_size
from mmdet_cppe5.files import PathLike, atomic_path

_COLUMNS = ('image_id', 'image', 'objects')
_ROWS = 16  # rows in memory at a time; an image may have 10 MB


def parquet_to_coco(
    files: Sequence[PathLike],
    images: PathLike,
    classes: Optional[Sequence[str]] = None,
) -> Conversion:
    """Convert the parquet files of one split, and write its images.

    Images keep their bytes; they are named ``ID.png`` as in the official
    archive, whatever their format. Declared sizes are kept as they are, even
    where they differ from the file's.

    Args:
        files: the split's files, in order.
        images: the folder for the image files.
        classes: class names by position; None reads them from the files'
            own description.

    Raises:
        ImportError: if pyarrow is missing.
        ValueError: if a file is not such a parquet file, names no classes
            or repeats an image id.
    """
    names = list(classes or _class_names(files[0]))
    form, notes = OfficialForm(names), []
    seen: set[int] = set()
    for where, row in _rows(files):
        image_id = row['image_id']
        if not isinstance(image_id, int) or image_id in seen:
            raise ValueError(
                f'Expected an integer image_id of its own in {where}, but '
                f'got {image_id!r}.'
            )
        seen.add(image_id)
        data = (row['image'] or {}).get('bytes')
        if not data or not content_format(data):
            notes.append(Note('dropped', 'image without image data', where))
            continue
        name = f'{image_id}.png'
        with atomic_path(Path(images) / name) as path:
            path.write_bytes(data)
        width, height = row.get('width'), row.get('height')
        if not width or not height:
            width, height = image_size(data, where)
        form.add_image(name, width, height, image_id)
        _add_objects(form, row, len(names), where, notes)
    return Conversion(form.dataset(), notes)


def _add_objects(
    form: OfficialForm,
    row: dict[str, Any],
    class_count: int,
    where: str,
    notes: list[Note],
) -> None:
    for position, item in enumerate(_objects(row['objects'])):
        place = f'{where}, object {position}'
        category, box = item.get('category'), item.get('bbox')
        if not isinstance(category, int) or not 0 <= category < class_count:
            why = f'category outside 0..{class_count - 1}'
            notes.append(Note('dropped', why, place))
            continue
        if not box or len(box) != 4:
            notes.append(Note('dropped', 'box without four numbers', place))
            continue
        fields = {}
        if item.get('area') is not None:
            fields['area'] = tidy(item['area'])
        if item.get('id') is not None:
            fields['id'] = int(item['id'])
        form.add_box(row['image_id'], category, box, **fields)


def _objects(value: Any) -> list[dict[str, Any]]:
    """Return objects one by one, from a list of them or lists of fields."""
    if isinstance(value, dict):
        lengths = {len(column) for column in value.values()}
        if len(lengths) > 1:
            raise ValueError(
                'Expected as many of each field of objects, but got '
                f'{ {name: len(column) for name, column in value.items()} }.'
            )
        rows = zip(*value.values())
        return [dict(zip(value, row)) for row in rows]
    return list(value or [])


def _parquet_file(path: PathLike) -> Any:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError(
            "Reading parquet needs pyarrow: pip install 'mmdet-cppe5[data]'."
        ) from error
    try:
        return pyarrow.parquet.ParquetFile(path)
    except pyarrow.ArrowInvalid as error:
        raise ValueError(
            f'Expected a parquet file in {path}, but it is not one or is cut '
            f'short ({error}).'
        ) from error


def _rows(files: Sequence[PathLike]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path in files:
        with _parquet_file(path) as parquet:
            missing = set(_COLUMNS) - set(parquet.schema_arrow.names)
            if missing:
                raise ValueError(
                    f'Expected the columns {listed(_COLUMNS)} in {path}, but '
                    f'it lacks {listed(sorted(missing))}.'
                )
            number = 0
            for batch in parquet.iter_batches(batch_size=_ROWS):
                for row in batch.to_pylist():
                    yield f'{Path(path).name}, row {number}', row
                    number += 1


def _class_names(path: PathLike) -> list[str]:
    """Find the class names in the description that ``datasets`` stores."""
    with _parquet_file(path) as parquet:
        metadata = parquet.schema_arrow.metadata or {}
    stack = [json.loads(metadata.get(b'huggingface', b'{}'))]
    while stack:
        value = stack.pop()
        if isinstance(value, list):
            stack.extend(value)
        elif isinstance(value, dict):
            if value.get('_type') == 'ClassLabel':
                return list(value['names'])
            stack.extend(value.values())
    raise ValueError(
        f'Expected class names in the description inside {path}, but it has '
        'none; name them with --classes.'
    )
