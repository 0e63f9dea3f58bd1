"""One look for all figures: colours, axes, and the drawing that comes out.

Matplotlib is used through its objects only (``Figure``, never ``pyplot``), so
drawing keeps no state between figures and is safe in threads and on machines
without a screen.
"""

from __future__ import annotations

import io
import json
import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mmdet_cppe5.classes import CLASSES, PALETTE
from mmdet_cppe5.figures.glyphs import complete_glyphs

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK = '#1b1f24'
MUTED = '#5b6570'
GRID = '#dde2e8'
PAPER = '#ffffff'
ACCENT = '#0072b2'
CONTRAST = '#d55e00'

# Okabe and Ito's colour-blind-safe set (https://jfly.uni-koeln.de/color/)
# with its yellow darkened to be seen on white, then Tol's wine and olive
# (https://personal.sron.nl/~pault/): for data sets other than CPPE-5.
GENERIC = (
    '#0072b2',
    '#d55e00',
    '#009e73',
    '#cc79a7',
    '#56b4e9',
    '#b8860b',
    '#563c8c',
    '#882255',
    '#7a7a1e',
    '#5b6570',
)
LINE_STYLES = ('-', '--', ':', '-.')
MARKERS = ('o', 's', '^', 'D', 'v', 'P', 'X', '<', '>')
NAME_LENGTH = 28

# Saving SVG reads matplotlib's global settings, so one thread at a time.
_SVG_LOCK = threading.Lock()


def class_colours(names: Sequence[str]) -> list[str]:
    """Return one hexadecimal colour per class name.

    CPPE-5's classes keep their own colours, also when only some of them or
    another order are asked for; other names take the generic set in turn.
    """
    known = {
        name: '#{:02x}{:02x}{:02x}'.format(*rgb)
        for name, rgb in zip(CLASSES, PALETTE)
    }
    if set(names) <= set(known):
        return [known[name] for name in names]
    return [GENERIC[i % len(GENERIC)] for i in range(len(names))]


def label(name: str, length: int = NAME_LENGTH) -> str:
    """Make any name fit to be drawn: short, on one line, and literal.

    The middle of a long name is cut out, since names of one family often
    share their beginning and differ at the end. ``$`` is escaped, or
    matplotlib would read the text between two of them as a formula.
    """
    text = ' '.join(str(name).split())
    if len(text) > length:
        half = (length - 1) // 2
        text = f'{text[: length - 1 - half]}…{text[-half:]}'
    return text.replace('$', r'\$')


def safe_stem(name: str) -> str:
    """Turn any name into a file stem that stays inside its folder.

    >>> safe_stem('run/epoch 1'), safe_stem('../..')
    ('run-epoch-1', 'unnamed')
    """
    stem = re.sub(r'[^\w.+-]+', '-', str(name)).strip('.-')
    return stem[:80] or 'unnamed'


def require_matplotlib() -> None:
    """Raise an ImportError that names the extra when matplotlib is absent."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ImportError(
            'Figures need matplotlib, which is not installed; '
            "install it with: pip install 'mmdet-cppe5[plot]'"
        ) from error


@dataclass(frozen=True)
class Drawing:
    """A finished figure with the words that belong to it.

    Attributes:
        name: stem of its files, safe to use as such.
        title: a short heading.
        caption: what the figure shows and how to read it.
        alt: what it says, for those who cannot see it.
        figure: the matplotlib figure.
        wide: whether it needs the whole width of a page.
    """

    name: str
    title: str
    caption: str
    alt: str
    figure: Figure
    wide: bool = False

    def __post_init__(self) -> None:
        """See to it that every character has a glyph."""
        complete_glyphs(self.figure)

    def svg(self) -> str:
        """Return the figure as an SVG document whose text stays text."""
        import matplotlib

        settings = {
            'svg.fonttype': 'none',
            # Own ids per figure, the same ones in every run.
            'svg.hashsalt': self.name,
        }
        stream = io.StringIO()
        with _SVG_LOCK, matplotlib.rc_context(settings):
            self.figure.savefig(stream, format='svg', metadata={'Date': None})
        return stream.getvalue()

    def png(self, dpi: int = 160) -> bytes:
        """Return the figure as a PNG file's bytes."""
        stream = io.BytesIO()
        self.figure.savefig(stream, format='png', dpi=dpi)
        return stream.getvalue()

    def pixels(self, dpi: int = 110) -> np.ndarray:
        """Return the figure as an RGB array, uint8 of shape (H, W, 3)."""
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        self.figure.set_dpi(dpi)
        canvas = FigureCanvasAgg(self.figure)
        canvas.draw()
        return np.asarray(canvas.buffer_rgba())[..., :3].copy()


def new_figure(width: float, height: float) -> Figure:
    """Make an empty figure of a size in inches, laid out when drawn."""
    require_matplotlib()
    from matplotlib.figure import Figure

    return Figure(
        figsize=(width, height), layout='constrained', facecolor=PAPER
    )


