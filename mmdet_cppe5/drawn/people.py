"""Random people: mostly staff in equipment, sometimes without."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mmdet_cppe5.drawn.colours import palette
from mmdet_cppe5.drawn.equipment import MASK_STYLES
from mmdet_cppe5.drawn.figure import Arm, Figure

SKINS = palette('#fadec4 #f0ccaa #e0ac82 #c68c62 #a06a48 #764e38 #5a3c2e')
HAIRS = palette('#281e1c #4a3224 #7c5230 #c49654 #a85434 #b0b0b4')
TRIMS = palette('#3a7ac0 #e87e34 #2c9684 #c44c60 #606474')
MASKS = palette('#96cae8 #96cae8 #f6f6f4 #88c8ac #464850 #f0b0c4')
FRAMES = palette('#3a54c4 #2c3036 #e26c34 #288c78 #b0b8c2')
GLOVES = palette('#3e6ece #3e6ece #8058b2 #f0f2f4 #4aa878 #2e3038')
COVERALLS = palette('#f7f8f9 #f7f8f9 #cee2f2 #fae480 #c8e6ce')
SCRUBS = palette('#429496 #4e7cb2 #689e6e #8c5476')
ARMS = (
    Arm(8, 5),
    Arm(14, 8),
    Arm(46, -52, 'grip'),
    Arm(68, 160, 'open'),
    Arm(40, 150, 'open'),
    Arm(28, 118, 'open'),
    Arm(18, -112, 'grip'),
)


def pick(rng: np.random.Generator, choices: Sequence[Any]) -> Any:
    """Return one of ``choices``, all equally likely."""
    return choices[int(rng.integers(len(choices)))]


def random_person(rng: np.random.Generator) -> Figure:
    """Return somebody, standing somehow."""
    coverall = rng.random() < 0.65
    mask = (pick(rng, MASKS), pick(rng, MASK_STYLES))
    return Figure(
        skin=pick(rng, SKINS),
        hair=pick(rng, HAIRS),
        cap=rng.random() < 0.3,
        coverall=coverall,
        cloth=pick(rng, COVERALLS if coverall else SCRUBS),
        trim=pick(rng, TRIMS),
        hood=coverall and rng.random() < 0.75,
        mask=mask if rng.random() < 0.75 else None,
        goggles=pick(rng, FRAMES) if rng.random() < 0.6 else None,
        shield=rng.random() < 0.4,
        gloves=pick(rng, GLOVES) if rng.random() < 0.7 else None,
        build=rng.uniform(0.88, 1.15),
        turn=rng.uniform(-1, 1),
        arms=(_random_arm(rng), _random_arm(rng)),
        lean=rng.uniform(-6, 6),
        tilt=rng.uniform(-9, 9),
        stride=rng.uniform(0.22, 0.48),
    )


def _random_arm(rng: np.random.Generator) -> Arm:
    """Return one of ``ARMS`` a few degrees off, so that no two are alike."""
    upper, lower, hand = pick(rng, ARMS)
    return Arm(upper + rng.uniform(-6, 8), lower + rng.uniform(-9, 9), hand)
