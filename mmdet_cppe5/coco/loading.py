"""Parsing COCO JSON files and recognising files that are something else."""

from __future__ import annotations

import contextlib
import gc
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from mmdet_cppe5.coco.records import listed
from mmdet_cppe5.files import PathLike, keep, read_json

_TRUTH = 'ground truth (a COCO annotation file)'
_RESULTS = 'detections (a COCO result file)'
_TRUTH_ADVICE = (
    'ground truth is a JSON object with the lists images, annotations and '
    "categories, such as CPPE-5's annotations/test.json"
)
_RESULTS_ADVICE = (
    'results are a JSON list of objects with image_id, category_id, bbox '
    "and score, as CPPE5Metric(outfile_prefix='...') writes"
)

#: What a file that is no JSON starts with, in lower case, and what it is.
_OTHER_FILES = {
    b'pk\x03\x04': 'a ZIP archive (packed files, or a checkpoint)',
    b'version https://git-lfs': (
        "Git LFS's pointer to a file ('git lfs pull' fetches the file)"
    ),
    b'<!doctype html': 'a web page (a download that failed?)',
    b'<html': 'a web page (a download that failed?)',
    b'<?xml': 'XML',
}


def load_ground_truth_json(
    path: PathLike, annotated: bool = True
) -> dict[str, Any]:
    """Parse a COCO annotation file.

    Args:
        path: the file.
        annotated: whether it must have ``annotations``.

    Returns:
        The file's content, with lists ``images``, ``annotations`` and
        ``categories``.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if the file is something else, saying what it looks like.
    """
    data = _parse(path, _TRUTH, _TRUTH_ADVICE)
    if not annotated and isinstance(data, dict):
        data.setdefault('annotations', [])
    check_ground_truth_form(data, str(path))
    return data


def load_results_json(path: PathLike) -> list[dict[str, Any]]:
    """Parse a COCO result file: a list with one object per detection.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if the file is something else, saying what it looks like.
    """
    data = _parse(path, _RESULTS, _RESULTS_ADVICE)
    if not isinstance(data, list):
        raise ValueError(
            f'Expected detections in {path}, but the file holds '
            f'{_looks_like(data)}; {_RESULTS_ADVICE}.'
        )
    return data


@contextlib.contextmanager
def noticing_a_swap(
    ground_truth: PathLike, results: PathLike
) -> Iterator[None]:
    """Add to an error that two files are swapped, where they are.

    Args:
        ground_truth: the file given as ground truth, read in the block.
        results: the one given as detections.
    """
    try:
        yield
    except ValueError as error:
        if not _are_swapped(ground_truth, results):
            raise
        raise ValueError(
            f'{error} The two arguments are swapped: {results} holds the '
            'ground truth, which comes first.'
        ) from error


def _are_swapped(ground_truth: PathLike, results: PathLike) -> bool:
    try:
        first = read_json(ground_truth, _TRUTH)
        second = read_json(results, _RESULTS)
    except (OSError, ValueError):
        return False
    return (
        isinstance(first, list)
        and _looks_like(first) == 'detections'
        and _looks_like(second) == 'ground truth'
    )


def check_ground_truth_form(data: Any, source: str) -> None:
    """Check that parsed JSON has the three lists of a COCO annotation file.

    Args:
        data: the parsed JSON.
        source: the file's name, for the message.

    Raises:
        ValueError: if it has not, saying what it looks like.
    """
    if not isinstance(data, dict):
        raise ValueError(
            f'Expected ground truth in {source}, but the file holds '
            f'{_looks_like(data)}; {_TRUTH_ADVICE}.'
        )
    missing = [
        key
        for key in ('images', 'annotations', 'categories')
        if not isinstance(data.get(key), list)
    ]
    if missing == ['annotations'] and 'annotations' not in data:
        raise ValueError(
            f'Expected ground truth in {source}, but the file has no '
            "'annotations': a test set without published annotations cannot "
            'be evaluated here.'
        )
    if missing == ['categories'] and 'categories' not in data:
        raise ValueError(
            f'Expected ground truth in {source}, but the file has no '
            "'categories': a list with the id and the name of each class, "
            "such as {'id': 1, 'name': 'Mask'}."
        )
    wrong = next((key for key in missing if key in data), None)
    if wrong is not None:
        raise ValueError(
            f'Expected {wrong!r} of {source} to be a list of objects, but '
            f'it is {_looks_like(data[wrong])}.'
        )
    if missing:
        raise ValueError(
            f'Expected ground truth in {source} with the lists images, '
            f'annotations and categories, but {" and ".join(missing)} '
            f'{"is" if len(missing) == 1 else "are"} missing: the file '
            f'holds {_looks_like(data)}.'
        )


def _parse(path: PathLike, what: str, advice: str) -> Any:
    """Parse JSON; a file that is not JSON is looked at for a better word.

    Args:
        path: the file.
        what: what it should be, for the message.
        advice: how such a file looks, likewise.
    """
    try:
        with paused_collector():
            return _read(Path(path), what)
    except ValueError as error:
        guess = _guess(Path(path))
        if guess is None:
            raise
        raise ValueError(
            f'Expected {what} in {path}, but the file looks like {guess}; '
            f'{advice}.'
        ) from error


def _read(path: Path, what: str) -> Any:
    """Parse JSON; what the fast parser refuses, the other one words."""
    if path.is_file():
        with contextlib.suppress(msgspec.DecodeError, RecursionError):
            keep(path)
            return msgspec.json.decode(path.read_bytes())
    return read_json(path, what)


@contextlib.contextmanager
def paused_collector() -> Iterator[None]:
    """Halve the time of parsing: a large tree of lists holds no cycles."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _guess(path: Path) -> str | None:
    """Say what a file that is not JSON seems to be; None if no idea."""
    with path.open('rb') as stream:
        head = stream.read(4096)
    if head[:1] == b'\x80':
        return (
            'a pickle (what tools/test.py --out writes, or a checkpoint), '
            'which is not read here because opening one can run code'
        )
    for start, kind in _OTHER_FILES.items():
        if head.lstrip()[: len(start)].lower() == start:
            return kind
    first = head.split(b'\n', 1)[0]
    if b' - mmengine - ' in head or b' - mmdet - ' in head:
        return 'a text log of a training or test run'
    with contextlib.suppress(ValueError):
        line = json.loads(first) if b'\n' in head else None
        if isinstance(line, dict):
            kind = 'detections' if 'image_id' in line else 'a log'
            return f'{kind} with one JSON object a line'
    return None


def _looks_like(data: Any) -> str:
    """Say what well-formed JSON of the wrong kind seems to be."""
    if isinstance(data, list):
        return _looks_like_list(data)
    if not isinstance(data, dict):
        return 'null' if data is None else f'a single {type(data).__name__}'
    keys = set(data)
    if {'images', 'annotations'} <= keys:
        return 'ground truth'
    if data and all(isinstance(v, (int, float)) for v in data.values()):
        return f'a log or table of scores ({listed(sorted(keys), 3)})'
    if not data:
        return 'an empty object'
    return f'an object with the keys {listed(sorted(keys), 5)}'


def _looks_like_list(data: list[Any]) -> str:
    if not data:
        return 'an empty list'
    if isinstance(data[0], dict) and {'image_id', 'score'} <= set(data[0]):
        return 'detections'
    if isinstance(data[0], dict):
        return f'a list of objects with {listed(sorted(data[0]))}'
    return f'a list of {type(data[0]).__name__} values'
