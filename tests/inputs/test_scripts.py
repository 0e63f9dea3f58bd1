"""Class names of any script, in tables and figures."""

import warnings

import pytest
from world import found, truth

from mmdet_cppe5.figures import glyphs
from mmdet_cppe5.scores.formats import Table, display_width

NAMES = ['口罩', 'маска', 'หน้ากาก', 'マスク', 'قناع', '마스크', '😷']


@pytest.mark.parametrize(
    ('text', 'width'),
    [('Mask', 4), ('口罩', 4), ('マスク', 6), ('ﾏｽｸ', 3), ('é', 1),
     ('e\u0301', 1), ('маска', 5)],
)  # fmt: skip
def test_display_width(text, width):
    assert display_width(text) == width


def test_columns_are_aligned_by_display_width():
    rows = [[name, f'{k}.0'] for k, name in enumerate(NAMES)]
    lines = Table(['class', 'AP'], rows).write().splitlines()
    assert len({display_width(line) for line in lines}) == 1


def test_figures_have_every_glyph_and_warn_at_most_once(folder):
    data = truth()
    data['categories'] = [
        {'id': key, 'name': name} for key, name in enumerate(NAMES, start=1)
    ]
    gt, dt = folder.write('gt.json', data), folder.write('dt.json', found())
    glyphs._warn_once.cache_clear()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter('always')
        for words in (
            ('stats', gt, '--plots', folder.path / 'plots'),
            ('report', gt, dt, '--resamples', 0, '--out', folder.path / 'r'),
        ):
            code, _, complaint = folder.run(*words)
            assert code == 0, complaint
    texts = [str(item.message) for item in caught]
    assert not [text for text in texts if 'Glyph' in text]
    assert len([text for text in texts if 'No font' in text]) <= 1


@pytest.mark.parametrize('name', ['قفازات', 'משקפי מגן'])
@pytest.mark.parametrize('new', [True, False])
def test_an_old_matplotlib_is_said_to_write_names_backwards(
    monkeypatch, name, new
):
    figure = pytest.importorskip('matplotlib.figure').Figure()
    figure.text(0.1, 0.1, name)
    figure.text(0.1, 0.5, name)
    monkeypatch.setattr(glyphs, '_lays_out', lambda: new)
    glyphs._warn_of_order_once.cache_clear()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter('always')
        glyphs.complete_glyphs(figure)
    assert len(caught) == (not new)


@pytest.mark.skipif(not glyphs._lays_out(), reason='matplotlib before 3.11')
def test_arabic_letters_are_joined():
    """Joined letters take less room than the same letters apart."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure()
    renderer = FigureCanvasAgg(figure).get_renderer()

    def width(text):
        drawn = figure.text(0, 0, text, size=40)
        return drawn.get_window_extent(renderer).width

    name = 'قفازات'
    assert width(name) < 0.9 * sum(map(width, name))
    assert width('gloves') > 0.9 * sum(map(width, 'gloves'))
