"""Drawings of single pieces of protective equipment.

Masks, goggles and face shields are drawn in the frame of a face: its centre
is the origin, one unit is the height of the head, and the head is about 0.74
units wide. Hands are drawn from the wrist, one unit being their length.
"""

from __future__ import annotations

import numpy as np

from mmdet_cppe5.drawn.canvas import Brush
from mmdet_cppe5.drawn.colours import GLASS, WHITE, Colour, mix, shade
from mmdet_cppe5.drawn.shapes import (
    blob,
    box,
    curve,
    grown,
    limb,
    points,
    symmetric,
)

MASK_STYLES = ('pleated', 'respirator')

# Of the four fingers and the thumb: angle in degrees and length.
HANDS = {
    'open': ((-28, 0.5), (-9, 0.58), (9, 0.57), (27, 0.48), (64, 0.4)),
    'rest': ((-9, 0.42), (-3, 0.5), (4, 0.5), (11, 0.43), (34, 0.32)),
    'grip': ((-30, 0.2), (-11, 0.23), (10, 0.23), (30, 0.2), (52, 0.24)),
}


def draw_mask(brush: Brush, colour: Colour, style: str) -> None:
    """Draw a mask over nose and mouth, one of ``MASK_STYLES``."""
    dark = shade(colour, 0.78)
    for side in (-1, 1):
        brush.line([(side * 0.28, 0.14), (side * 0.37, -0.02)], WHITE, 0.022)
        brush.line([(side * 0.26, 0.36), (side * 0.37, 0.12)], WHITE, 0.022)
    if style == 'pleated':
        outline = symmetric('0,6 14,8 31,13 29,33 17,46 0,49')
        brush.fill(outline, colour, edge=0.022)
        for y in (0.2, 0.27, 0.34):
            pleat = [(-0.27, y - 0.02), (0, y + 0.02), (0.27, y - 0.02)]
            brush.line(curve(pleat), dark, 0.016)
        return
    outline = symmetric('0,2 10,8 27,18 30,33 18,47 0,51')
    brush.fill(outline, colour, edge=0.022)
    brush.line(curve(points('0,5 1,25 0,49')), dark, 0.018)
    for x in (-0.23, 0.23):
        filter_case = blob(x, 0.33, 0.12, 0.12)
        brush.fill(filter_case, shade(colour, 0.6), edge=0.02)
        brush.fill(blob(x, 0.33, 0.07, 0.07), (226, 88, 120))


def draw_goggles(brush: Brush, colour: Colour, worn: bool = True) -> None:
    """Draw goggles; ``worn`` says whether eyes look through them."""
    brush.fill(box(-0.36, -0.1, 0.36, -0.02), shade(colour, 0.7))
    outline = symmetric('0,-17 16,-19 33,-15 35,0 27,11 12,11 4,5 0,4')
    brush.fill(outline, colour, edge=0.025)
    centre = outline.mean(axis=0)
    brush.fill((outline - centre) * (0.83, 0.72) + centre, GLASS)
    for x in (-0.155, 0.155) if worn else ():
        brush.fill(blob(x, -0.025, 0.04, 0.048), (58, 52, 56))
        brush.fill(blob(x + 0.014, -0.042, 0.013, 0.014), WHITE)
    for gleam in ('-24,6 -13,-13 -7,-13 -18,6', '10,6 20,-13 23,-13 13,6'):
        brush.fill(points(gleam), WHITE, alpha=130)


def draw_shield(brush: Brush, band: Colour) -> None:
    """Draw a face shield: a band on the forehead and a clear visor.

    Only the band and the rim own their pixels: what is seen through the
    visor stays visible.
    """
    visor = symmetric('0,-36 30,-35 49,-24 51,44 39,63 0,68')
    brush.fill(visor, (188, 224, 244), alpha=70)
    for gleam in (
        '20,-18 29,-21 33,42 26,48',
        '-33,-14 -30,-14 -35,46 -38,41',
    ):
        brush.fill(points(gleam), WHITE, alpha=120)
    rim = np.concatenate([visor, visor[:1]])
    brush.line(rim, (116, 150, 176), 0.05)
    brush.line(rim, (228, 243, 250), 0.022)
    brow = symmetric('0,-38 24,-37 42,-31 41,-22 22,-26 0,-27')
    brush.fill(brow, band, edge=0.02)


def draw_hand(brush: Brush, colour: Colour, pose: str, glove: bool) -> None:
    """Draw a hand pointing down from the wrist.

    Args:
        brush: its unit is the length of an open hand.
        colour: of the glove or the skin.
        pose: how the fingers are held, one of ``HANDS``.
        glove: whether a glove's rolled edge shows at the wrist.
    """
    edge = shade(colour, 0.62)
    roots = [
        *((x, 0.46) for x in (-0.225, -0.075, 0.075, 0.225)),
        (0.18, 0.24),
    ]
    shapes = [symmetric('0,0 20,0 31,25 31,50 0,58')]
    for (x, y), (angle, length) in zip(roots, HANDS[pose]):
        turn = np.deg2rad(angle)
        tip = (x + length * np.sin(turn), y + length * np.cos(turn))
        shapes.append(limb((x, y), tip, 0.09, 0.08))
    for shape in shapes:
        brush.fill(grown(shape, 0.035), edge)
    for shape in shapes:
        brush.fill(grown(shape, -0.01), colour)
    for x in (-0.15, 0, 0.15):
        brush.line([(x, 0.42), (x * 1.05, 0.53)], edge, 0.03)
    if glove:
        cuff = blob(0, 0.01, 0.27, 0.1, 4)
        brush.fill(cuff, mix(colour, WHITE, 0.25), edge=0.04)
