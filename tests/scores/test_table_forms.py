"""Tables in every form, read back; and narrow ones that lose nothing."""

import csv
import re

import pytest

from mmdet_cppe5.scores.formats import Table, display_width, write_parts

NAMES = [
    'plain',
    'a,b "c"',
    'x_y & 50 % #1 $ {z} ^~\\',
    'pipe | star *',
    '面罩',
]
TABLE = Table(
    ['class', 'AP', 'AR100'],
    [[name, f'{k}.5', '-'] for k, name in enumerate(NAMES)],
    'Scores_of',
    ['A note.'],
)


def test_csv_is_read_back():
    title, *lines = TABLE.write('csv').splitlines()
    assert title == '# Scores_of'
    header, *rows = csv.reader(lines)
    assert header == ['class', 'AP', 'AR100']
    assert rows == [[name, f'{k}.5', ''] for k, name in enumerate(NAMES)]


def test_markdown_is_read_back():
    lines = TABLE.write('markdown').splitlines()[2:]
    cells = [re.split(r'(?<!\\)\|', line)[1:-1] for line in lines]
    assert {len(row) for row in cells} == {3}
    assert [row.strip() for row in cells[1]] == [':---', '---:', '---:']
    names = [re.sub(r'\\(.)', r'\1', row[0]).strip() for row in cells[2:]]
    assert names == NAMES


def test_latex_is_read_back():
    text = TABLE.write('latex')
    (form,) = re.findall(r'\\begin\{tabular\}\{(\w+)\}', text)
    assert form == 'lrr'
    rows = [line for line in text.splitlines() if line.endswith(r' \\')]
    cells = [re.split(r'(?<!\\)&', row[:-3]) for row in rows]
    assert {len(row) for row in cells} == {len(form)}
    said = {
        r'\textbackslash{}': '\\',
        r'\textasciicircum{}': '^',
        r'\textasciitilde{}': '~',
    }
    names = []
    for row in cells[1:]:
        name = row[0].strip()
        for command, sign in said.items():
            name = name.replace(command, sign)
        names.append(re.sub(r'\\([&%$#_{}])', r'\1', name))
    assert names == NAMES


@pytest.mark.parametrize('form', ['csv', 'markdown', 'latex'])
def test_only_tables_go_into_other_forms(form):
    text = write_parts(['A sentence.', TABLE], form)
    assert text == TABLE.write(form)
    assert 'note' not in text


def test_every_row_has_as_many_cells_as_the_header():
    with pytest.raises(ValueError, match='Expected 2 cells in every row'):
        Table(['class', 'AP'], [['Mask']])


@pytest.mark.parametrize('width', [30, 40, 80])
def test_narrow_tables_lose_nothing(width):
    names = ['a-rather-long-name-of-a-detector', 'n' * 60, '防护' * 20, 'Mask']
    rows = [[name, *(f'{name[0]}{k}' for k in range(20))] for name in names]
    table = Table(['class', *(f'column{k}' for k in range(20))], rows)
    text = table.write(width=width)
    assert max(map(display_width, text.splitlines())) <= width
    for cell in [f'{name[0]}{k}' for name in names for k in range(20)]:
        assert len(re.findall(rf'\b{cell}\b', text)) == 1
    for block in text.split('\n\n'):
        lines = [line.strip() for line in block.splitlines()]
        said = ''.join(re.split(r'  +', line)[0] for line in lines)
        assert all(name in said for name in names)


def test_wide_terminals_change_nothing():
    assert TABLE.write(width=200) == TABLE.write()
