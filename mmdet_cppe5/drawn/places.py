"""Places: what is behind the people.

Every painter gets a brush whose unit is the picture's height, the picture's
``aspect`` (width in that unit) and the height of the ``horizon``, where the
eyes of standing people are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Callable

import numpy as np

from mmdet_cppe5.drawn.canvas import Brush, Colour, mix, shade
from mmdet_cppe5.drawn.shapes import blob, box, curve, limb

WHITE = (252, 252, 252)
WALLS = (
    (214, 228, 226),
    (226, 222, 208),
    (208, 220, 236),
    (230, 216, 214),
    (216, 230, 212),
    (222, 216, 232),
)
FLOORS = ((176, 190, 194), (196, 184, 162), (168, 178, 196), (188, 196, 182))
ACCENTS = (
    (92, 160, 156),
    (226, 158, 92),
    (108, 140, 196),
    (204, 112, 116),
    (132, 168, 104),
    (150, 122, 178),
    (236, 196, 100),
)
STEEL = (168, 178, 188)

Painter = Callable[[Brush, np.random.Generator, float, float], None]


def pick(rng: np.random.Generator, choices: Sequence[Any]) -> Any:
    """Return one of ``choices``, all equally likely."""
    return choices[int(rng.integers(len(choices)))]


def corridor(
    brush: Brush, rng: np.random.Generator, aspect: float, horizon: float
) -> None:
    """A hospital corridor in perspective, with doors and ceiling lamps."""
    wall, floor, accent = (
        pick(rng, WALLS),
        pick(rng, FLOORS),
        pick(rng, ACCENTS),
    )
    eye = np.array([aspect * rng.uniform(0.35, 0.65), horizon])
    corners = box(-0.12, -0.18, aspect + 0.12, 1.18)

    def at(depth: float, x: float, y: float) -> np.ndarray:
        """Return the point at ``depth`` (1 near, 0 far) of the tunnel."""
        left, top = corners[0]
        right, bottom = corners[2]
        near = (left + (right - left) * x, top + (bottom - top) * y)
        return eye + (np.array(near) - eye) * depth

    def quad(*points: tuple[float, float, float]) -> np.ndarray:
        return np.stack([at(*point) for point in points])

    end = 0.13
    brush.fill(
        quad((1, 0, 0), (1, 1, 0), (end, 1, 0), (end, 0, 0)),
        mix(wall, WHITE, 0.6),
    )
    brush.fill(quad((1, 0, 1), (1, 1, 1), (end, 1, 1), (end, 0, 1)), floor)
    for side, tone in ((0, 0.96), (1, 0.9)):
        brush.fill(
            quad((1, side, 0), (1, side, 1), (end, side, 1), (end, side, 0)),
            shade(wall, tone),
        )
        rail = quad(
            (1, side, 0.64),
            (1, side, 0.68),
            (end, side, 0.68),
            (end, side, 0.64),
        )
        brush.fill(rail, accent)
        for near in (0.95, 0.62, 0.4, 0.24):
            door = quad(
                (near, side, 0.22),
                (near, side, 1),
                (near * 0.78, side, 1),
                (near * 0.78, side, 0.22),
            )
            brush.fill(door, mix(accent, wall, 0.55), edge=0.006)
    brush.fill(
        quad((end, 0, 0), (end, 1, 0), (end, 1, 1), (end, 0, 1)),
        mix(wall, WHITE, 0.25),
    )
    brush.fill(
        quad((end, 0.3, 0.2), (end, 0.7, 0.2), (end, 0.7, 1), (end, 0.3, 1)),
        mix(accent, WHITE, 0.2),
        edge=0.004,
    )
    for near in (0.95, 0.66, 0.45, 0.31, 0.2):
        far = near * 0.84
        brush.fill(
            quad((near, 0.4, 0), (near, 0.6, 0), (far, 0.6, 0), (far, 0.4, 0)),
            WHITE,
            edge=0.003,
        )
        brush.fill(
            quad((near, 0.4, 1), (near, 0.6, 1), (far, 0.6, 1), (far, 0.4, 1)),
            WHITE,
            alpha=60,
        )


def ward(
    brush: Brush, rng: np.random.Generator, aspect: float, horizon: float
) -> None:
    """A hospital room: window, curtain, monitor, drip stand and bed."""
    wall, accent = pick(rng, WALLS), pick(rng, ACCENTS)
    line = _room(brush, rng, aspect, horizon, wall)
    _window(brush, rng, aspect * rng.uniform(0.05, 0.3), 0.08, 0.36, 0.34)
    if rng.random() < 0.7:
        _curtain(brush, aspect * rng.uniform(0.72, 0.85), line, accent)
    x = aspect * rng.uniform(0.42, 0.62)
    brush.fill(box(x, 0.16, x + 0.2, 0.31), (46, 54, 66), edge=0.008)
    beat = [
        (0, 0),
        (0.05, 0),
        (0.065, -0.045),
        (0.085, 0.035),
        (0.1, 0),
        (0.16, 0),
    ]
    brush.at(x + 0.02, 0.235).line(beat, (112, 224, 140), 0.008)
    _bed(brush, aspect * rng.uniform(0.3, 0.6), line + 0.16, accent)
    stand = aspect * rng.uniform(0.1, 0.9)
    brush.line([(stand, 0.2), (stand, line + 0.1)], STEEL, 0.012)
    brush.line([(stand - 0.05, 0.2), (stand + 0.05, 0.2)], STEEL, 0.01)
    brush.fill(
        blob(stand + 0.045, 0.27, 0.03, 0.055, 3), (206, 232, 244), edge=0.005
    )


def laboratory(
    brush: Brush, rng: np.random.Generator, aspect: float, horizon: float
) -> None:
    """A tiled laboratory: cupboards, a bench, flasks and a microscope."""
    wall, accent = pick(rng, WALLS), pick(rng, ACCENTS)
    line = _room(brush, rng, aspect, horizon, wall)
    for x in np.arange(0, aspect, 0.12):
        brush.line([(x, 0), (x, line)], shade(wall, 0.95), 0.004)
    for y in np.arange(0, line, 0.12):
        brush.line([(0, y), (aspect, y)], shade(wall, 0.95), 0.004)
    left = aspect * rng.uniform(0, 0.4)
    for index in range(3):
        x = left + 0.25 * index
        brush.fill(
            box(x, 0.03, x + 0.24, 0.27), mix(accent, WHITE, 0.35), edge=0.006
        )
        brush.line([(x + 0.2, 0.2), (x + 0.2, 0.24)], STEEL, 0.012)
    bench = line - 0.06
    brush.fill(
        box(-0.1, bench, aspect + 0.1, bench + 0.04),
        (236, 238, 240),
        edge=0.006,
    )
    brush.fill(
        box(-0.1, bench + 0.04, aspect + 0.1, bench + 0.26),
        mix(accent, WHITE, 0.5),
    )
    for x in np.arange(rng.uniform(0, 0.1), aspect, 0.17):
        thing = pick(rng, (_flask, _bottle, _rack, _microscope))
        thing(brush.at(x + 0.05, bench), pick(rng, ACCENTS))


def store(
    brush: Brush, rng: np.random.Generator, aspect: float, horizon: float
) -> None:
    """A store room: shelves with boxes and bottles."""
    _room(brush, rng, aspect, horizon, pick(rng, WALLS))
    wood = pick(rng, ((196, 164, 124), (186, 196, 204), (222, 222, 218)))
    brush.fill(box(0.03, 0.02, aspect - 0.03, 0.92), shade(wood, 0.82))
    for board in np.arange(0.22, 0.95, 0.22):
        x = rng.uniform(0.05, 0.12)
        while x < aspect - 0.2:
            wide, high = rng.uniform(0.06, 0.17), rng.uniform(0.08, 0.17)
            if rng.random() < 0.7:
                colour = mix(pick(rng, ACCENTS), WHITE, rng.uniform(0.2, 0.6))
                brush.fill(
                    box(x, board - high, x + wide, board), colour, edge=0.005
                )
                label = box(
                    x + wide * 0.2,
                    board - high * 0.7,
                    x + wide * 0.8,
                    board - high * 0.35,
                )
                brush.fill(label, WHITE)
            else:
                _bottle(brush.at(x + wide / 2, board), pick(rng, ACCENTS))
            x += wide + rng.uniform(0.01, 0.12)
        brush.fill(
            box(0.03, board, aspect - 0.03, board + 0.02), wood, edge=0.004
        )


def outdoors(
    brush: Brush, rng: np.random.Generator, aspect: float, horizon: float
) -> None:
    """A street or a lawn: sky, hills, houses, trees, tent or ambulance."""
    high, low = pick(
        rng,
        (
            ((126, 184, 232), (222, 238, 246)),
            ((246, 186, 140), (252, 232, 206)),
            ((158, 176, 194), (220, 226, 230)),
            ((70, 84, 128), (176, 158, 176)),
        ),
    )
    line = horizon + 0.1
    for step in range(24):
        y = line * step / 24
        brush.fill(
            box(-0.1, y, aspect + 0.1, line + 0.02), mix(high, low, step / 23)
        )
    for _ in range(int(rng.integers(1, 4))):
        _cloud(brush.at(rng.uniform(0, aspect), rng.uniform(0.05, line / 2)))
    hills = curve(
        [(-0.2, line)]
        + [
            (x, line - rng.uniform(0.05, 0.22))
            for x in np.linspace(-0.1, aspect + 0.1, 6)
        ]
        + [(aspect + 0.2, line)]
    )
    brush.fill(hills, mix((126, 164, 128), low, 0.45))
    for x in np.arange(rng.uniform(-0.1, 0.2), aspect, 0.42):
        if rng.random() < 0.75:
            _house(brush.at(x, line), rng)
    ground = pick(rng, ((148, 178, 116), (186, 182, 176), (206, 190, 152)))
    brush.fill(box(-0.1, line, aspect + 0.1, 1.1), ground)
    brush.fill(box(-0.1, line, aspect + 0.1, line + 0.04), shade(ground, 0.92))
    for _ in range(int(rng.integers(1, 4))):
        _tree(brush.at(rng.uniform(0, aspect), line + 0.05), rng)
    thing = pick(rng, (_tent, _ambulance, None))
    if thing:
        thing(brush.at(aspect * rng.uniform(0.15, 0.75), line + 0.12))


PLACES: dict[str, Painter] = {
    'corridor': corridor,
    'ward': ward,
    'laboratory': laboratory,
    'store': store,
    'outdoors': outdoors,
}


def _room(
    brush: Brush,
    rng: np.random.Generator,
    aspect: float,
    horizon: float,
    wall: Colour,
) -> float:
    """Paint wall and floor; return the height of the line between."""
    line = min(0.86, horizon + rng.uniform(0.2, 0.27))
    floor = pick(rng, FLOORS)
    brush.fill(box(-0.1, -0.1, aspect + 0.1, line), wall)
    brush.fill(box(-0.1, line, aspect + 0.1, 1.1), floor)
    for x in np.linspace(-aspect, 2 * aspect, 13):
        foot = aspect / 2 + (x - aspect / 2) * 1.8
        brush.line([(x, line), (foot, 1.05)], shade(floor, 0.94), 0.005)
    brush.fill(box(-0.1, line - 0.025, aspect + 0.1, line), shade(wall, 0.85))
    return line


def _window(
    brush: Brush,
    rng: np.random.Generator,
    x: float,
    y: float,
    wide: float,
    high: float,
) -> None:
    sky = pick(rng, ((150, 204, 240), (250, 218, 170), (70, 86, 132)))
    brush.fill(box(x, y, x + wide, y + high), sky)
    brush.fill(
        blob(x + wide * 0.6, y + high * 0.35, 0.07, 0.025, 2.5),
        mix(sky, WHITE, 0.6),
    )
    brush.fill(
        blob(x + wide * 0.4, y + high, wide * 0.4, high * 0.28),
        mix((112, 160, 112), sky, 0.3),
    )
    frame = [box(x, y, x + wide, y + high), box(x, y, x + wide / 2, y + high)]
    for pane in frame:
        brush.line(pane, WHITE, 0.018, closed=True)
    brush.fill(
        box(x - 0.03, y + high, x + wide + 0.03, y + high + 0.03),
        WHITE,
        edge=0.004,
    )


def _curtain(brush: Brush, x: float, line: float, accent: Colour) -> None:
    soft = mix(accent, WHITE, 0.45)
    brush.line([(x - 0.05, 0.05), (x + 0.6, 0.05)], STEEL, 0.015)
    for index in range(9):
        left = x + 0.06 * index
        fold = box(left, 0.05, left + 0.06, line - 0.06)
        brush.fill(fold, shade(soft, 1.0 if index % 2 else 0.9))


def _bed(brush: Brush, x: float, y: float, accent: Colour) -> None:
    sheet = mix(accent, WHITE, 0.7)
    for leg in (x + 0.05, x + 0.62):
        brush.line([(leg, y), (leg, y + 0.12)], STEEL, 0.018)
    brush.line([(x, y - 0.2), (x, y + 0.04)], STEEL, 0.022)
    brush.fill(
        limb((x + 0.05, y - 0.02), (x + 0.66, y - 0.02), 0.05, 0.05),
        WHITE,
        edge=0.006,
    )
    brush.fill(
        limb((x + 0.24, y - 0.05), (x + 0.66, y - 0.04), 0.06, 0.05),
        sheet,
        edge=0.006,
    )
    brush.fill(blob(x + 0.1, y - 0.09, 0.08, 0.04, 3), WHITE, edge=0.006)


def _flask(brush: Brush, colour: Colour) -> None:
    glass = [
        (-0.015, -0.13),
        (0.015, -0.13),
        (0.015, -0.08),
        (0.05, 0),
        (-0.05, 0),
        (-0.015, -0.08),
    ]
    brush.fill(glass, (226, 240, 246), edge=0.005)
    brush.fill(
        [(-0.03, -0.045), (0.03, -0.045), (0.045, -0.004), (-0.045, -0.004)],
        colour,
    )


def _bottle(brush: Brush, colour: Colour) -> None:
    brush.fill(box(-0.012, -0.15, 0.012, -0.1), WHITE, edge=0.004)
    brush.fill(blob(0, -0.055, 0.035, 0.055, 5), colour, edge=0.005)
    brush.fill(box(-0.024, -0.08, 0.024, -0.035), WHITE)


def _rack(brush: Brush, colour: Colour) -> None:
    for index in range(4):
        x = -0.055 + 0.037 * index
        brush.fill(
            limb((x, -0.1), (x, -0.02), 0.011, 0.011), colour, edge=0.004
        )
    brush.fill(box(-0.075, -0.055, 0.075, 0), (206, 172, 128), edge=0.004)


def _microscope(brush: Brush, colour: Colour) -> None:
    body = shade(colour, 0.6)
    brush.fill(box(-0.06, -0.02, 0.06, 0), body, edge=0.004)
    brush.line(curve([(0.04, -0.02), (0.06, -0.1), (0.0, -0.16)]), body, 0.022)
    brush.fill(
        limb((-0.03, -0.06), (0.02, -0.19), 0.016, 0.014),
        (234, 236, 238),
        edge=0.004,
    )


def _cloud(brush: Brush) -> None:
    for x, y, radius in (
        (-0.09, 0.01, 0.04),
        (0, -0.01, 0.06),
        (0.09, 0.012, 0.045),
    ):
        brush.fill(blob(x, y, radius * 1.5, radius), WHITE, alpha=170)


def _house(brush: Brush, rng: np.random.Generator) -> None:
    wall = mix(pick(rng, ACCENTS), WHITE, 0.55)
    wide, high = rng.uniform(0.24, 0.38), rng.uniform(0.16, 0.4)
    brush.fill(box(0, -high, wide, 0.01), wall, edge=0.005)
    if rng.random() < 0.5:
        brush.fill(
            [(-0.03, -high), (wide / 2, -high - 0.11), (wide + 0.03, -high)],
            (170, 96, 84),
            edge=0.005,
        )
    for y in np.arange(-high + 0.03, -0.06, 0.09):
        for x in np.arange(0.035, wide - 0.04, 0.08):
            brush.fill(box(x, y, x + 0.04, y + 0.05), (112, 146, 172))


def _tree(brush: Brush, rng: np.random.Generator) -> None:
    green = pick(rng, ((92, 142, 88), (122, 158, 84), (72, 124, 104)))
    high = rng.uniform(0.2, 0.34)
    brush.line([(0, 0), (0, -high)], (122, 92, 70), 0.03)
    for x, y in ((-0.06, 0.02), (0.06, 0.0), (0, -0.07)):
        brush.fill(blob(x, -high + y, 0.09, 0.085), green, edge=0.004)


def _tent(brush: Brush) -> None:
    cloth = (240, 238, 230)
    brush.fill(
        [(-0.32, 0), (-0.28, -0.2), (0.28, -0.2), (0.32, 0)], cloth, edge=0.006
    )
    brush.fill(
        [(-0.33, -0.19), (0, -0.33), (0.33, -0.19)], (98, 158, 150), edge=0.006
    )
    brush.fill([(-0.08, 0), (0, -0.19), (0.08, 0)], (120, 124, 126))


def _ambulance(brush: Brush) -> None:
    brush.fill(blob(0, -0.16, 0.34, 0.14, 9), (248, 248, 246), edge=0.006)
    brush.fill(box(-0.34, -0.14, 0.34, -0.1), (64, 142, 110))
    brush.fill(box(0.16, -0.27, 0.3, -0.17), (150, 196, 220), edge=0.005)
    for arm in (
        box(-0.12, -0.26, -0.08, -0.16),
        box(-0.15, -0.23, -0.05, -0.19),
    ):
        brush.fill(arm, (64, 142, 110))
    brush.fill(box(-0.05, -0.33, 0.03, -0.3), (84, 142, 220), edge=0.004)
    for x in (-0.2, 0.2):
        brush.fill(blob(x, -0.02, 0.06, 0.06), (54, 56, 60))
        brush.fill(blob(x, -0.02, 0.028, 0.028), STEEL)
