"""Who and what stands where in a scene."""

from __future__ import annotations

from dataclasses import replace
from typing import Callable

import numpy as np

from mmdet_cppe5.drawn import people
from mmdet_cppe5.drawn.canvas import Brush, Canvas, Frame, mix, shade
from mmdet_cppe5.drawn.equipment import (
    MASK_STYLES,
    draw_goggles,
    draw_hand,
    draw_mask,
    draw_shield,
)
from mmdet_cppe5.drawn.figure import (
    Arm,
    Look,
    draw_empty_coverall,
    draw_figure,
    new_part,
)
from mmdet_cppe5.drawn.places import ACCENTS, PLACES, STEEL, WHITE, pick
from mmdet_cppe5.drawn.shapes import blob, box, limb

Composition = Callable[[Canvas, np.random.Generator, float], None]


def portrait(canvas: Canvas, rng: np.random.Generator, horizon: float) -> None:
    """One person close up, or two, cut off by the lower border."""
    canvas.blur(canvas.height * 0.008)
    if rng.random() < 0.35:
        _stand(canvas, rng, rng.uniform(0.1, 0.9), horizon, 0.24)
    unit = rng.uniform(0.42, 0.72)
    look = _equipped(people.random_look(rng), rng)
    x = canvas.width * rng.uniform(0.38, 0.62)
    y = canvas.height * rng.uniform(0.42, 0.5) + 0.47 * unit * canvas.height
    pose = people.random_pose(rng)
    if rng.random() < 0.6:
        raised = Arm(
            rng.uniform(16, 34),
            rng.uniform(135, 165),
            pick(rng, ('open', 'thumb', 'grip')),
        )
        pose = replace(pose, left=raised)
    draw_figure(canvas, look, pose, x, y, unit * canvas.height)


def pair(canvas: Canvas, rng: np.random.Generator, horizon: float) -> None:
    """Two or three people from the knees up, side by side."""
    canvas.blur(canvas.height * 0.004)
    count = int(rng.integers(2, 4))
    places = np.linspace(0.5 / count, 1 - 0.5 / count, count)
    for place in rng.permutation(places):
        where = place + rng.uniform(-0.1, 0.1)
        _stand(canvas, rng, where, horizon, rng.uniform(0.2, 0.3))


def team(canvas: Canvas, rng: np.random.Generator, horizon: float) -> None:
    """Three to five people at several distances, the nearest in front."""
    count = int(rng.integers(3, 6))
    places = rng.permutation(np.linspace(0.06, 0.94, count))
    sizes = np.sort(rng.uniform(0.085, 0.2, count))
    for place, size in zip(places, sizes):
        where = place + rng.uniform(-0.06, 0.06)
        _stand(canvas, rng, where, horizon, size)


def distance(canvas: Canvas, rng: np.random.Generator, horizon: float) -> None:
    """Four to seven people far away, with one or two nearer at times."""
    count = int(rng.integers(4, 8))
    places = rng.permutation(np.linspace(0.05, 0.95, count))
    sizes = np.sort(rng.uniform(0.04, 0.1, count))
    sizes[:1] = rng.uniform(0.022, 0.032)
    for place, size in zip(places, sizes):
        _stand(canvas, rng, place, horizon, size)
    if rng.random() < 0.5:
        edge = pick(rng, (0.06, 0.94))
        _stand(canvas, rng, edge, horizon, rng.uniform(0.14, 0.24))


def bedside(canvas: Canvas, rng: np.random.Generator, horizon: float) -> None:
    """Staff behind a patient's bed."""
    size = rng.uniform(0.13, 0.19)
    places = np.linspace(0.25, 0.85, int(rng.integers(2, 4)))
    for place in places:
        where = place + rng.uniform(-0.07, 0.07)
        _stand(canvas, rng, where, horizon, size * rng.uniform(0.92, 1.05))
    height = canvas.height
    bed = Brush(canvas, Frame(0, height * (horizon + 1.9 * size), height))
    _draw_patient(bed, rng, canvas.width / height, size)


