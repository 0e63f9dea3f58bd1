"""Places: what is behind the people.

Every painter gets a brush whose unit is the picture's height, the picture's
``aspect`` (width in that unit) and the height of the ``horizon``, where the
eyes of standing people are.
"""

from __future__ import annotations

from typing import Callable

import numpy as np

from mmdet_cppe5.drawn.canvas import Brush
from mmdet_cppe5.drawn.colours import (
    ACCENTS,
    STEEL,
    WHITE,
    Colour,
    mix,
    palette,
    shade,
)
from mmdet_cppe5.drawn.people import pick
from mmdet_cppe5.drawn.shapes import blob, box, curve, limb, points

WALLS = palette('#d6e4e2 #e2decf #d0dcec #e6d8d6 #d8e6d4 #ded8e8')
FLOORS = palette('#b0bec2 #c4b8a2 #a8b2c4 #bcc4b6')
SKIES = palette('#7eb8e8 #f6ba8c #9eb0c2')
GROUNDS = palette('#94b274 #bab6b0 #cebe98')
GREENS = palette('#5c8e58 #7a9e54 #487c68')

Painter = Callable[[Brush, np.random.Generator, float, float], None]


def ward(
    brush: Brush, rng: np.random.Generator, aspect: float, horizon: float
) -> None:
    """A hospital room: window, curtain, monitor and bed."""
    accent = pick(rng, ACCENTS)
    line = _room(brush, rng, aspect, horizon)
    _window(brush.at(aspect * rng.uniform(0.05, 0.3), 0.08), pick(rng, SKIES))
    if rng.random() < 0.7:
        curtain = aspect * rng.uniform(0.72, 0.85)
        for index in range(9):
            left = curtain + 0.06 * index
            soft = shade(mix(accent, WHITE, 0.45), (0.9, 1.0)[index % 2])
            brush.fill(box(left, 0.05, left + 0.06, line - 0.06), soft)
    monitor = brush.at(aspect * rng.uniform(0.42, 0.62), 0.16)
    monitor.fill(box(0, 0, 0.2, 0.15), (46, 54, 66), edge=0.008)
    beat = points('2,8 7,8 9,3 11,11 12,8 18,8')
    monitor.line(beat, (112, 224, 140), 0.008)
    _bed(brush.at(aspect * rng.uniform(0.3, 0.6), line + 0.16), accent)


def laboratory(
    brush: Brush, rng: np.random.Generator, aspect: float, horizon: float
) -> None:
    """A laboratory: cupboards, a bench, flasks and bottles."""
    accent = pick(rng, ACCENTS)
    line = _room(brush, rng, aspect, horizon)
    left = aspect * rng.uniform(0, 0.4)
    for x in (left, left + 0.25, left + 0.5):
        door = box(x, 0.03, x + 0.24, 0.27)
        brush.fill(door, mix(accent, WHITE, 0.35), edge=0.006)
        brush.line([(x + 0.2, 0.2), (x + 0.2, 0.24)], STEEL, 0.012)
    bench = line - 0.06
    top = box(-0.1, bench, aspect + 0.1, bench + 0.04)
    brush.fill(top, WHITE, edge=0.006)
    front = box(-0.1, bench + 0.04, aspect + 0.1, bench + 0.26)
    brush.fill(front, mix(accent, WHITE, 0.5))
    for x in np.arange(rng.uniform(0, 0.1), aspect, 0.14):
        thing = pick(rng, (_flask, _bottle))
        thing(brush.at(x + 0.05, bench), pick(rng, ACCENTS))


def outdoors(
    brush: Brush, rng: np.random.Generator, aspect: float, horizon: float
) -> None:
    """A street or a lawn: sky, hills, houses and trees."""
    high = pick(rng, SKIES)
    low = mix(high, WHITE, 0.75)
    line = horizon + 0.1
    for step in range(24):
        band = box(-0.1, line * step / 24, aspect + 0.1, line + 0.02)
        brush.fill(band, mix(high, low, step / 23))
    xs = np.linspace(-0.2, aspect + 0.2, 8)
    ridge = list(zip(xs, line - rng.uniform(0.05, 0.22, 8)))
    hills = [(-0.2, line), *curve(ridge), (aspect + 0.2, line)]
    brush.fill(hills, mix((126, 164, 128), low, 0.45))
    for x in np.arange(rng.uniform(-0.1, 0.2), aspect, 0.42):
        if rng.random() < 0.75:
            _house(brush.at(x, line), rng)
    ground = pick(rng, GROUNDS)
    brush.fill(box(-0.1, line, aspect + 0.1, 1.1), ground)
    brush.fill(box(-0.1, line, aspect + 0.1, line + 0.04), shade(ground, 0.92))
    for _ in range(int(rng.integers(1, 4))):
        _tree(brush.at(rng.uniform(0, aspect), line + 0.05), pick(rng, GREENS))


