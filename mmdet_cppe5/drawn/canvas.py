"""A picture and, under it, a map of which object owns each pixel."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple, Optional

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

from mmdet_cppe5.classes import CLASSES
from mmdet_cppe5.drawn.colours import Colour, shade
from mmdet_cppe5.drawn.shapes import Points, grown

# Everything is drawn this many times larger and averaged down at the end,
# which is what smooths the edges.
OVERSAMPLE = 3

# Objects of one scene are numbered 1..255 in an 8-bit map; 0 is no object.
MAX_OBJECTS = 255


class Box(NamedTuple):
    """One annotated object.

    Attributes:
        category: 1..5, in the order of ``mmdet_cppe5.classes.CLASSES``.
        x: left border, whole pixels from the left of the picture.
        y: top border, from the top.
        width: in pixels.
        height: in pixels.
    """

    category: int
    x: int
    y: int
    width: int
    height: int


@dataclass
class Canvas:
    """A picture being drawn, with the visible extent of every object.

    Opaque shapes take over the pixels they cover, so what is drawn later
    hides what was drawn before, in the picture and in the map alike.

    Attributes:
        width: of the finished picture, in pixels.
        height: of the finished picture, in pixels.
    """

    width: int
    height: int
    _categories: list[int] = field(default_factory=list)
    _areas: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Make the empty picture and the empty map."""
        size = (self.width * OVERSAMPLE, self.height * OVERSAMPLE)
        self._image = Image.new('RGB', size, 'white')
        self._owner = Image.new('L', size, 0)

    def new_object(self, name: str) -> int:
        """Return the number of a new object of the class ``name``.

        Raises:
            ValueError: if the scene has more objects than the map can name.
        """
        if len(self._categories) == MAX_OBJECTS:
            raise ValueError(f'Expected at most {MAX_OBJECTS} objects a scene')
        self._categories.append(CLASSES.index(name) + 1)
        return len(self._categories)

    def fill(
        self, points: Points, colour: Colour, owner: int, alpha: int
    ) -> None:
        """Fill a polygon.

        Args:
            points: its corners in final pixels, shape (N, 2).
            colour: RGB.
            owner: the object that owns the pixels from now on, 0 for none.
            alpha: opacity, 0..255; what is not opaque owns nothing.
        """
        corners = _corners(points)
        if alpha < 255:
            pen = ImageDraw.Draw(self._image, 'RGBA')
            pen.polygon(corners, (*colour, alpha))
            return
        ImageDraw.Draw(self._image).polygon(corners, colour)
        ImageDraw.Draw(self._owner).polygon(corners, owner)

    def line(
        self, points: Points, colour: Colour, width: float, owner: int
    ) -> None:
        """Draw a line ``width`` final pixels wide; see :meth:`fill`."""
        corners = _corners(points)
        thick = max(1, round(width * OVERSAMPLE))
        ImageDraw.Draw(self._image).line(corners, colour, thick, 'curve')
        ImageDraw.Draw(self._owner).line(corners, owner, thick, 'curve')

    def blur(self, radius: float) -> None:
        """Blur what has been drawn so far; ``radius`` in final pixels."""
        small = self.finish().filter(ImageFilter.GaussianBlur(radius))
        size = self._image.size
        self._image = small.resize(size, Image.Resampling.BILINEAR)

    def finish(self) -> Image.Image:
        """Return the picture at its final size, RGB."""
        return self._image.reduce(OVERSAMPLE)

    def settle(self) -> None:
        """Note how much of each new object shows before others cover it."""
        shown = self._owner.histogram()[1 : len(self._categories) + 1]
        self._areas += shown[len(self._areas) :]

    def boxes(self, min_side: int, min_visible: float) -> list[Box]:
        """Return the tight boxes of the objects that can still be seen.

        Args:
            min_side: leave out boxes with a shorter side, in pixels.
            min_visible: leave out objects of which less than this fraction
                of the area inside the picture escaped being covered.

        Returns:
            The boxes in drawing order, in final pixels.
        """
        self.settle()
        shown, found = self._owner.histogram(), []
        for number, category in enumerate(self._categories, start=1):
            if shown[number] <= min_visible * self._areas[number - 1]:
                continue
            own = self._owner.point([value == number for value in range(256)])
            left, top, right, bottom = own.getbbox()
            x, y = left // OVERSAMPLE, top // OVERSAMPLE
            # Pixels that the object covers in part are counted as its own.
            width = -(-right // OVERSAMPLE) - x
            height = -(-bottom // OVERSAMPLE) - y
            if min(width, height) >= min_side:
                found.append(Box(category, x, y, width, height))
        return found


def _corners(points: Points) -> list[int]:
    # Whole numbers, so that the last bit of a sine cannot move a pixel.
    scaled = np.asarray(points, dtype=float) * OVERSAMPLE
    return np.rint(scaled).astype(int).ravel().tolist()


@dataclass(frozen=True)
class Brush:
    """Draws shapes given in a local coordinate system.

    Attributes:
        canvas: what to draw on.
        x: the local origin in the picture, in final pixels from the left.
        y: the same, from the top.
        scale: final pixels per local unit.
        angle: rotation in degrees, clockwise as seen (y points down).
        mirror: -1 to flip left and right, else 1.
        owner: the object the shapes belong to, 0 for none.
    """

    canvas: Canvas
    x: float
    y: float
    scale: float
    angle: float = 0.0
    mirror: int = 1
    owner: int = 0

    def place(self, points: Points) -> np.ndarray:
        """Turn local points, shape (N, 2), into picture coordinates."""
        turn = np.deg2rad(self.angle)
        cos, sin = np.cos(turn), np.sin(turn)
        x, y = np.asarray(points, dtype=float).T * self.scale
        x, y = x * cos - y * sin, x * sin + y * cos
        return np.stack([self.x + self.mirror * x, self.y + y], axis=1)

    def at(
        self, x: float, y: float, angle: float = 0.0, scale: float = 1.0
    ) -> Brush:
        """Return this brush with its origin moved to the local (x, y)."""
        (at_x, at_y), *_ = self.place([(x, y)]).tolist()
        angle, scale = self.angle + angle, self.scale * scale
        return replace(self, x=at_x, y=at_y, angle=angle, scale=scale)

    def owned(self, name: Optional[str]) -> Brush:
        """Return this brush drawing a new object of a class, or none."""
        owner = self.canvas.new_object(name) if name else 0
        return replace(self, owner=owner)

    def fill(
        self,
        outline: Points,
        colour: Colour,
        edge: float = 0.0,
        alpha: int = 255,
    ) -> None:
        """Fill a shape, with a darker outline ``edge`` units wide.

        Half of the outline's width lies outside the shape.
        """
        placed = self.place(outline)
        if edge:
            # Two fills are smoother, and faster, than a fill and a line.
            half = max(0.5, edge * self.scale) / 2
            rim = shade(colour, 0.62)
            self.canvas.fill(grown(placed, half), rim, self.owner, alpha)
            placed = grown(placed, -half)
        self.canvas.fill(placed, colour, self.owner, alpha)

    def line(self, points: Points, colour: Colour, width: float) -> None:
        """Draw a line ``width`` units wide."""
        wide = width * self.scale
        self.canvas.line(self.place(points), colour, wide, self.owner)
