"""Outlines as arrays of points, shape (N, 2), x right and y down."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Union

import numpy as np

Point = tuple[float, float]
Points = Union[np.ndarray, Sequence[Point]]


def points(text: str) -> np.ndarray:
    """Read points written as SVG writes them: hundredths, ``'x,y x,y'``."""
    pairs = [pair.split(',') for pair in text.split()]
    return np.array(pairs, dtype=float) / 100


def symmetric(text: str) -> np.ndarray:
    """Return a smooth outline from its right half, points top to bottom."""
    right = points(text)
    left = (right * (-1, 1))[::-1]
    knots = np.concatenate([right, left[left[:, 0] != 0]])
    before, after = np.roll(knots, 1, 0), np.roll(knots, -1, 0)
    return _spline(before, knots, after, np.roll(knots, -2, 0))


def box(left: float, top: float, right: float, bottom: float) -> np.ndarray:
    """Return the four corners of a rectangle."""
    return np.array(
        [[left, top], [right, top], [right, bottom], [left, bottom]]
    )


def blob(
    x: float,
    y: float,
    half_width: float,
    half_height: float,
    power: float = 2.0,
) -> np.ndarray:
    """Return a superellipse: an ellipse at 2, nearer a rectangle above."""
    turn = np.linspace(0, 2 * np.pi, 48, endpoint=False)
    circle = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    unit = np.sign(circle) * np.abs(circle) ** (2 / power)
    return unit * (half_width, half_height) + (x, y)


def limb(
    start: Point, end: Point, start_radius: float, end_radius: float
) -> np.ndarray:
    """Return a tapering rod with round ends."""
    along = np.arctan2(end[1] - start[1], end[0] - start[0])
    turn = along + np.linspace(np.pi / 2, 5 * np.pi / 2, 24)
    radius = np.repeat([start_radius, end_radius], 12)[:, None]
    circle = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    return np.repeat([start, end], 12, axis=0) + radius * circle


def curve(knots: Points) -> np.ndarray:
    """Return the open Catmull-Rom curve through ``knots``."""
    knots = np.asarray(knots, dtype=float)
    ends = np.concatenate([knots[:1], knots, knots[-1:]])
    inner = _spline(ends[:-3], ends[1:-2], ends[2:-1], ends[3:])
    return np.concatenate([inner, knots[-1:]])


def _spline(*knots: np.ndarray) -> np.ndarray:
    """Return each piece's Catmull-Rom curve: before, start, end, after."""
    t = np.linspace(0, 1, 8, endpoint=False)[None, :, None]
    b, s, e, a = (knot[:, None, :] for knot in knots)
    curved = 0.5 * (
        2 * s
        + (e - b) * t
        + (2 * b - 5 * s + 4 * e - a) * t**2
        + (3 * s - b - 3 * e + a) * t**3
    )
    return curved.reshape(-1, 2)


def grown(outline: np.ndarray, amount: float) -> np.ndarray:
    """Move a closed outline outwards by ``amount``, inwards if negative."""
    following = np.roll(outline, -1, axis=0)
    ahead = following - outline
    length = np.hypot(ahead[:, 0], ahead[:, 1])
    ahead = ahead / np.maximum(length, 1e-9)[:, None]
    along = ahead + np.roll(ahead, 1, axis=0)
    # At a corner, keeping both sides parallel takes a longer step.
    square = np.maximum((along**2).sum(axis=1), 1.0)[:, None]
    outwards = along[:, ::-1] * (2, -2) / square
    area = outline[:, 0] @ following[:, 1] - following[:, 0] @ outline[:, 1]
    return outline + np.sign(area) * amount * outwards
