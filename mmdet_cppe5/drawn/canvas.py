"""A picture and, under it, a map of which object owns each pixel."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Optional, Union

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

from mmdet_cppe5.drawn.shapes import grown

Colour = tuple[int, int, int]

# Everything is drawn this many times larger and averaged down at the end,
# which is what smooths the edges.
OVERSAMPLE = 3

# Parts of one scene are numbered 1..255 in an 8-bit map; 0 is no part.
MAX_PARTS = 255


@dataclass(frozen=True)
class Frame:
    """A local coordinate system: where a drawing's own units land.

    Attributes:
        x: its origin in the picture, in final pixels from the left.
        y: the same, from the top.
        scale: final pixels per local unit.
        angle: rotation in degrees, clockwise as seen (y points down).
        mirror: -1 to flip left and right, else 1.
    """

    x: float
    y: float
    scale: float
    angle: float = 0.0
    mirror: int = 1

    def place(self, points: np.ndarray) -> np.ndarray:
        """Turn local points, shape (N, 2), into picture coordinates."""
        turn = np.deg2rad(self.angle)
        cos, sin = np.cos(turn), np.sin(turn)
        x, y = np.asarray(points, dtype=float).T * self.scale
        x, y = x * cos - y * sin, x * sin + y * cos
        return np.stack([self.x + self.mirror * x, self.y + y], axis=1)

    def child(
        self, x: float, y: float, angle: float = 0.0, scale: float = 1.0
    ) -> Frame:
        """Return a frame whose origin is the local point ``(x, y)``."""
        at_x, at_y = self.place(np.array([[x, y]]))[0]
        return Frame(
            at_x, at_y, self.scale * scale, self.angle + angle, self.mirror
        )


@dataclass
class Canvas:
    """A picture being drawn, with the visible extent of every part.

    Opaque strokes take over the pixels they cover, so what is drawn later
    hides what was drawn before, in the picture and in the map alike.

    Attributes:
        width: of the finished picture, in pixels.
        height: of the finished picture, in pixels.
        background: the colour it starts with, RGB.
    """

    width: int
    height: int
    background: Colour = (255, 255, 255)
    _categories: list[int] = field(default_factory=list)
    _bounds: list[Optional[list[int]]] = field(default_factory=list)
    _areas: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Make the empty picture and the empty map."""
        size = (self.width * OVERSAMPLE, self.height * OVERSAMPLE)
        self._set_image(Image.new('RGB', size, self.background))
        self._owner = Image.new('L', size, 0)
        self._owner_pen = ImageDraw.Draw(self._owner)

    def _set_image(self, image: Image.Image) -> None:
        self._image = image
        self._pen = ImageDraw.Draw(image)
        # An 'RGBA' pen on an RGB picture blends, which is slower.
        self._glass_pen = ImageDraw.Draw(image, 'RGBA')

    def new_part(self, category: int) -> int:
        """Return the number of a new object of ``category`` to draw with.

        Raises:
            ValueError: if the scene has more objects than the map can name.
        """
        if len(self._categories) == MAX_PARTS:
            raise ValueError(
                f'Expected at most {MAX_PARTS} objects in one scene, but '
                'got one more.'
            )
        self._categories.append(category)
        self._bounds.append(None)
        return len(self._categories)

    def fill(
        self,
        points: np.ndarray,
        colour: Colour,
        part: Optional[int] = 0,
        alpha: int = 255,
    ) -> None:
        """Fill a polygon.

        Args:
            points: its corners in final pixels, shape (N, 2).
            colour: RGB.
            part: the object that owns the pixels from now on, 0 for none;
                ``None`` leaves the map as it is (shading, glass).
            alpha: opacity, 0..255.
        """
        corners = self._corners(points)
        if alpha == 255:
            self._pen.polygon(corners, colour)
        else:
            self._glass_pen.polygon(corners, (*colour, alpha))
        if self._owns(part):
            self._owner_pen.polygon(corners, part)
            self._extend(part, corners, 1)

    def stroke(
        self,
        points: np.ndarray,
        colour: Colour,
        width: float,
        part: Optional[int] = 0,
        alpha: int = 255,
        closed: bool = False,
    ) -> None:
        """Draw a line through ``points``; ``width`` is in final pixels."""
        corners = self._corners(points)
        if closed:
            corners = corners + corners[:2]
        thick = max(1, round(width * OVERSAMPLE))
        joint = 'curve' if alpha == 255 and thick > 3 else None
        if alpha == 255:
            self._pen.line(corners, colour, thick, joint)
        else:
            self._glass_pen.line(corners, (*colour, alpha), thick)
        if self._owns(part):
            self._owner_pen.line(corners, part, thick, joint)
            self._extend(part, corners, thick)

    def blur(self, radius: float) -> None:
        """Blur what has been drawn so far; ``radius`` in final pixels."""
        small = self._image.reduce(OVERSAMPLE)
        small = small.filter(ImageFilter.GaussianBlur(radius))
        size = self._image.size
        self._set_image(small.resize(size, Image.Resampling.BILINEAR))

    def settle(self) -> None:
        """Note how much of each new part shows before others cover it."""
        for number in range(len(self._areas) + 1, len(self._categories) + 1):
            self._areas.append(self._shown(number))

    def finish(self) -> Image.Image:
        """Return the picture at its final size, RGB."""
        return self._image.reduce(OVERSAMPLE)

    def boxes(
        self, min_side: int, min_visible: float
    ) -> list[tuple[int, int, int, int, int]]:
        """Return the tight boxes of the parts that can still be seen.

        Args:
            min_side: leave out boxes with a shorter side, in pixels.
            min_visible: leave out parts of which less than this fraction
                of the area inside the picture escaped being covered.

        Returns:
            ``(category, x, y, width, height)`` for each part in drawing
            order, integers, in final pixels.
        """
        self.settle()
        found = []
        for number, category in enumerate(self._categories, start=1):
            box = self._visible_box(number)
            if box is None or min(box[2:]) < min_side:
                continue
            if self._shown(number) >= min_visible * self._areas[number - 1]:
                found.append((category, *box))
        return found

    def _window(self, number: int) -> tuple[np.ndarray, int, int]:
        """Return where a part shows, as a mask, and that mask's origin."""
        left, top, right, bottom = self._bounds[number - 1] or (0, 0, 0, 0)
        left, top = max(0, left), max(0, top)
        right = min(self._owner.width, max(left, right + 1))
        bottom = min(self._owner.height, max(top, bottom + 1))
        right, bottom = max(left, right), max(top, bottom)
        cut = self._owner.crop((left, top, right, bottom))
        return np.asarray(cut) == number, left, top

    def _shown(self, number: int) -> int:
        return int(np.count_nonzero(self._window(number)[0]))

    def _visible_box(self, number: int) -> Optional[tuple[int, int, int, int]]:
        window, left, top = self._window(number)
        if not window.any():
            return None
        columns = np.flatnonzero(window.any(axis=0)) + left
        rows = np.flatnonzero(window.any(axis=1)) + top
        x0, y0 = columns[0] // OVERSAMPLE, rows[0] // OVERSAMPLE
        x1, y1 = columns[-1] // OVERSAMPLE + 1, rows[-1] // OVERSAMPLE + 1
        return int(x0), int(y0), int(x1 - x0), int(y1 - y0)

    def _owns(self, part: Optional[int]) -> bool:
        # Before the first part there is nothing to take pixels from.
        return part is not None and bool(self._categories)

    def _extend(self, part: int, corners: list[int], margin: int) -> None:
        if part == 0:
            return
        xs, ys = corners[::2], corners[1::2]
        new = [
            min(xs) - margin,
            min(ys) - margin,
            max(xs) + margin,
            max(ys) + margin,
        ]
        old = self._bounds[part - 1] or new
        self._bounds[part - 1] = [
            *map(min, old[:2], new[:2]),
            *map(max, old[2:], new[2:]),
        ]

    @staticmethod
    def _corners(points: np.ndarray) -> list[int]:
        # Whole numbers, so that the last bit of a sine cannot move a pixel.
        scaled = np.asarray(points, dtype=float) * OVERSAMPLE
        return np.rint(scaled).astype(int).ravel().tolist()


