"""Tables for papers and issues: Markdown and LaTeX."""

from __future__ import annotations

from collections.abc import Callable

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
