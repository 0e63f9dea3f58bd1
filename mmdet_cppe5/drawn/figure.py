"""One person: what it looks like, how it stands, and its drawing.

A figure is drawn in the frame of its body: the origin is the chin, one unit
is the height of the head, and the feet are ``HEIGHT`` units below.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple, Optional

import numpy as np

from mmdet_cppe5.drawn import equipment
from mmdet_cppe5.drawn.canvas import Brush
from mmdet_cppe5.drawn.colours import Colour, shade
from mmdet_cppe5.drawn.shapes import blob, curve, limb, points, symmetric

HEIGHT = 3.75
EDGE = 0.035
EYE = (52, 44, 46)


class Arm(NamedTuple):
    """How one arm is held.

    Attributes:
        upper: degrees of the upper arm away from hanging down, outwards.
        lower: the same for the forearm.
        hand: one of ``equipment.HANDS``.
    """

    upper: float
    lower: float
    hand: str = 'rest'


@dataclass(frozen=True)
class Figure:
    """What a person looks like, wears and does.

    Attributes:
        skin: colour of face and bare hands.
        hair: colour of the hair.
        cap: whether a cap covers the hair.
        coverall: whether a coverall is worn, else scrubs, which are no
            object to detect.
        cloth: colour of the suit.
        trim: colour of seams, shoes, shield bands and other details.
        hood: whether the coverall's hood is up.
        mask: ``(colour, style)`` or None.
        goggles: frame colour or None.
        shield: whether a face shield is worn.
        gloves: colour or None.
        build: width of the body, 1 on average.
        turn: where the face looks, -1 left to 1 right.
        arms: on the picture's left and right.
        lean: degrees that the whole body leans, clockwise.
        tilt: degrees that the head tilts, clockwise.
        stride: half the distance between the feet, in heads.
    """

    skin: Colour
    hair: Colour
    cap: bool
    coverall: bool
    cloth: Colour
    trim: Colour
    hood: bool
    mask: Optional[tuple[Colour, str]]
    goggles: Optional[Colour]
    shield: bool
    gloves: Optional[Colour]
    build: float
    turn: float
    arms: tuple[Arm, Arm]
    lean: float
    tilt: float
    stride: float


def draw_figure(brush: Brush, figure: Figure) -> None:
    """Draw one person; what it wears becomes objects of the scene.

    Args:
        brush: its origin is the chin, its unit the height of the head.
        figure: whom to draw.
    """
    body = brush.at(0, 0, figure.lean)
    body = body.owned('Coverall' if figure.coverall else None)
    _draw_legs(body, figure)
    _draw_torso(body, figure)
    _draw_head(body.at(0, -0.47, figure.tilt), figure)
    for side, arm in zip((-1, 1), figure.arms):
        wrist = _draw_sleeve(body, figure, arm, side)
        hand = body.owned('Gloves' if figure.gloves else None)
        hand = hand.at(*wrist, -side * arm.lower, scale=0.56)
        if side > 0:
            # A hand's thumb is drawn on the right.
            hand = replace(hand, angle=-hand.angle, mirror=-1)
        colour = figure.gloves or figure.skin
        equipment.draw_hand(hand, colour, arm.hand, bool(figure.gloves))
    body.canvas.settle()


def _draw_legs(body: Brush, figure: Figure) -> None:
    trousers = shade(figure.cloth, 0.94)
    boots = figure.trim if figure.coverall else (70, 66, 72)
    for side in (-1, 1):
        hip = (side * 0.26 * figure.build, 1.75)
        foot = (side * figure.stride * figure.build, HEIGHT - 0.16)
        leg = limb(hip, foot, 0.29 * figure.build, 0.19)
        body.fill(leg, trousers, edge=EDGE)
        if figure.coverall:
            cuff = limb((foot[0], foot[1] - 0.35), foot, 0.2, 0.2)
            body.fill(cuff, boots, edge=EDGE)
        shoe = blob(foot[0] + side * 0.07, HEIGHT - 0.09, 0.25, 0.12, 2.6)
        body.fill(shoe, boots, edge=EDGE)


def _draw_torso(body: Brush, figure: Figure) -> None:
    wide = (figure.build, 1)
    if not figure.hood:
        neck = limb((0, -0.2), (0, 0.12), 0.17, 0.2)
        body.owned(None).fill(neck, shade(figure.skin, 0.86))
    outline = symmetric('0,-2 20,4 62,22 70,55 60,120 63,180 50,200 0,204')
    body.fill(outline * wide, figure.cloth, edge=EDGE)
    shadow = points('30,20 62,35 58,120 58,190 42,120') * wide
    body.fill(shadow, shade(figure.cloth, 0.72), alpha=90)
    if not figure.coverall:
        skin = shade(figure.skin, 0.95)
        body.fill(points('-20,0 20,0 0,48'), skin, edge=EDGE)
        return
    zipper = curve(points('0,10 2,90 0,195'))
    body.line(zipper, figure.trim, 0.04)
    for side in (-1, 1):
        seam = curve(points('30,12 47,45 50,100') * (side, 1))
        body.line(seam, figure.trim, 0.035)
    waist = points('-55,136 0,142 55,136') * (figure.build, 1)
    body.line(curve(waist), shade(figure.cloth, 0.8), 0.03)


def _draw_sleeve(
    body: Brush, figure: Figure, arm: Arm, side: int
) -> tuple[float, float]:
    """Draw an arm without its hand; return the wrist."""
    shoulder = (side * 0.56 * figure.build, 0.36)
    elbow = _reach(shoulder, arm.upper, 0.78, side)
    wrist = _reach(elbow, arm.lower, 0.66, side)
    sleeve = shade(figure.cloth, 0.97)
    short = not figure.coverall
    brush = body.owned(None) if short else body
    fore = limb(elbow, wrist, 0.17, 0.13)
    brush.fill(fore, figure.skin if short else sleeve, edge=EDGE)
    body.fill(limb(shoulder, elbow, 0.225, 0.185), sleeve, edge=EDGE)
    if not short:
        body.fill(limb(elbow, wrist, 0.165, 0.125), sleeve)
    return wrist


def _reach(
    start: tuple[float, float], angle: float, length: float, side: int
) -> tuple[float, float]:
    turn = np.deg2rad(angle)
    x = start[0] + side * length * float(np.sin(turn))
    return x, start[1] + length * float(np.cos(turn))


def _draw_head(head: Brush, figure: Figure) -> None:
    """Draw the head; the brush's origin is its centre."""
    bare = head.owned(None)
    if figure.hood:
        hood = symmetric('0,-60 28,-53 46,-22 47,15 40,46 20,66 0,70')
        head.fill(hood, figure.cloth, edge=EDGE)
        for side in (-1, 1):
            seam = curve(points('10,-58 30,-42 42,0') * (side, 1))
            head.line(seam, figure.trim, 0.03)
    else:
        for x in (-0.375, 0.375):
            bare.fill(blob(x, 0.04, 0.07, 0.1), figure.skin, edge=EDGE)
    wide = 0.33 if figure.hood else 0.375
    face = blob(0.06 * figure.turn, 0.01, wide, 0.45, 2.25)
    bare.fill(face, figure.skin, edge=EDGE)
    if not figure.hood:
        top = figure.trim if figure.cap else figure.hair
        scalp = symmetric('0,-56 22,-53 41,-30 40,0 31,-16 6,-27 0,-27')
        bare.fill(scalp, top, edge=EDGE)
    features = bare.at(0.11 * figure.turn, 0.0)
    _draw_face(features, figure)
    _draw_worn(features, figure)


def _draw_face(face: Brush, figure: Figure) -> None:
    for x in (-0.15, 0.15):
        face.fill(blob(x, -0.02, 0.062, 0.05), (252, 252, 252))
        face.fill(blob(x + 0.02 * figure.turn, -0.015, 0.036, 0.045), EYE)
        brow = [(x - 0.07, -0.12), (x, -0.145), (x + 0.07, -0.12)]
        face.line(curve(brow), shade(figure.hair, 0.9), 0.03)
    nose = curve(points('0,2 4,12 -1,14'))
    face.line(nose, shade(figure.skin, 0.7), 0.025)
    face.line(curve(points('-10,25 0,29 10,25')), (150, 62, 62), 0.035)


def _draw_worn(face: Brush, figure: Figure) -> None:
    """Draw mask, goggles and shield over the face, innermost first."""
    if figure.mask:
        equipment.draw_mask(face.owned('Mask'), *figure.mask)
    if figure.goggles:
        equipment.draw_goggles(face.owned('Goggles'), figure.goggles)
    if figure.shield:
        equipment.draw_shield(face.owned('Face_Shield'), figure.trim)
