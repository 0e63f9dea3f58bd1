"""Drawings of single pieces of protective equipment.

Masks, goggles and face shields are drawn in the frame of a face: its centre
is the origin, one unit is the height of the head, and the head is about 0.74
units wide. Hands are drawn from the wrist, one unit being their length.
"""

from __future__ import annotations

import numpy as np

from mmdet_cppe5.drawn.canvas import Brush, Colour, mix, shade
from mmdet_cppe5.drawn.shapes import (
    Point,
    blob,
    box,
    curve,
    grown,
    limb,
    mirrored,
    smooth,
)

WHITE = (250, 250, 250)
GLASS = (196, 226, 240)

MASK_STYLES = ('pleated', 'cup', 'respirator')
HANDS = ('open', 'grip', 'thumb', 'rest')


def draw_mask(brush: Brush, colour: Colour, style: str) -> None:
    """Draw a mask over nose and mouth, one of ``MASK_STYLES``."""
    dark = shade(colour, 0.78)
    for side in (-1, 1):
        strap = [(side * 0.28, 0.14), (side * 0.37, -0.02)]
        brush.line(strap, WHITE, 0.022)
        strap = [(side * 0.26, 0.36), (side * 0.37, 0.12)]
        brush.line(strap, WHITE, 0.022)
    if style == 'pleated':
        half = [
            (0, 0.06),
            (0.14, 0.08),
            (0.31, 0.13),
            (0.29, 0.33),
            (0.17, 0.46),
            (0, 0.49),
        ]
        brush.fill(smooth(mirrored(half)), colour, edge=0.022)
        for y in (0.2, 0.27, 0.34):
            brush.line(
                curve([(-0.27, y - 0.02), (0, y + 0.02), (0.27, y - 0.02)]),
                dark,
                0.016,
            )
        brush.line(curve([(-0.12, 0.1), (0, 0.08), (0.12, 0.1)]), dark, 0.025)
        return
    half = [
        (0, 0.02),
        (0.1, 0.08),
        (0.27, 0.18),
        (0.3, 0.33),
        (0.18, 0.47),
        (0, 0.51),
    ]
    brush.fill(smooth(mirrored(half)), colour, edge=0.022)
    brush.fill(
        smooth([(0.02, 0.1), (0.22, 0.2), (0.25, 0.34), (0.1, 0.46)]),
        dark,
        alpha=90,
    )
    brush.line(curve([(0, 0.05), (0.015, 0.25), (0, 0.49)]), dark, 0.018)
    if style == 'respirator':
        for side in (-1, 1):
            brush.fill(
                blob(side * 0.23, 0.33, 0.12, 0.12),
                shade(colour, 0.6),
                edge=0.02,
            )
            brush.fill(blob(side * 0.23, 0.33, 0.07, 0.07), (226, 88, 120))
    else:
        brush.fill(blob(0.13, 0.31, 0.065, 0.06, 3), WHITE, edge=0.018)


def draw_goggles(
    brush: Brush, colour: Colour, strap: float = 0.38, worn: bool = True
) -> None:
    """Draw goggles.

    Args:
        brush: see the module.
        colour: of the frame.
        strap: how far the band reaches to each side.
        worn: whether eyes look through them.
    """
    brush.fill(box(-strap, -0.1, strap, -0.02), shade(colour, 0.7))
    half = [
        (0, -0.17),
        (0.16, -0.19),
        (0.33, -0.15),
        (0.35, 0.0),
        (0.27, 0.11),
        (0.12, 0.11),
        (0.04, 0.05),
        (0, 0.04),
    ]
    outline = smooth(mirrored(half))
    brush.fill(outline, colour, edge=0.025)
    centre = outline.mean(axis=0)
    lens = (outline - centre) * (0.83, 0.72) + centre
    brush.fill(lens, GLASS)
    for side in (-1, 1) if worn else ():
        brush.fill(blob(side * 0.155, -0.025, 0.04, 0.048), (58, 52, 56))
        brush.fill(blob(side * 0.155 + 0.014, -0.042, 0.013, 0.014), WHITE)
    brush.fill(
        [(-0.24, 0.06), (-0.13, -0.13), (-0.07, -0.13), (-0.18, 0.06)],
        WHITE,
        alpha=130,
    )
    brush.fill(
        [(0.1, 0.06), (0.2, -0.13), (0.23, -0.13), (0.13, 0.06)],
        WHITE,
        alpha=130,
    )


