"""Figures inside a page: SVG whose colours and fonts follow the page's theme.

Each colour of a drawing becomes a CSS variable, and a second set of values
for the dark theme is computed: lightness is turned round in the OKLab space
while hue stays, so what stood out on white stands out on black.
"""

from __future__ import annotations

import html
import re

import numpy as np

from mmdet_cppe5.classes import PALETTE
from mmdet_cppe5.figures.style import GENERIC, INK, LINK, PAPER, Drawing

DARK_PAPER = '#171a1e'

_COLOUR = re.compile(r'#[0-9a-f]{6}\b')
_STYLE = re.compile(r'style="[^"]*"')
_GROUP_ID = re.compile(r'(<g) id="[^"]*"')
_LINK = re.compile(rf'<g id="{LINK}([0-9a-f]+)"')
_FAMILY = re.compile(r'(font-family: |font: [^\";]*?px )[^\";]+')
_PATH = re.compile(r' d="[^"]*"')
_DIGITS = re.compile(r'(\.\d\d)\d+')

# OKLab, https://bottosson.github.io/posts/oklab/ (public domain): linear
# sRGB -> cone responses -> cube roots -> lightness and two hue axes.
_TO_CONES = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_TO_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)

# Lightness of ink and paper, on the light page and on the dark one.
_INK, _PAPER = 0.24, 1.0
_DARK_INK, _DARK_PAPER = 0.93, 0.215
# Colours of classes and series keep the order of their lightness, which
# tells some of them apart, and become this light at least in the dark.
_DATA_FLOOR, _DATA_SLOPE = 0.33, 0.68


def _to_lab(colour: str) -> np.ndarray:
    rgb = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(
        rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4
    )
    return _TO_LAB @ np.cbrt(_TO_CONES @ linear)


def _to_hex(lab: np.ndarray) -> str:
    cones = np.linalg.solve(_TO_LAB, lab) ** 3
    linear = np.clip(np.linalg.solve(_TO_CONES, cones), 0, 1)
    rgb = np.where(
        linear <= 0.0031308,
        linear * 12.92,
        1.055 * linear ** (1 / 2.4) - 0.055,
    )
    return '#{:02x}{:02x}{:02x}'.format(
        *np.clip(np.rint(rgb * 255), 0, 255).astype(int)
    )


def dark_colour(colour: str) -> str:
    """Return the counterpart of a colour for the dark theme.

    Args:
        colour: ``'#rrggbb'``, chosen to be seen on white.

    Returns:
        ``'#rrggbb'`` of the same hue: white becomes the dark paper, black
        the light ink; the colours of classes and series keep at least the
        lightness that tells them from the dark paper.
    """
    data = {'#{:02x}{:02x}{:02x}'.format(*rgb) for rgb in PALETTE}
    lab = _to_lab(colour)
    if colour == PAPER:
        return DARK_PAPER
    if colour in data | set(GENERIC):
        turned = _DATA_FLOOR + _DATA_SLOPE * lab[0]
    else:
        share = (lab[0] - _INK) / (_PAPER - _INK)
        turned = min(_DARK_INK + (_DARK_PAPER - _DARK_INK) * share, 1)
    lab[0] = turned
    return _to_hex(lab)


def variable(colour: str) -> str:
    """Return the name of the CSS variable that stands for a colour."""
    return f'--c{colour[1:]}'


def _shorten_path(match: re.Match[str]) -> str:
    """Round a path to hundredths of a point, on one line."""
    return ' '.join(_DIGITS.sub(r'\1', match.group(0)).split()).replace(
        'd=', ' d=', 1
    )


def _to_link(match: re.Match[str]) -> str:
    """Make a marked part of a figure a link that the page's script follows."""
    wanted = html.escape(bytes.fromhex(match.group(1)).decode())
    return f'<g role="button" tabindex="0" data-show="{wanted}"'


def inline_svg(drawing: Drawing, colours: set[str]) -> str:
    """Return a drawing as SVG to be put into HTML as it is.

    Args:
        drawing: the figure.
        colours: receives every colour used, for :func:`theme_css`.

    Returns:
        An ``<svg>`` element without fixed size, whose colours are variables
        and whose text takes the page's font.
    """

    def use_variables(match: re.Match[str]) -> str:
        style = _FAMILY.sub(r'\1var(--font)', match.group(0))
        colours.update(_COLOUR.findall(style))
        return _COLOUR.sub(lambda c: f'var({variable(c.group(0))})', style)

    svg = drawing.svg()
    svg = svg[svg.index('<svg') :]
    # A style element inside SVG would hold for the whole page.
    svg = re.sub(
        r'<(metadata|style)\b.*?</\1>', '', svg, count=2, flags=re.DOTALL
    )
    svg = _LINK.sub(_to_link, svg)
    svg = _GROUP_ID.sub(r'\1', svg)
    svg = _PATH.sub(_shorten_path, svg)
    svg = _STYLE.sub(use_variables, svg)
    # The page sets the size and says what the figure shows.
    return re.sub(
        r'<svg [^>]*?(viewBox="[^"]*")[^>]*>',
        r'<svg \1 aria-hidden="true" focusable="false">',
        svg,
        count=1,
    )


def theme_css(colours: set[str]) -> tuple[str, str]:
    """Return the variables' declarations for the light and dark themes."""
    names = sorted(colours | {INK, PAPER})
    light = ''.join(f'{variable(c)}:{c};' for c in names)
    dark = ''.join(f'{variable(c)}:{dark_colour(c)};' for c in names)
    return light, dark
