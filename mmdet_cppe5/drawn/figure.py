"""People: how they look, how they stand, and their drawing.

A figure is drawn in the frame of its body: the origin is the chin, one unit
is the height of the head, and the feet are ``HEIGHT`` units below.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Optional

import numpy as np

from mmdet_cppe5.classes import CLASSES
from mmdet_cppe5.drawn.canvas import Brush, Canvas, Colour, Frame, shade
from mmdet_cppe5.drawn.equipment import (
    draw_goggles,
    draw_hand,
    draw_mask,
    draw_shield,
)
from mmdet_cppe5.drawn.shapes import Point, blob, curve, limb, smooth

HEIGHT = 3.75
EDGE = 0.035
EYE = (52, 44, 46)


@dataclass(frozen=True)
class Look:
    """What a figure looks like and wears.

    Attributes:
        skin: colour of face and bare hands.
        hair: colour of the hair.
        hairdo: 'short', 'long', 'bun', 'cap' or 'bald'.
        suit: 'coverall', 'scrubs', 'coat' or 'casual'; only the first is
            an object to detect.
        cloth: colour of the suit.
        trim: colour of seams, shoes, shield bands and other details.
        hood: whether the coverall's hood is up.
        mask: ``(colour, style)`` or None.
        mask_drop: how far the mask has slipped, in heads.
        goggles: frame colour or None.
        shield: 'down', 'up' or None.
        gloves: colour or None.
        build: width of the body, 1 on average.
        turn: where the face looks, -1 left to 1 right.
        back: seen from behind.
    """

    skin: Colour
    hair: Colour
    hairdo: str
    suit: str
    cloth: Colour
    trim: Colour
    hood: bool = False
    mask: Optional[tuple[Colour, str]] = None
    mask_drop: float = 0.0
    goggles: Optional[Colour] = None
    shield: Optional[str] = None
    gloves: Optional[Colour] = None
    build: float = 1.0
    turn: float = 0.0
    back: bool = False


@dataclass(frozen=True)
class Arm:
    """How one arm is held.

    Attributes:
        upper: degrees of the upper arm away from hanging down, outwards.
        lower: the same for the forearm.
        hand: one of ``equipment.HANDS``.
        holds: 'clipboard', 'tube', 'tablet' or None.
    """

    upper: float
    lower: float
    hand: str = 'rest'
    holds: Optional[str] = None


@dataclass(frozen=True)
class Pose:
    """How a figure stands.

    Attributes:
        left: the arm on the picture's left.
        right: the arm on the picture's right.
        lean: degrees that the whole body leans, clockwise.
        tilt: degrees that the head tilts, clockwise.
        stride: half the distance between the feet, in heads.
    """

    left: Arm
    right: Arm
    lean: float = 0.0
    tilt: float = 0.0
    stride: float = 0.28


def draw_figure(
    canvas: Canvas, look: Look, pose: Pose, x: float, y: float, unit: float
) -> None:
    """Draw one person and register what it wears as parts of the scene.

    Args:
        canvas: the scene.
        look: what it wears.
        pose: how it stands.
        x: of the chin, in final pixels.
        y: of the chin, in final pixels.
        unit: height of the head, in final pixels.
    """
    suit = 0
    if look.suit == 'coverall':
        suit = new_part(canvas, 'Coverall')
    body = Brush(canvas, Frame(x, y, unit, pose.lean), suit)
    _draw_legs(body, look, pose)
    _draw_torso(body, look)
    _draw_head(body.at(0, -0.47, pose.tilt), look)
    for side, arm in ((-1, pose.left), (1, pose.right)):
        wrist = _draw_sleeve(body, look, arm, side)
        _draw_arm_end(body, wrist, look, arm, side)
    canvas.settle()


def draw_empty_coverall(
    canvas: Canvas, look: Look, x: float, y: float, unit: float
) -> None:
    """Draw a coverall on a hanger; for the arguments see `draw_figure`."""
    suit = Brush(canvas, Frame(x, y, unit), new_part(canvas, 'Coverall'))
    hook = suit.owned(0)
    hook.line(
        curve([(0, 0.1), (0, -0.35), (0.1, -0.45), (0.12, -0.3)]),
        (120, 124, 130),
        0.05,
    )
    look = replace(look, suit='coverall', hood=True)
    _draw_legs(suit, look, Pose(Arm(0, 0), Arm(0, 0), stride=0.22))
    _draw_torso(suit, look)
    for side in (-1, 1):
        _draw_sleeve(suit, look, Arm(14, 3), side)
    canvas.settle()


def new_part(canvas: Canvas, name: str) -> int:
    """Register one more object of the class ``name``, ids from 1."""
    return canvas.new_part(CLASSES.index(name) + 1)


def _draw_legs(body: Brush, look: Look, pose: Pose) -> None:
    trousers = shade(look.cloth, 0.94)
    if look.suit in ('coat', 'casual'):
        trousers = shade(look.trim, 0.75)
    boots = look.trim if look.suit == 'coverall' else (70, 66, 72)
    for side in (-1, 1):
        hip = (side * 0.26 * look.build, 1.75)
        foot = (side * pose.stride * look.build, HEIGHT - 0.16)
        leg = limb(hip, foot, 0.29 * look.build, 0.19)
        body.fill(leg, trousers, edge=EDGE)
        if look.suit == 'coverall':
            cuff = limb((foot[0], foot[1] - 0.35), foot, 0.2, 0.2)
            body.fill(cuff, boots, edge=EDGE)
        shoe = blob(foot[0] + side * 0.07, HEIGHT - 0.09, 0.25, 0.12, 2.6)
        body.fill(shoe, boots, edge=EDGE)


def _draw_torso(body: Brush, look: Look) -> None:
    wide = look.build
    long = 2.75 if look.suit == 'coat' else 2.0
    half = [
        (0.0, -0.02),
        (0.2, 0.04),
        (0.62, 0.22),
        (0.7, 0.55),
        (0.6, 1.2),
        (0.63, long - 0.2),
        (0.5, long),
        (0, long + 0.04),
    ]
    right = [(x * wide, y) for x, y in half]
    left = [(-x, y) for x, y in reversed(right) if x]
    if not look.hood:
        body.owned(0).fill(
            limb((0, -0.2), (0, 0.12), 0.17, 0.2), shade(look.skin, 0.86)
        )
    body.fill(smooth([*right, *left]), look.cloth, edge=EDGE)
    side = smooth(
        [
            (0.3 * wide, 0.2),
            (0.62 * wide, 0.35),
            (0.58 * wide, 1.2),
            (0.58 * wide, long - 0.1),
            (0.42 * wide, 1.2),
        ]
    )
    body.fill(side, shade(look.cloth, 0.72), alpha=90)
    if look.suit == 'coverall':
        _draw_coverall_front(body, look)
    elif not look.back:
        _draw_neckline(body, look)


def _draw_coverall_front(body: Brush, look: Look) -> None:
    crease = shade(look.cloth, 0.8)
    if not look.back:
        body.line(curve([(0, 0.1), (0.02, 0.9), (0, 1.95)]), crease, 0.075)
        body.line(curve([(0, 0.1), (0.02, 0.9), (0, 1.95)]), look.trim, 0.03)
        pocket = [(0.2, 0.62), (0.44, 0.62), (0.44, 0.7), (0.2, 0.7)]
        body.fill(pocket, look.trim, alpha=190)
    for side in (-1, 1):
        seam = [
            (side * 0.3, 0.12),
            (side * 0.47, 0.45),
            (side * 0.5 * look.build, 1.0),
        ]
        body.line(curve(seam), look.trim, 0.035)
    waist = [(-0.55 * look.build, 1.36), (0, 1.42), (0.55 * look.build, 1.36)]
    body.line(curve(waist), crease, 0.03)
    for x, y in ((-0.3, 1.55), (0.28, 1.62), (-0.34, 1.08)):
        body.line(
            curve([(x - 0.1, y), (x, y + 0.05), (x + 0.12, y)]), crease, 0.025
        )


def _draw_neckline(body: Brush, look: Look) -> None:
    if look.suit == 'casual':
        body.line(
            curve([(-0.22, 0.06), (0, 0.16), (0.22, 0.06)]),
            shade(look.cloth, 0.7),
            0.05,
        )
        return
    neck = look.trim if look.suit == 'coat' else shade(look.skin, 0.95)
    body.fill([(-0.2, 0.0), (0.2, 0.0), (0, 0.48)], neck, edge=EDGE)
    if look.suit == 'coat':
        body.line([(0, 0.48), (0, 2.7)], shade(look.cloth, 0.7), 0.03)
        for y in (0.8, 1.15, 1.5):
            body.fill(blob(0.08, y, 0.035, 0.035), shade(look.cloth, 0.55))
    else:
        pocket = [(0.18, 0.66), (0.44, 0.66), (0.42, 0.94), (0.2, 0.94)]
        body.line(pocket, shade(look.cloth, 0.75), 0.03, closed=True)


def _draw_sleeve(body: Brush, look: Look, arm: Arm, side: int) -> Point:
    """Draw an arm without its hand; return the wrist."""
    shoulder = (side * 0.56 * look.build, 0.36)
    elbow = _reach(shoulder, arm.upper, 0.78, side)
    wrist = _reach(elbow, arm.lower, 0.66, side)
    sleeve = shade(look.cloth, 0.97)
    short = look.suit in ('scrubs', 'casual')
    fore = look.skin if short else sleeve
    brush = body.owned(0) if short else body
    brush.fill(limb(elbow, wrist, 0.17, 0.13), fore, edge=EDGE)
    body.fill(limb(shoulder, elbow, 0.225, 0.185), sleeve, edge=EDGE)
    if not short:
        body.fill(limb(elbow, wrist, 0.165, 0.125), sleeve)
    if look.suit == 'coverall':
        body.line([shoulder, elbow], shade(look.cloth, 0.85), 0.025)
    return wrist


def _draw_arm_end(
    body: Brush, wrist: Point, look: Look, arm: Arm, side: int
) -> None:
    """Draw the hand, gloved or bare, and what it holds."""
    part = new_part(body.canvas, 'Gloves') if look.gloves else 0
    turn = -side * arm.lower
    hand = body.owned(part).at(*wrist, turn, scale=0.56)
    # A hand's thumb is drawn on the right; on the left arm mirror it.
    frame = hand.frame
    if side > 0:
        frame = Frame(frame.x, frame.y, frame.scale, -frame.angle, -1)
    hand = Brush(body.canvas, frame, part)
    if arm.holds:
        _draw_held(hand.owned(0), arm.holds, look)
    draw_hand(hand, look.gloves or look.skin, arm.hand, bool(look.gloves))


def _reach(start: Point, angle: float, length: float, side: int) -> Point:
    turn = np.deg2rad(angle)
    x = start[0] + side * length * float(np.sin(turn))
    return x, start[1] + length * float(np.cos(turn))


def _draw_held(hand: Brush, what: str, look: Look) -> None:
    if what == 'tube':
        hand.fill(
            limb((-0.75, 0.5), (0.75, 0.5), 0.12, 0.12),
            (236, 244, 248),
            edge=0.05,
        )
        hand.fill(limb((0.1, 0.5), (0.7, 0.5), 0.085, 0.085), (216, 70, 84))
        return
    paper = (250, 247, 238) if what == 'clipboard' else (64, 84, 108)
    board = (176, 128, 84) if what == 'clipboard' else (40, 44, 52)
    sheet = hand.at(0.0, 0.55, 0)
    sheet.fill(blob(0, 0.1, 0.85, 1.1, 8), board, edge=0.05)
    sheet.fill(blob(0, 0.12, 0.7, 0.92, 9), paper)
    for y in (-0.4, -0.15, 0.1, 0.35, 0.6):
        sheet.line([(-0.5, y), (0.45, y)], shade(paper, 0.72), 0.06)


def _draw_head(head: Brush, look: Look) -> None:
    """Draw the head; the brush's origin is its centre."""
    bare = head.owned(0)
    if look.hood:
        half = [
            (0, -0.6),
            (0.28, -0.53),
            (0.46, -0.22),
            (0.47, 0.15),
            (0.4, 0.46),
            (0.2, 0.66),
            (0, 0.7),
        ]
        left = [(-x, y) for x, y in reversed(half) if x]
        head.fill(smooth([*half, *left]), look.cloth, edge=EDGE)
        for side in (-1, 1):
            seam = [
                (side * 0.1, -0.58),
                (side * 0.3, -0.42),
                (side * 0.42, 0.0),
            ]
            head.line(curve(seam), look.trim, 0.03)
    elif look.hairdo in ('long', 'bun') and look.suit != 'coverall':
        bare.fill(blob(0, 0.02, 0.45, 0.56, 2.6), look.hair, edge=EDGE)
    if look.back:
        if not look.hood:
            _draw_hair_from_behind(bare, look)
        return
    if not look.hood:
        for side in (-1, 1):
            bare.fill(
                blob(side * 0.375, 0.04, 0.07, 0.1), look.skin, edge=EDGE
            )
    wide = 0.33 if look.hood else 0.375
    face = blob(0.06 * look.turn, 0.01, wide, 0.45, 2.25)
    bare.fill(face, look.skin, edge=EDGE)
    if not look.hood:
        _draw_hair(bare, look)
    features = head.at(0.11 * look.turn, 0.0)
    _draw_face(features.owned(0), look)
    _draw_worn(features, look)