PLACES: dict[str, Painter] = {
    'ward': ward,
    'laboratory': laboratory,
    'outdoors': outdoors,
}


def _room(
    brush: Brush, rng: np.random.Generator, aspect: float, horizon: float
) -> float:
    """Paint wall and floor; return the height of the line between."""
    line = min(0.86, horizon + rng.uniform(0.2, 0.27))
    wall, floor = pick(rng, WALLS), pick(rng, FLOORS)
    brush.fill(box(-0.1, -0.1, aspect + 0.1, line), wall)
    brush.fill(box(-0.1, line, aspect + 0.1, 1.1), floor)
    for x in np.linspace(-aspect, 2 * aspect, 13):
        foot = aspect / 2 + (x - aspect / 2) * 1.8
        brush.line([(x, line), (foot, 1.05)], shade(floor, 0.94), 0.005)
    brush.fill(box(-0.1, line - 0.025, aspect + 0.1, line), shade(wall, 0.85))
    return line


def _window(brush: Brush, sky: Colour) -> None:
    brush.fill(box(0, 0, 0.36, 0.34), sky)
    brush.fill(box(0, 0.27, 0.36, 0.34), mix((112, 160, 112), sky, 0.3))
    frame = points('0,0 36,0 36,34 0,34 0,0 18,0 18,34')
    brush.line(frame, WHITE, 0.018)
    brush.fill(box(-0.03, 0.34, 0.39, 0.37), WHITE, edge=0.004)


def _bed(brush: Brush, accent: Colour) -> None:
    for x in (0.05, 0.62):
        brush.line([(x, 0), (x, 0.12)], STEEL, 0.018)
    mattress = limb((0.05, -0.02), (0.66, -0.02), 0.05, 0.05)
    brush.fill(mattress, WHITE, edge=0.006)
    blanket = limb((0.24, -0.05), (0.66, -0.04), 0.06, 0.05)
    brush.fill(blanket, mix(accent, WHITE, 0.7), edge=0.006)
    brush.fill(blob(0.1, -0.09, 0.08, 0.04, 3), WHITE, edge=0.006)


def _flask(brush: Brush, colour: Colour) -> None:
    glass = points('-1.5,-13 1.5,-13 1.5,-8 5,0 -5,0 -1.5,-8')
    brush.fill(glass, (226, 240, 246), edge=0.005)
    brush.fill(points('-3,-4.5 3,-4.5 4.5,-0.4 -4.5,-0.4'), colour)


def _bottle(brush: Brush, colour: Colour) -> None:
    brush.fill(box(-0.012, -0.15, 0.012, -0.1), WHITE, edge=0.004)
    brush.fill(blob(0, -0.055, 0.035, 0.055, 5), colour, edge=0.005)


def _house(brush: Brush, rng: np.random.Generator) -> None:
    wall = mix(pick(rng, ACCENTS), WHITE, 0.55)
    wide, high = rng.uniform(0.24, 0.38), rng.uniform(0.16, 0.4)
    brush.fill(box(0, -high, wide, 0.01), wall, edge=0.005)
    if rng.random() < 0.5:
        roof = [(-0.03, -high), (wide / 2, -high - 0.11), (wide + 0.03, -high)]
        brush.fill(roof, (170, 96, 84), edge=0.005)
    for y in np.arange(-high + 0.03, -0.06, 0.09):
        for x in np.arange(0.035, wide - 0.04, 0.08):
            brush.fill(box(x, y, x + 0.04, y + 0.05), (112, 146, 172))


def _tree(brush: Brush, green: Colour) -> None:
    brush.line([(0, 0), (0, -0.26)], (122, 92, 70), 0.03)
    for x, y in ((-0.06, -0.24), (0.06, -0.26), (0, -0.33)):
        brush.fill(blob(x, y, 0.09, 0.085), green, edge=0.004)
