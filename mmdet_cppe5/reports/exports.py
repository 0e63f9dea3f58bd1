"""Files for papers and issues: figures as PNG and SVG, tables as text."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from mmdet_cppe5.core.settings import listed
from mmdet_cppe5.figures import Drawing
from mmdet_cppe5.files import PathLike, atomic_path
from mmdet_cppe5.reports.page import Table
from mmdet_cppe5.scores import formats


def save_drawing(
    drawing: Drawing, folder: PathLike, formats: Sequence[str] = ('png', 'svg')
) -> list[Path]:
    """Write a figure to a folder, once per format.

    Args:
        drawing: the figure.
        folder: where to; made when missing.
        formats: of ``'png'`` and ``'svg'``.

    Returns:
        The files written.

    Raises:
        ValueError: for another format.
    """
    content = {'png': drawing.png, 'svg': lambda: drawing.svg().encode()}
    unknown = sorted(set(formats) - set(content))
    if unknown:
        raise ValueError(
            f'Expected figure formats of png, svg, but got {listed(unknown)}.'
        )
    paths = []
    for kind in formats:
        path = Path(folder) / f'{drawing.name}.{kind}'
        with atomic_path(path) as temporary:
            temporary.write_bytes(content[kind]())
        paths.append(path)
    return paths


def to_markdown(table: Table) -> str:
    """Return a table in GitHub's Markdown, numbers to the right."""
    return formats.to_markdown(*_plain(table)) + '\n'


def to_latex(table: Table) -> str:
    """Return a table in LaTeX, set with the booktabs package."""
    return formats.to_latex(*_plain(table)) + '\n'


def _plain(table: Table) -> tuple[list[str], list[list[str]], list[bool]]:
    """Return header, cells, and which columns go to the right."""
    return (
        [column.name for column in table.columns],
        [
            [f'{cell.text} {cell.small}'.strip() for cell in row.cells]
            for row in table.rows
        ],
        [column.number for column in table.columns],
    )
