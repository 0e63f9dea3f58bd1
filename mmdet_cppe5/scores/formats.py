"""Tables as text: aligned, CSV, Markdown, LaTeX."""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Sequence
from typing import Optional

FORMATS = ('text', 'csv', 'markdown', 'latex')

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


def format_table(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    title: Optional[str] = None,
    form: str = 'text',
) -> str:
    """Write a table: the first column to the left, the others to the right.

    Args:
        header: one name per column.
        rows: cells, as many per row as the header has.
        title: a line above the table.
        form: one of :data:`FORMATS`.
    """
    to_right = [column > 0 for column in range(len(header))]
    if form == 'csv':
        text = to_csv(header, rows)
    elif form == 'markdown':
        text = to_markdown(header, rows, to_right)
    elif form == 'latex':
        text = to_latex(header, rows, to_right)
    else:
        text = _aligned(header, rows)
    mark = {'csv': '# ', 'markdown': '**', 'latex': '% '}.get(form, '')
    if title is None:
        return text
    end = '**\n\n' if form == 'markdown' else '\n'
    return f'{mark}{title}{end}{text}'


def to_csv(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table as comma-separated values, undefined ones empty."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator='\n')
    writer.writerow(header)
    writer.writerows(
        ['' if cell == '-' else cell for cell in row] for row in rows
    )
    return stream.getvalue().rstrip('\n')


def to_markdown(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    to_right: Sequence[bool],
) -> str:
    """Return a table in GitHub's Markdown.

    Args:
        header: one name per column.
        rows: cells.
        to_right: whether to align each column to the right.
    """
    lines = [[_markdown(cell) for cell in line] for line in [header, *rows]]
    lines.insert(1, ['---:' if right else ':---' for right in to_right])
    return '\n'.join('| ' + ' | '.join(line) + ' |' for line in lines)


def to_latex(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    to_right: Sequence[bool],
) -> str:
    """Return a table in LaTeX, set with the booktabs package.

    Args:
        header: one name per column.
        rows: cells.
        to_right: whether to align each column to the right.
    """
    form = ''.join('r' if right else 'l' for right in to_right)
    head, *body = (
        ' & '.join(_latex(cell) for cell in line) + r' \\'
        for line in [header, *rows]
    )
    return '\n'.join(
        [
            '% needs \\usepackage{booktabs}',
            f'\\begin{{tabular}}{{{form}}}',
            '\\toprule',
            head,
            '\\midrule',
            *body,
            '\\bottomrule',
            '\\end{tabular}',
        ]
    )


def _aligned(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(display_width, each)) for each in zip(header, *rows)]
    rule = ['-' * width for width in widths]
    return '\n'.join(_line(cells, widths) for cells in [header, rule, *rows])


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    spaces = [' ' * (w - display_width(c)) for c, w in zip(cells, widths)]
    first = cells[0] + spaces[0]
    others = [space + cell for space, cell in zip(spaces[1:], cells[1:])]
    return '  '.join([first, *others]).rstrip()


def display_width(text: str) -> int:
    """Return how many columns of a terminal a text takes.

    Chinese, Japanese and Korean characters take two, combining ones none.
    """
    if text.isascii():
        return len(text)
    return sum(
        0
        if unicodedata.combining(letter)
        or unicodedata.category(letter) == 'Mn'
        else 1 + (unicodedata.east_asian_width(letter) in 'WF')
        for letter in text
    )


def _markdown(text: str) -> str:
    text = ' '.join(text.split())
    for sign in '\\`*_{}[]<>#|~':
        text = text.replace(sign, f'\\{sign}')
    return text


def _latex(text: str) -> str:
    text = ' '.join(text.split())
    return ''.join(_LATEX.get(letter, letter) for letter in text)