def _draw_hair_from_behind(bare: Brush, look: Look) -> None:
    colour = look.skin if look.hairdo == 'bald' else look.hair
    bare.fill(blob(0, -0.04, 0.4, 0.46, 2.3), colour, edge=EDGE)
    if look.hairdo == 'bun':
        bare.fill(blob(0, -0.3, 0.2, 0.18), shade(colour, 0.9), edge=EDGE)
    if look.hairdo == 'cap':
        bare.fill(blob(0, -0.15, 0.42, 0.36, 2.4), look.trim, edge=EDGE)


def _draw_hair(bare: Brush, look: Look) -> None:
    if look.hairdo == 'bald':
        return
    if look.hairdo == 'bun':
        bare.fill(blob(0, -0.6, 0.2, 0.17), look.hair, edge=EDGE)
    low = -0.08 if look.hairdo == 'cap' else 0.0
    colour = look.trim if look.hairdo == 'cap' else look.hair
    part = 0.12 * (look.turn or 0.6)
    half = smooth(
        [
            (-0.4, low),
            (-0.41, -0.3),
            (-0.22, -0.53),
            (0, -0.56),
            (0.22, -0.53),
            (0.41, -0.3),
            (0.4, low),
            (0.31, -0.16),
            (part, -0.27),
            (-0.31, -0.16),
        ]
    )
    bare.fill(half, colour, edge=EDGE)


