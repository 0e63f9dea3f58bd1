"""Outlines as arrays of points, shape (N, 2), x right and y down."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

Point = tuple[float, float]


def blob(
    x: float,
    y: float,
    half_width: float,
    half_height: float,
    power: float = 2.0,
) -> np.ndarray:
    """Return a superellipse: an ellipse at 2, nearer a rectangle above."""
    turn = np.linspace(0, 2 * np.pi, 48, endpoint=False)
    cos, sin = np.cos(turn), np.sin(turn)
    xs = np.sign(cos) * np.abs(cos) ** (2 / power)
    ys = np.sign(sin) * np.abs(sin) ** (2 / power)
    return np.stack([x + half_width * xs, y + half_height * ys], axis=1)


def box(left: float, top: float, right: float, bottom: float) -> np.ndarray:
    """Return the four corners of a rectangle."""
    return np.array(
        [[left, top], [right, top], [right, bottom], [left, bottom]]
    )


def limb(
    start: Point, end: Point, start_radius: float, end_radius: float
) -> np.ndarray:
    """Return a tapering rod with round ends."""
    along = np.arctan2(end[1] - start[1], end[0] - start[0])
    near = along + np.linspace(np.pi / 2, 3 * np.pi / 2, 12)
    far = along + np.linspace(-np.pi / 2, np.pi / 2, 12)
    first = np.stack([np.cos(near), np.sin(near)], axis=1) * start_radius
    second = np.stack([np.cos(far), np.sin(far)], axis=1) * end_radius
    centres = np.repeat([start, end], 12, axis=0)
    return centres + np.concatenate([first, second])


def smooth(points: Sequence[Point], steps: int = 8) -> np.ndarray:
    """Return the closed Catmull-Rom curve through ``points``."""
    knots = np.asarray(points, dtype=float)
    return _spline(
        np.roll(knots, 1, 0),
        knots,
        np.roll(knots, -1, 0),
        np.roll(knots, -2, 0),
        steps,
    )


def curve(points: Sequence[Point], steps: int = 8) -> np.ndarray:
    """Return the open Catmull-Rom curve through ``points``."""
    knots = np.asarray(points, dtype=float)
    padded = np.concatenate([knots[:1], knots, knots[-1:]])
    inner = _spline(padded[:-3], padded[1:-2], padded[2:-1], padded[3:], steps)
    return np.concatenate([inner, knots[-1:]])


def _spline(
    before: np.ndarray,
    start: np.ndarray,
    end: np.ndarray,
    after: np.ndarray,
    steps: int,
) -> np.ndarray:
    t = np.linspace(0, 1, steps, endpoint=False)[None, :, None]
    b, s, e, a = (knot[:, None, :] for knot in (before, start, end, after))
    points = 0.5 * (
        2 * s
        + (e - b) * t
        + (2 * b - 5 * s + 4 * e - a) * t**2
        + (3 * s - b - 3 * e + a) * t**3
    )
    return points.reshape(-1, 2)


def mirrored(right_half: Sequence[Point]) -> list[Point]:
    """Complete a list of right-hand points, top to bottom, to both sides."""
    left = [(-x, y) for x, y in reversed(right_half) if x != 0]
    return [*right_half, *left]


def grown(points: np.ndarray, amount: float) -> np.ndarray:
    """Move a closed outline outwards by ``amount``, inwards if negative."""
    following = np.concatenate([points[1:], points[:1]])
    ahead = following - points
    length = np.hypot(ahead[:, 0], ahead[:, 1])
    ahead = ahead / np.maximum(length, 1e-9)[:, None]
    along = ahead + np.concatenate([ahead[-1:], ahead[:-1]])
    # At a corner, keeping both sides parallel takes a longer step.
    square = np.maximum((along**2).sum(axis=1), 1.0)[:, None]
    outwards = along[:, ::-1] * (2, -2) / square
    area = points[:, 0] @ following[:, 1] - following[:, 0] @ points[:, 1]
    return points + np.sign(area) * amount * outwards
