"""One drawn scene: a place, people in it, and the light."""

from __future__ import annotations

from typing import Optional

import numpy as np

from mmdet_cppe5.core.settings import listed
from mmdet_cppe5.drawn.canvas import Box, Brush, Canvas
from mmdet_cppe5.drawn.compositions import COMPOSITIONS
from mmdet_cppe5.drawn.people import pick
from mmdet_cppe5.drawn.places import PLACES

SIZES = ((432, 288), (400, 300), (336, 336), (288, 360), (300, 400))

# Objects of which less can be seen are not annotated.
MIN_SIDE = 8
MIN_VISIBLE = 0.25


def draw_scene(
    rng: np.random.Generator, kind: Optional[str] = None
) -> tuple[np.ndarray, list[Box]]:
    """Draw people at work in protective equipment.

    Args:
        rng: where every choice comes from; the same state draws the same
            scene.
        kind: one of ``COMPOSITIONS``; any of them if None.

    Returns:
        The picture, uint8 RGB of shape (height, width, 3), and the visible
        extent of each object.

    Raises:
        ValueError: if ``kind`` is unknown.
    """
    if kind is None:
        kind = pick(rng, tuple(COMPOSITIONS))
    if kind not in COMPOSITIONS:
        raise ValueError(
            f'Expected a kind of scene among {listed(COMPOSITIONS)}, but got '
            f'{kind!r}.'
        )
    width, height = pick(rng, SIZES)
    canvas = Canvas(width, height)
    horizon = rng.uniform(0.3, 0.42)
    place = PLACES[pick(rng, tuple(PLACES))]
    place(Brush(canvas, 0, 0, height), rng, width / height, horizon)
    COMPOSITIONS[kind](canvas, rng, horizon)
    picture = _light(np.asarray(canvas.finish()), rng)
    return picture, canvas.boxes(MIN_SIDE, MIN_VISIBLE)


def _light(picture: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Tint the picture, let the light fall from one side, add grain."""
    height, width = picture.shape[:2]
    across = np.linspace(-1, 1, width, dtype=np.float32)[None, :]
    down = np.linspace(-1, 1, height, dtype=np.float32)[:, None]
    slope = rng.uniform(-0.12, 0.12, 2)
    light = 1 + slope[0] * across + slope[1] * down
    light = light - rng.uniform(0, 0.12) * (across**2 + down**2)
    light = light.astype(np.float32)
    tint = rng.uniform(0.86, 1.06) * rng.uniform(0.95, 1.05, 3)
    lit = picture * light[:, :, None] * tint.astype(np.float32)
    if rng.random() < 0.4:
        grain = rng.standard_normal((height, width, 1), dtype=np.float32)
        lit = lit + grain * np.float32(rng.uniform(1.5, 5))
    return np.clip(np.rint(lit), 0, 255).astype(np.uint8)