def _draw_face(face: Brush, look: Look) -> None:
    for side in (-1, 1):
        face.fill(blob(side * 0.15, -0.02, 0.062, 0.05), (252, 252, 252))
        face.fill(
            blob(side * 0.15 + 0.02 * look.turn, -0.015, 0.036, 0.045), EYE
        )
        brow = [
            (side * 0.08, -0.125),
            (side * 0.15, -0.145),
            (side * 0.22, -0.115),
        ]
        face.line(curve(brow), shade(look.hair, 0.9), 0.03)
        face.fill(blob(side * 0.2, 0.16, 0.06, 0.04), (232, 96, 88), alpha=60)
    dark = shade(look.skin, 0.7)
    face.line(curve([(0.0, 0.02), (0.04, 0.12), (-0.01, 0.14)]), dark, 0.025)
    face.line(
        curve([(-0.1, 0.25), (0, 0.29), (0.1, 0.25)]), (150, 62, 62), 0.035
    )


def _draw_worn(face: Brush, look: Look) -> None:
    """Draw mask, goggles and shield over the face, innermost first."""
    if look.mask:
        colour, style = look.mask
        mask = face.owned(new_part(face.canvas, 'Mask'))
        draw_mask(mask.at(0, look.mask_drop), colour, style)
    if look.goggles:
        goggles = face.owned(new_part(face.canvas, 'Goggles'))
        draw_goggles(goggles, look.goggles, 0.33 if look.hood else 0.38)
    if look.shield:
        shield = face.owned(new_part(face.canvas, 'Face_Shield'))
        draw_shield(shield, look.trim, lifted=look.shield == 'up')