def hands(canvas: Canvas, rng: np.random.Generator, horizon: float) -> None:
    """Two gloved hands close up, showing something."""
    canvas.blur(canvas.height * 0.009)
    middle = canvas.width / canvas.height * rng.uniform(0.44, 0.56)
    scene = Brush(canvas, Frame(0, 0, canvas.height)).at(middle, 0)
    size = min(1.0, canvas.width / canvas.height)
    kind = pick(rng, ('mask', 'goggles', 'goggles', 'shield', 'tube'))
    thing = scene.at(
        0,
        rng.uniform(0.36, 0.46),
        rng.uniform(-8, 8),
        rng.uniform(0.6, 0.9) * size,
    )
    _draw_loose(thing, kind, rng)
    cloth, glove = pick(rng, people.COVERALLS), pick(rng, people.GLOVES)
    suit = scene.owned(new_part(canvas, 'Coverall'))
    # Both sleeves belong to one coverall, so they come before both hands.
    wrists = [
        (side * size * rng.uniform(0.27, 0.35), rng.uniform(0.72, 0.82))
        for side in (-1, 1)
    ]
    for side, wrist in zip((-1, 1), wrists):
        elbow = (side * (0.42 * size + 0.12), 1.35)
        suit.fill(limb(elbow, wrist, 0.17, 0.11), cloth, edge=0.01)
        suit.line([elbow, wrist], shade(cloth, 0.85), 0.012)
    for side, wrist in zip((-1, 1), wrists):
        frame = scene.frame.child(*wrist, scale=rng.uniform(0.36, 0.46) * size)
        turn = 180 + rng.uniform(-12, 14)
        frame = Frame(frame.x, frame.y, frame.scale, turn, side)
        hand = Brush(canvas, frame, new_part(canvas, 'Gloves'))
        pose = pick(rng, ('grip', 'open', 'thumb'))
        draw_hand(hand, glove, pose, cuff=True)
    canvas.settle()


def display(canvas: Canvas, rng: np.random.Generator, horizon: float) -> None:
    """Equipment laid out on a table, coveralls hanging beside it."""
    height, width = canvas.height, canvas.width
    rail = height * 0.09
    for _ in range(int(rng.integers(0, 3))):
        canvas.stroke(
            np.array([[-9, rail], [width + 9, rail]]), STEEL, height * 0.014
        )
        look = people.random_look(rng)
        look = replace(look, cloth=pick(rng, people.COVERALLS))
        unit = height * rng.uniform(0.09, 0.17)
        x = width * rng.uniform(0.08, 0.92)
        draw_empty_coverall(canvas, look, x, rail + 0.42 * unit, unit)
    if rng.random() < 0.4:
        _stand(canvas, rng, rng.uniform(0.2, 0.8), horizon, 0.17)
    table = rng.uniform(0.6, 0.68)
    scene = Brush(canvas, Frame(0, 0, height))
    aspect = width / height
    top = mix(pick(rng, ACCENTS), WHITE, 0.6)
    scene.fill(box(-0.1, table, aspect + 0.1, 1.1), top, edge=0.008)
    count = int(rng.integers(3, 6))
    kinds = rng.permutation(
        ['mask', 'goggles', 'shield', 'gloves', 'tube', 'goggles', 'mask']
    )[:count]
    for index, kind in enumerate(kinds):
        x = aspect * (index + 0.5) / count + rng.uniform(-0.05, 0.05)
        y = rng.uniform(table + 0.08, 0.9)
        item = scene.at(x, y, rng.uniform(-25, 25), rng.uniform(0.18, 0.4))
        _draw_loose(item, str(kind), rng)
    canvas.settle()


ANYWHERE = tuple(PLACES)

# What each kind shows and where it can be: crowds need a place that is deep.
COMPOSITIONS: dict[str, tuple[Composition, tuple[str, ...]]] = {
    'portrait': (portrait, ANYWHERE),
    'pair': (pair, ANYWHERE),
    'team': (team, ('corridor', 'outdoors', 'ward', 'laboratory')),
    'distance': (distance, ('corridor', 'outdoors')),
    'bedside': (bedside, ('ward', 'ward', 'corridor')),
    'hands': (hands, ANYWHERE),
    'display': (display, ('store', 'laboratory', 'ward')),
}


def _stand(
    canvas: Canvas,
    rng: np.random.Generator,
    where: float,
    horizon: float,
    size: float,
) -> None:
    """Draw a random person whose eyes are at the horizon.

    Args:
        canvas: the scene.
        rng: source of look and pose.
        where: from the left border, in picture widths.
        horizon: from the top, in picture heights.
        size: height of the head, in picture heights.
    """
    unit = size * canvas.height
    # People differ in height: some look down on the viewer.
    chin = horizon * canvas.height + unit * rng.uniform(0.2, 0.75)
    draw_figure(
        canvas,
        people.random_look(rng),
        people.random_pose(rng),
        where * canvas.width,
        chin,
        unit,
    )


