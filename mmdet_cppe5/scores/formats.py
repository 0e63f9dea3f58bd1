"""Tables as data, and as text: aligned, CSV, Markdown, LaTeX."""

from __future__ import annotations

import csv
import io
import itertools
import textwrap
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Optional, Union

FORMATS = ('text', 'csv', 'markdown', 'latex')
#: A cell without a number; empty in CSV.
UNDEFINED = '-'

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


# Columns that a cell has before it goes on below.
_CELL = 24


@dataclass(frozen=True)
class Table:
    """Cells with a header: the first column to the left, others to the right.

    Attributes:
        header: one name per column.
        rows: cells, as many per row as the header has.
        title: a line above the table.
        notes: what to know about it; only in the text form, below the table.

    Raises:
        ValueError: if a row has more or fewer cells than the header.
    """

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    title: Optional[str] = None
    notes: Sequence[str] = ()

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.header):
                raise ValueError(
                    f'Expected {len(self.header)} cells in every row, but '
                    f'got {len(row)}: {", ".join(row)}.'
                )

    def write(self, form: str = 'text', width: Optional[int] = None) -> str:
        """Return the table as text.

        Args:
            form: one of :data:`FORMATS`.
            width: columns of the terminal, which the text form fits: long
                names go on below, and columns without room stand in a
                further block. None for any width.
        """
        to_right = [column > 0 for column in range(len(self.header))]
        title = self.title
        if form == 'csv':
            parts = [f'# {title}', to_csv(self.header, self.rows)]
        elif form == 'markdown':
            text = to_markdown(self.header, self.rows, to_right)
            parts = [f'**{title}**\n', text]
        elif form == 'latex':
            text = to_latex(self.header, self.rows, to_right)
            parts = [f'% {title}', text]
        else:
            parts = [
                filled(title or '', width),
                _aligned(self.header, self.rows, width),
                *(filled(note, width) for note in self.notes),
            ]
        return '\n'.join(parts if title is not None else parts[1:])

    def __str__(self) -> str:
        return self.write()


def write_parts(
    parts: Iterable[Union[Table, str]],
    form: str = 'text',
    width: Optional[int] = None,
) -> str:
    """Return tables and what is said between them, a blank line apart.

    Args:
        parts: tables, and text; the text only goes into the text form.
        form: one of :data:`FORMATS`.
        width: columns of the terminal, None for any width.
    """
    written = [
        part.write(form, width)
        if isinstance(part, Table)
        else filled(part, width)
        for part in parts
        if form == 'text' or isinstance(part, Table)
    ]
    return '\n\n'.join(written)


def filled(text: str, width: Optional[int]) -> str:
    """Return text with its lines broken between words to fit a width."""
    if width is None:
        return text
    return '\n'.join(
        textwrap.fill(
            line, width, break_long_words=False, break_on_hyphens=False
        )
        for line in text.splitlines()
    )


def to_csv(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table as comma-separated values, undefined ones empty."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator='\n')
    writer.writerow(header)
    writer.writerows(
        ['' if cell == UNDEFINED else cell for cell in row] for row in rows
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


def _aligned(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    width: Optional[int],
) -> str:
    lines = [header, *rows]
    widths = [max(map(display_width, each)) for each in zip(*lines)]
    if width is None or sum(widths) + 2 * len(widths) - 2 <= width:
        return _block(lines, widths)
    widths = _shrunk(widths, width)
    return '\n\n'.join(
        _block(
            [[line[column] for column in columns] for line in lines],
            [widths[column] for column in columns],
        )
        for columns in _blocks(widths, width)
    )


def _shrunk(widths: Sequence[int], width: int) -> list[int]:
    """Take from the widest columns what is too much, where they have it."""
    least = min(_CELL, width // 3)
    widths = list(widths)
    for column in sorted(range(len(widths)), key=lambda c: -widths[c]):
        excess = sum(widths) + 2 * len(widths) - 2 - width
        if excess > 0:
            widths[column] = max(
                widths[column] - excess, min(widths[column], least)
            )
    return widths


def _blocks(widths: Sequence[int], width: int) -> list[list[int]]:
    """Deal columns out to blocks that fit; each starts with the first."""
    blocks = [[0]]
    room = width - widths[0]
    for column in range(1, len(widths)):
        need = widths[column] + 2
        if need > room and len(blocks[-1]) > 1:
            blocks.append([0])
            room = width - widths[0]
        blocks[-1].append(column)
        room -= need
    return blocks


def _block(lines: Sequence[Sequence[str]], widths: Sequence[int]) -> str:
    """Return lines of cells; what is too long for its column goes on below."""
    rule = ['-' * width for width in widths]
    written = []
    for cells in [lines[0], rule, *lines[1:]]:
        broken = [_broken(cell, width) for cell, width in zip(cells, widths)]
        written += [
            _line(each, widths)
            for each in itertools.zip_longest(*broken, fillvalue='')
        ]
    return '\n'.join(written)


def _broken(text: str, width: int) -> list[str]:
    """Break a name into lines, at spaces and hyphens where it has them."""
    if display_width(text) <= width:
        return [text]
    # Letters that take two columns: as if all of them did.
    room = width if display_width(text) <= len(text) else width // 2
    return textwrap.wrap(text, max(room, 4), subsequent_indent='  ')


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
