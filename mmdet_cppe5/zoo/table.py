"""The zoo's table in Markdown, written between two markers of a file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Optional

from mmdet_cppe5.files import PathLike, write_text
from mmdet_cppe5.zoo.metafile import PAPER, PUBLIC, ZooModel, read_zoo

BEGIN = '<!-- zoo:begin -->'
END = '<!-- zoo:end -->'

_INTRODUCTION = """\
The columns from AP to FPS are the paper's own, measured on 100 test images
that were never released and on one V100; nobody can measure them again. "AP
public", where it appears, is for the 29 public test images, another quantity.
Parameters (millions, trained) and GMACs
(billions of multiply-accumulates at 3×800×1280) are given as paper / counted
here. Batch is GPUs × images, which the learning rate belongs to.
"""
PUBLIC_AP = 'AP public'
_METRICS = ('AP', 'AP50', 'AP75', 'AP small', 'AP medium', 'AP large')
_HEADS = (
    'Model',
    'Network',
    'Schedule',
    'Batch',
    *('AP', 'AP50', 'AP75', 'APs', 'APm', 'APl', 'FPS'),
    'Parameters',
    'GMACs',
    PUBLIC_AP,
    'Released file',
)


def zoo_table(folder: PathLike, root: PathLike) -> str:
    """Return the table for a file.

    Args:
        folder: where the file lies; links are relative to it.
        root: the project's root, where ``configs`` lies.

    Returns:
        The text that belongs between the markers.
    """
    models = read_zoo()
    notes = [model.note for model in models if model.note]
    measured = any(model.results.get(PUBLIC) for model in models)
    heads = [head for head in _HEADS if measured or head != PUBLIC_AP]
    lines = [_INTRODUCTION, _row(heads), _row(['---'] * len(heads))]
    for model in models:
        link = os.path.relpath(Path(root) / model.config, folder)
        name = f'[{model.title}]({Path(link).as_posix()})'
        if model.note:
            name += f'<sup>{notes.index(model.note) + 1}</sup>'
        lines.append(_row(_cells(model, name, measured)))
    lines.append('')
    lines += [f'{number}. {note}' for number, note in enumerate(notes, 1)]
    return '\n'.join(lines)


def stale(path: PathLike, root: PathLike) -> bool:
    """Whether a file's table is not the one of the metafile."""
    text = Path(path).read_text(encoding='utf-8')
    return text != _replaced(path, text, root)


def update(path: PathLike, root: PathLike) -> None:
    """Write the table between the markers of a file.

    Args:
        path: the file.
        root: the project's root.

    Raises:
        ValueError: if the file does not have the two markers once each.
    """
    text = Path(path).read_text(encoding='utf-8')
    write_text(path, _replaced(path, text, root))


def _replaced(path: PathLike, text: str, root: PathLike) -> str:
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        raise ValueError(
            f'Expected {BEGIN} and {END} once each in {path}, but got '
            f'{text.count(BEGIN)} and {text.count(END)}.'
        )
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    table = zoo_table(Path(path).resolve().parent, Path(root).resolve())
    return f'{before}{BEGIN}\n\n{table}\n\n{END}{after}'


def _cells(model: ZooModel, name: str, measured: bool) -> list[str]:
    paper = model.results.get(PAPER, {})
    public = model.results.get(PUBLIC, {})
    size, work = model.paper.get('Parameters (M)'), model.paper.get('GMACs')
    return [
        name,
        model.architecture,
        model.schedule,
        model.batch.replace('x', '×'),
        *(_number(paper.get(f'box {metric}')) for metric in _METRICS),
        _number(model.paper.get('FPS (V100)')),
        f'{_number(size, 2)} / {_number(model.parameters, 3)}',
        f'{_number(work, 2)} / {_number(model.gmacs, 2)}',
        *([_number(public.get('box AP'))] if measured else []),
        f'[.pth]({model.released.urls[0]})' if model.released else '–',
    ]


def _row(cells: list[str] | tuple[str, ...]) -> str:
    return f'| {" | ".join(cells)} |'


def _number(value: Optional[float], digits: int = 1) -> str:
    return '–' if value is None else f'{value:.{digits}f}'