def _equipped(look: Look, rng: np.random.Generator) -> Look:
    """Return ``look`` facing us, with a mask and often goggles."""
    if look.mask is None:
        style = pick(rng, MASK_STYLES)
        look = replace(look, mask=(pick(rng, people.MASKS), style))
    if rng.random() < 0.5:
        look = replace(look, goggles=pick(rng, people.FRAMES))
    return replace(look, back=False)


def _draw_loose(brush: Brush, kind: str, rng: np.random.Generator) -> None:
    """Draw one thing that nobody wears."""
    canvas = brush.canvas
    if kind == 'mask':
        mask = brush.at(0, -0.28).owned(new_part(canvas, 'Mask'))
        draw_mask(mask, pick(rng, people.MASKS), pick(rng, MASK_STYLES))
    elif kind == 'goggles':
        goggles = brush.owned(new_part(canvas, 'Goggles'))
        draw_goggles(goggles, pick(rng, people.FRAMES), worn=False)
    elif kind == 'shield':
        shield = brush.at(0, -0.15).owned(new_part(canvas, 'Face_Shield'))
        draw_shield(shield, pick(rng, people.TRIMS))
    elif kind == 'gloves':
        colour = pick(rng, people.GLOVES)
        for x, angle in ((-0.32, 175), (0.32, 190)):
            hand = brush.at(x, 0.25, angle, 0.75)
            hand = hand.owned(new_part(canvas, 'Gloves'))
            draw_hand(hand, colour, 'open', cuff=True)
    else:
        brush.fill(
            limb((-0.4, 0), (0.4, 0), 0.09, 0.09), (238, 244, 248), edge=0.025
        )
        brush.fill(
            limb((-0.1, 0), (0.38, 0), 0.065, 0.065),
            pick(rng, ((216, 70, 84), (84, 160, 214), (120, 190, 110))),
        )
    canvas.settle()


def _draw_patient(
    bed: Brush, rng: np.random.Generator, aspect: float, size: float
) -> None:
    """Draw a bed from border to border with somebody lying in it."""
    left = aspect * rng.uniform(0.0, 0.12)
    right = left + 5.2 * size
    for leg in (left + 0.05, right - 0.05):
        bed.line([(leg, 0), (leg, 1)], STEEL, 0.02)
    bed.line([(left, -0.9 * size), (left, 0.4 * size)], STEEL, 0.025)
    mattress = limb((left, 0.1), (right, 0.1), 0.07, 0.07)
    bed.fill(mattress, (238, 242, 246), edge=0.006)
    pillow = blob(left + 0.75 * size, -0.05 * size, 0.62 * size, 0.3 * size, 3)
    bed.fill(pillow, WHITE, edge=0.006)
    head = bed.at(left + 0.8 * size, -0.12 * size, 78, size)
    skin, hair = pick(rng, people.SKINS), pick(rng, people.HAIRS)
    head.fill(blob(-0.02, -0.06, 0.41, 0.45), hair, edge=0.035)
    head.fill(blob(-0.06, 0.03, 0.34, 0.41), skin, edge=0.035)
    for side in (-1, 1):
        head.line(
            [(side * 0.15 - 0.14, -0.02), (side * 0.15 - 0.03, -0.02)],
            (52, 44, 46),
            0.04,
        )
    if rng.random() < 0.5:
        mask = head.at(-0.06, 0).owned(new_part(head.canvas, 'Mask'))
        draw_mask(mask, pick(rng, people.MASKS), 'pleated')
    blanket = mix(pick(rng, ACCENTS), WHITE, 0.45)
    bed.fill(
        limb((left + 1.7 * size, 0.0), (right, 0.06), 0.42 * size, 0.07),
        blanket,
        edge=0.006,
    )
    fold = limb(
        (left + 1.5 * size, -0.3 * size),
        (left + 1.5 * size, 0.32 * size),
        0.13 * size,
        0.13 * size,
    )
    bed.fill(fold, WHITE, edge=0.006)
    bed.canvas.settle()