@dataclass(frozen=True)
class Brush:
    """Draws shapes given in the local units of one frame.

    Attributes:
        canvas: what to draw on.
        frame: where the local units land.
        part: the object the shapes belong to; see :meth:`Canvas.fill`.
    """

    canvas: Canvas
    frame: Frame
    part: Optional[int] = 0

    def at(
        self, x: float, y: float, angle: float = 0.0, scale: float = 1.0
    ) -> Brush:
        """Return this brush with its origin moved to ``(x, y)``."""
        frame = self.frame.child(x, y, angle, scale)
        return Brush(self.canvas, frame, self.part)

    def owned(self, part: Optional[int]) -> Brush:
        """Return this brush drawing for another object."""
        return Brush(self.canvas, self.frame, part)

    def fill(
        self,
        shape: Union[np.ndarray, list],
        colour: Colour,
        edge: float = 0.0,
        alpha: int = 255,
    ) -> None:
        """Fill a shape, with a darker outline ``edge`` units wide.

        Half of the outline's width lies outside the shape.
        """
        points = self.frame.place(np.asarray(shape, dtype=float))
        part = self.part if alpha == 255 else None
        if edge:
            # Two fills are smoother, and faster, than a fill and a line.
            half = max(0.5, edge * self.frame.scale) / 2
            rim = shade(colour, 0.62)
            self.canvas.fill(grown(points, half), rim, part, alpha)
            points = grown(points, -half)
        self.canvas.fill(points, colour, part, alpha)

    def line(
        self,
        points: Union[np.ndarray, list],
        colour: Colour,
        width: float,
        alpha: int = 255,
        closed: bool = False,
    ) -> None:
        """Draw a line ``width`` units wide."""
        placed = self.frame.place(np.asarray(points, dtype=float))
        part = self.part if alpha == 255 else None
        wide = width * self.frame.scale
        self.canvas.stroke(placed, colour, wide, part, alpha, closed)


def shade(colour: Colour, factor: float) -> Colour:
    """Darken (``factor`` < 1) or lighten (> 1) a colour."""
    red, green, blue = (min(255, round(value * factor)) for value in colour)
    return red, green, blue


def mix(first: Colour, second: Colour, share: float) -> Colour:
    """Blend two colours; ``share`` 0 gives ``first``, 1 gives ``second``."""
    red, green, blue = (
        round(a + (b - a) * share) for a, b in zip(first, second)
    )
    return red, green, blue
