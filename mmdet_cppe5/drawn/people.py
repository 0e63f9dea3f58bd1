"""Random looks and poses."""

from __future__ import annotations

import numpy as np

from mmdet_cppe5.drawn.equipment import MASK_STYLES
from mmdet_cppe5.drawn.figure import Arm, Look, Pose
from mmdet_cppe5.drawn.places import pick

SKINS = (
    (250, 222, 196),
    (240, 204, 170),
    (224, 172, 130),
    (198, 140, 98),
    (160, 106, 72),
    (118, 78, 56),
    (90, 60, 46),
)
HAIRS = (
    (40, 30, 28),
    (74, 50, 36),
    (124, 82, 48),
    (196, 150, 84),
    (168, 84, 52),
    (176, 176, 180),
)
COVERALLS = (
    (247, 248, 249),
    (247, 248, 249),
    (247, 248, 249),
    (206, 226, 242),
    (250, 228, 128),
    (200, 230, 206),
)
SCRUBS = ((66, 148, 150), (78, 124, 178), (104, 158, 110), (140, 84, 118))
CLOTHES = (
    (214, 96, 92),
    (92, 112, 170),
    (232, 182, 92),
    (120, 96, 140),
    (96, 148, 116),
)
TRIMS = (
    (58, 122, 192),
    (232, 126, 52),
    (44, 150, 132),
    (196, 76, 96),
    (96, 100, 116),
)
MASKS = (
    (150, 202, 232),
    (150, 202, 232),
    (246, 246, 244),
    (136, 200, 172),
    (70, 72, 80),
    (240, 176, 196),
)
FRAMES = (
    (58, 84, 196),
    (44, 48, 54),
    (226, 108, 52),
    (40, 140, 120),
    (176, 184, 194),
)
GLOVES = (
    (62, 110, 206),
    (62, 110, 206),
    (128, 88, 178),
    (240, 242, 244),
    (74, 168, 120),
    (46, 48, 56),
)

ARMS = (
    Arm(8, 5),
    Arm(14, 8),
    Arm(10, 2),
    Arm(46, -52, 'grip'),
    Arm(68, 160, 'open'),
    Arm(40, 150, 'open'),
    Arm(28, 118, 'open'),
    Arm(18, -112, 'thumb'),
    Arm(24, 128, 'thumb'),
    Arm(16, -78, 'grip', 'clipboard'),
    Arm(14, -86, 'grip', 'tablet'),
    Arm(20, -64, 'grip', 'tube'),
    Arm(26, 112, 'grip', 'tube'),
)


def random_look(rng: np.random.Generator) -> Look:
    """Return a person: mostly staff in equipment, sometimes without."""
    suit = pick(rng, ('coverall',) * 6 + ('scrubs',) * 2 + ('coat', 'casual'))
    cloth = {
        'coverall': COVERALLS,
        'scrubs': SCRUBS,
        'coat': ((250, 250, 250),),
        'casual': CLOTHES,
    }[suit]
    geared = 0.25 if suit == 'casual' else 0.75
    mask = (pick(rng, MASKS), pick(rng, MASK_STYLES))
    shield = 'down' if rng.random() < 0.8 else 'up'
    return Look(
        skin=pick(rng, SKINS),
        hair=pick(rng, HAIRS),
        hairdo=pick(rng, ('short', 'short', 'long', 'bun', 'cap', 'bald')),
        suit=suit,
        cloth=pick(rng, cloth),
        trim=pick(rng, TRIMS),
        hood=suit == 'coverall' and rng.random() < 0.75,
        mask=mask if rng.random() < geared + 0.1 else None,
        mask_drop=0.16 if rng.random() < 0.08 else 0.0,
        goggles=pick(rng, FRAMES) if rng.random() < geared * 0.7 else None,
        shield=shield if rng.random() < geared * 0.5 else None,
        gloves=pick(rng, GLOVES) if rng.random() < geared else None,
        build=rng.uniform(0.88, 1.15),
        turn=rng.uniform(-1, 1),
        back=rng.random() < 0.08,
    )


def random_pose(rng: np.random.Generator) -> Pose:
    """Return a way of standing."""
    left, right = pick(rng, ARMS), pick(rng, ARMS)
    if left.holds and right.holds:
        right = ARMS[0]
    return Pose(
        left=_loosened(rng, left),
        right=_loosened(rng, right),
        lean=rng.uniform(-6, 6),
        tilt=rng.uniform(-9, 9),
        stride=rng.uniform(0.22, 0.48),
    )


def _loosened(rng: np.random.Generator, arm: Arm) -> Arm:
    """Return ``arm`` a few degrees off, so that no two are the same."""
    upper, lower = arm.upper + rng.uniform(-6, 8), arm.lower
    return Arm(upper, lower + rng.uniform(-10, 10), arm.hand, arm.holds)
