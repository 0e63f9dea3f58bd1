"""Files for papers and issues: figures as PNG and SVG, tables as text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from mmdet_cppe5.core.settings import listed
from mmdet_cppe5.figures import Drawing
from mmdet_cppe5.files import PathLike, atomic_path
from mmdet_cppe5.report.page import Cell, Table

_LATEX = {
    '\\': r'\textbackslash{}',
    '&': r'\&',
    '%': r'\%',
    '$': r'\$',
    '#': r'\#',
    '_': r'\_',
    '{': r'\{',
    '}': r'\}',
    '~': r'\textasciitilde{}',
    '^': r'\textasciicircum{}',
    '–': '--',
    '…': r'\ldots{}',
    'Δ': r'$\Delta$',
    '≥': r'$\geq$',
    '×': r'$\times$',
}


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
    head = [_markdown(column.name) for column in table.columns]
    rule = ['---:' if column.number else ':---' for column in table.columns]
    rows = _cells(table, _markdown)
    return ''.join(
        '| ' + ' | '.join(line) + ' |\n' for line in [head, rule, *rows]
    )


def to_latex(table: Table) -> str:
    """Return a table in LaTeX, set with the booktabs package."""
    form = ''.join('r' if column.number else 'l' for column in table.columns)
    head = ' & '.join(_latex(column.name) for column in table.columns)
    rows = [' & '.join(row) for row in _cells(table, _latex)]
    return '\n'.join(
        [
            '% needs \\usepackage{booktabs}',
            f'\\begin{{tabular}}{{{form}}}',
            '\\toprule',
            f'{head} \\\\',
            '\\midrule',
            *(f'{row} \\\\' for row in rows),
            '\\bottomrule',
            '\\end{tabular}',
            '',
        ]
    )


def _cells(table: Table, escape: Callable[[str], str]) -> list[list[str]]:
    return [[escape(_full(cell)) for cell in row.cells] for row in table.rows]


def _full(cell: Cell) -> str:
    return f'{cell.text} {cell.small}'.strip()


def _markdown(text: str) -> str:
    text = ' '.join(text.split())
    for sign in '\\`*_{}[]<>#|~':
        text = text.replace(sign, f'\\{sign}')
    return text


def _latex(text: str) -> str:
    text = ' '.join(text.split())
    return ''.join(_LATEX.get(letter, letter) for letter in text)