def new_axes(
    width: float = 4.6, height: float = 3.2, **grid: Any
) -> tuple[Figure, Axes]:
    """Make a figure with one pair of axes in the common look.

    Args:
        width: in inches; 4.6 stays readable on a phone.
        height: in inches.
        **grid: passed to :func:`dress`.
    """
    figure = new_figure(width, height)
    axes = figure.add_subplot()
    dress(axes, **grid)
    return figure, axes


def dress(axes: Axes, grid: str = 'both') -> None:
    """Give axes the common look.

    Args:
        axes: the axes to change.
        grid: ``'x'``, ``'y'``, ``'both'`` or ``'none'``.
    """
    axes.set_facecolor(PAPER)
    for side in ('top', 'right'):
        axes.spines[side].set_visible(False)
    for side in ('left', 'bottom'):
        axes.spines[side].set_color(MUTED)
        axes.spines[side].set_linewidth(0.8)
    axes.tick_params(
        colors=MUTED, labelcolor=INK, labelsize=8.5, width=0.8, length=3
    )
    axes.set_axisbelow(True)
    if grid != 'none':
        axes.grid(True, axis=grid, color=GRID, linewidth=0.7)


def name_axes(axes: Axes, x: str = '', y: str = '', title: str = '') -> None:
    """Write the names of the axes, and a title flush left."""
    if x:
        axes.set_xlabel(x, fontsize=9, color=INK)
    if y:
        axes.set_ylabel(y, fontsize=9, color=INK)
    if title:
        axes.set_title(
            title, fontsize=9.5, color=INK, loc='left', fontweight='bold'
        )


def category_ticks(
    axes: Axes, names: Sequence[str], axis: str = 'y', size: float = 8.5
) -> None:
    """Put names at the positions 0, 1, 2 ... of an axis."""
    places = range(len(names))
    if axis == 'y':
        labels = [label(name) for name in names]
        axes.set_yticks(places, labels, fontsize=size, color=INK)
    else:
        labels = [label(name, 18) for name in names]
        axes.set_xticks(places, labels, fontsize=size, color=INK)
    axes.tick_params(axis=axis, length=0)


def slant(axes: Axes) -> None:
    """Turn the names under an axis so that long ones do not overlap."""
    axes.tick_params(axis='x', labelrotation=40)
    for tick in axes.get_xticklabels():
        tick.set(ha='right', rotation_mode='anchor')


def bare(axes: Axes) -> None:
    """Take away the frame and the tick marks, as tables have none."""
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)


def legend(axes: Axes, **options: Any) -> None:
    """Draw a plain legend when there is anything to tell apart."""
    handles, _ = axes.get_legend_handles_labels()
    if not handles:
        return
    settings: dict[str, Any] = dict(
        fontsize=8, frameon=False, labelcolor=INK, handlelength=2.2
    )
    settings.update(options)
    axes.legend(**settings).get_title().set_color(INK)


def note(axes: Axes, text: str, size: float = 9) -> None:
    """Write why there is nothing to see in the middle of empty axes."""
    axes.text(
        0.5,
        0.5,
        text,
        transform=axes.transAxes,
        ha='center',
        va='center',
        color=MUTED,
        fontsize=size,
    )


def plate() -> dict[str, Any]:
    """Return the box that keeps text readable above lines."""
    return dict(facecolor=PAPER, edgecolor='none', alpha=0.8, pad=1.2)


LINK = 'show-'


def link(artist: Artist, **wanted: Sequence[str]) -> None:
    """Mark a part of a figure as standing for some examples.

    A page may turn it into a link; files just carry the name of the part.

    Args:
        artist: the part.
        **wanted: ``errors`` and ``classes`` of the examples.
    """
    artist.set_gid(LINK + json.dumps(wanted).encode().hex())


def ink_on(background: str) -> str:
    """Return the colour of text that stands out best on a background.

    Args:
        background: ``'#rrggbb'``.
    """
    place = luminance(background) + 0.05
    on_ink = place / (luminance(INK) + 0.05)
    on_paper = (luminance(PAPER) + 0.05) / place
    return INK if on_ink > on_paper else PAPER


def luminance(colour: str) -> float:
    """Return the relative luminance of a colour as WCAG 2.1 defines it."""
    rgb = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(
        rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4
    )
    return float(linear @ [0.2126, 0.7152, 0.0722])


def percent(value: float, digits: int = 1) -> str:
    """Write a fraction as points of 0..100, or a dash when undefined.

    >>> percent(0.5), percent(float('nan'))
    ('50.0', '–')
    """
    if not np.isfinite(value):
        return '–'
    return f'{round(100 * float(value), digits) + 0.0:.{digits}f}'  # no -0.0
