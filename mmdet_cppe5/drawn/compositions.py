"""Who and what stands where in a scene."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Callable

import numpy as np

from mmdet_cppe5.drawn import equipment, people
from mmdet_cppe5.drawn.canvas import Brush, Canvas
from mmdet_cppe5.drawn.colours import ACCENTS, WHITE, mix
from mmdet_cppe5.drawn.figure import Arm, draw_figure
from mmdet_cppe5.drawn.people import pick
from mmdet_cppe5.drawn.shapes import box

Composition = Callable[[Canvas, np.random.Generator, float], None]


def portrait(canvas: Canvas, rng: np.random.Generator, horizon: float) -> None:
    """One person close up, cut off by the lower border, often waving."""
    canvas.blur(canvas.height * 0.008)
    unit = rng.uniform(0.48, 0.74) * canvas.height
    person = people.random_person(rng)
    if rng.random() < 0.7:
        raised = Arm(rng.uniform(14, 26), rng.uniform(188, 200), 'open')
        gloves = pick(rng, people.GLOVES)
        person = replace(person, arms=(raised, raised), gloves=gloves)
    x = canvas.width * rng.uniform(0.38, 0.62)
    y = canvas.height * rng.uniform(0.34, 0.44) + 0.44 * unit
    draw_figure(Brush(canvas, x, y, unit), person)


def group(
    canvas: Canvas,
    rng: np.random.Generator,
    horizon: float,
    counts: tuple[int, int],
    sizes: tuple[float, float],
) -> None:
    """Several people side by side, the nearest in front.

    Args:
        canvas: the scene.
        rng: source of places, looks and poses.
        horizon: where eyes are, from the top, in picture heights.
        counts: fewest and most people.
        sizes: smallest and greatest height of a head, in picture heights.
    """
    count = int(rng.integers(counts[0], counts[1] + 1))
    places = rng.permutation((np.arange(count) + 0.5) / count)
    for place, size in zip(places, np.sort(rng.uniform(*sizes, count))):
        unit = size * canvas.height
        x = canvas.width * (place + rng.uniform(-0.07, 0.07))
        # People differ in height: some look down on the viewer.
        y = horizon * canvas.height + unit * rng.uniform(0.2, 0.75)
        draw_figure(Brush(canvas, x, y, unit), people.random_person(rng))


def display(canvas: Canvas, rng: np.random.Generator, horizon: float) -> None:
    """Equipment laid out on a table, somebody behind it."""
    group(canvas, rng, horizon, (0, 2), (0.14, 0.2))
    height, aspect = canvas.height, canvas.width / canvas.height
    scene = Brush(canvas, 0, 0, height)
    table = rng.uniform(0.6, 0.68)
    cloth = mix(pick(rng, ACCENTS), WHITE, 0.6)
    scene.fill(box(-0.1, table, aspect + 0.1, 1.1), cloth, edge=0.008)
    kinds = rng.permutation(['Mask', 'Goggles', 'Face_Shield', 'Gloves'])
    for index, kind in enumerate(kinds.tolist()):
        x = aspect * (index + 0.5) / len(kinds) + rng.uniform(-0.05, 0.05)
        y = rng.uniform(table + 0.1, 0.88)
        item = scene.at(x, y, rng.uniform(-25, 25), rng.uniform(0.2, 0.36))
        _draw_loose(item.owned(kind), kind, rng)
    canvas.settle()


def _draw_loose(brush: Brush, kind: str, rng: np.random.Generator) -> None:
    """Draw one thing that nobody wears."""
    if kind == 'Mask':
        style = pick(rng, equipment.MASK_STYLES)
        equipment.draw_mask(brush.at(0, -0.28), pick(rng, people.MASKS), style)
    elif kind == 'Goggles':
        equipment.draw_goggles(brush, pick(rng, people.FRAMES), worn=False)
    elif kind == 'Face_Shield':
        equipment.draw_shield(brush.at(0, -0.15), pick(rng, people.TRIMS))
    else:
        hand = brush.at(0, 0.3, 180, 0.7)
        equipment.draw_hand(hand, pick(rng, people.GLOVES), 'open', glove=True)


COMPOSITIONS: dict[str, Composition] = {
    'portrait': portrait,
    'pair': partial(group, counts=(2, 3), sizes=(0.2, 0.3)),
    'team': partial(group, counts=(3, 5), sizes=(0.09, 0.2)),
    'distance': partial(group, counts=(4, 7), sizes=(0.025, 0.09)),
    'display': display,
}