def draw_shield(brush: Brush, band: Colour, lifted: bool = False) -> None:
    """Draw a face shield: a band on the forehead and a clear visor.

    Only the band, the rim and the gleams own their pixels: what is seen
    through the visor stays visible.
    """
    top, bottom = (-0.34, 0.66) if not lifted else (-0.86, -0.3)
    reach = 0.49 if not lifted else 0.46
    half = [
        (0, top - 0.02),
        (0.3, top - 0.01),
        (reach, top + 0.1),
        (reach + 0.02, bottom - 0.22),
        (reach - 0.1, bottom - 0.03),
        (0, bottom + 0.02),
    ]
    visor = smooth(mirrored(half))
    brush.fill(visor, (188, 224, 244), alpha=70)
    gleam = [
        (0.2, top + 0.16),
        (0.29, top + 0.13),
        (0.33, bottom - 0.24),
        (0.26, bottom - 0.18),
    ]
    brush.fill(gleam, WHITE, alpha=120)
    gleam = [
        (-0.33, top + 0.2),
        (-0.3, top + 0.2),
        (-0.35, bottom - 0.2),
        (-0.38, bottom - 0.25),
    ]
    brush.fill(gleam, WHITE, alpha=120)
    brush.line(visor, (116, 150, 176), 0.045, closed=True)
    brush.line(visor, (228, 243, 250), 0.022, closed=True)
    y = top + 0.04 if not lifted else bottom - 0.03
    half = [
        (0, y - 0.08),
        (0.24, y - 0.07),
        (0.42, y - 0.01),
        (0.41, y + 0.08),
        (0.22, y + 0.04),
        (0, y + 0.03),
    ]
    brush.fill(smooth(mirrored(half)), band, edge=0.02)


def draw_hand(brush: Brush, colour: Colour, pose: str, cuff: bool) -> None:
    """Draw a hand pointing down from the wrist, one of ``HANDS``.

    Args:
        brush: its frame's unit is the length of an open hand.
        colour: of the glove or the skin.
        pose: how the fingers are held.
        cuff: whether a glove's rolled edge shows at the wrist.
    """
    edge = shade(colour, 0.62)
    fingers = {
        'open': [(-28, 0.5), (-9, 0.58), (9, 0.57), (27, 0.48)],
        'rest': [(-9, 0.42), (-3, 0.5), (4, 0.5), (11, 0.43)],
        'grip': [(-30, 0.2), (-11, 0.23), (10, 0.23), (30, 0.2)],
        'thumb': [(-30, 0.2), (-11, 0.23), (10, 0.23), (30, 0.2)],
    }[pose]
    thumb = {
        'open': (64, 0.4),
        'rest': (34, 0.32),
        'grip': (52, 0.24),
        'thumb': (96, 0.48),
    }[pose]
    rods = [
        _finger(-0.225 + 0.15 * index, 0.46, angle, length, 0.085)
        for index, (angle, length) in enumerate(fingers)
    ]
    rods.append(_finger(0.18, 0.24, *thumb, 0.1))
    palm = smooth(
        [
            (-0.2, 0.0),
            (0.2, 0.0),
            (0.31, 0.25),
            (0.31, 0.5),
            (0.0, 0.58),
            (-0.31, 0.5),
            (-0.29, 0.22),
        ]
    )
    for shape in [*rods, palm]:
        brush.fill(grown(shape, 0.035), edge)
    for shape in [*rods, palm]:
        brush.fill(grown(shape, -0.01), colour)
    for index in range(3):
        x = -0.15 + 0.15 * index
        brush.line([(x, 0.42), (x * 1.05, 0.53)], edge, 0.03)
    brush.line(curve([(0.13, 0.2), (0.04, 0.3), (0.06, 0.42)]), edge, 0.025)
    if cuff:
        brush.fill(
            blob(0, 0.01, 0.27, 0.1, 4), mix(colour, WHITE, 0.25), edge=0.04
        )


def _finger(
    x: float, y: float, angle: float, length: float, radius: float
) -> np.ndarray:
    """Return one finger; positive angles lean away from the little one."""
    turn = np.deg2rad(angle)
    tip: Point = (x + length * np.sin(turn), y + length * np.cos(turn))
    return limb((x, y), tip, radius, radius * 0.9)
