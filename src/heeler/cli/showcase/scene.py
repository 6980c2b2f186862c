"""A picture of two values, drawn with formulas alone, and noise on top of it.

Shapes are unions of tapered strokes: every pixel is compared with distances to line segments, so
the picture is the same on every machine and needs no file.
"""

from __future__ import annotations

from math import cos, pi, sin

import numpy as np
from numpy.typing import NDArray

__all__ = ["draw", "noisy"]

# A stroke is (x0, y0, radius0, x1, y1, radius1) in units of the picture's side, y downwards.
Stroke = tuple[float, float, float, float, float, float]

_DOG: tuple[Stroke, ...] = (
    (0.185, 0.585, 0.078, 0.385, 0.570, 0.070),  # body
    (0.375, 0.555, 0.062, 0.450, 0.455, 0.042),  # neck
    (0.462, 0.435, 0.050, 0.490, 0.440, 0.044),  # head
    (0.500, 0.448, 0.032, 0.565, 0.468, 0.019),  # muzzle
    (0.438, 0.412, 0.024, 0.425, 0.345, 0.005),  # ear behind
    (0.470, 0.405, 0.024, 0.476, 0.335, 0.005),  # ear in front
    (0.125, 0.560, 0.024, 0.060, 0.430, 0.010),  # tail
    (0.165, 0.610, 0.046, 0.120, 0.715, 0.020),  # thigh
    (0.120, 0.715, 0.018, 0.150, 0.845, 0.014),  # hind leg
    (0.215, 0.620, 0.036, 0.215, 0.720, 0.018),  # the other thigh
    (0.215, 0.720, 0.017, 0.232, 0.845, 0.014),  # the other hind leg
    (0.360, 0.600, 0.036, 0.352, 0.845, 0.014),  # front leg
    (0.405, 0.590, 0.034, 0.445, 0.730, 0.017),  # the other front leg
    (0.445, 0.730, 0.016, 0.425, 0.845, 0.013),
    (0.140, 0.850, 0.012, 0.170, 0.850, 0.010),  # paws
    (0.222, 0.850, 0.012, 0.252, 0.850, 0.010),
    (0.345, 0.850, 0.012, 0.375, 0.850, 0.010),
    (0.420, 0.850, 0.012, 0.448, 0.850, 0.010),
)
# A sheep around the origin, in units of its own width.
_SHEEP: tuple[Stroke, ...] = (
    (-0.20, 0.00, 0.19, 0.20, 0.00, 0.19),
    *(  # wool: ten round bumps along the outline of the body
        (0.32 * cos(a), 0.15 * sin(a), 0.105, 0.32 * cos(a), 0.15 * sin(a), 0.105)
        for a in (0.2 * pi * k for k in range(10))
    ),
    (-0.44, -0.12, 0.095, -0.54, 0.02, 0.060),  # head
    (-0.40, -0.18, 0.035, -0.31, -0.20, 0.030),  # ear
    (-0.22, 0.15, 0.045, -0.22, 0.42, 0.038),
    (-0.07, 0.15, 0.045, -0.07, 0.42, 0.038),
    (0.14, 0.15, 0.045, 0.14, 0.42, 0.038),
    (0.28, 0.15, 0.045, 0.28, 0.42, 0.038),
)
# Where sheep stand and how wide they are.
_FLOCK = (
    (0.755, 0.720, 0.270),
    (0.860, 0.450, 0.175),
    (0.660, 0.235, 0.125),
    (0.930, 0.270, 0.100),
)
_SUN: tuple[Stroke, ...] = ((0.200, 0.190, 0.095, 0.200, 0.190, 0.095),)
_HORIZON = 0.858


def draw(side: int = 256) -> NDArray[np.uint8]:
    """Draw a dog, four sheep, the sun and the ground.

    Parameters
    ----------
    side
        Height and width in pixels.

    Returns
    -------
    ndarray
        uint8 (side, side), 1 where the picture is dark.
    """
    y, x = (np.mgrid[0:side, 0:side] + 0.5) / side
    dark = y > _HORIZON + 0.012 * np.sin(9.0 * x)
    for stroke in (*_DOG, *_SUN, *(_placed(s, place) for place in _FLOCK for s in _SHEEP)):
        dark |= _inside(x, y, stroke)
    return dark.astype(np.uint8)


def _placed(stroke: Stroke, place: tuple[float, float, float]) -> Stroke:
    """Move a stroke from the origin to its place."""
    x, y, width = place
    x0, y0, r0, x1, y1, r1 = (width * number for number in stroke)
    return (x + x0, y + y0, r0, x + x1, y + y1, r1)


def _inside(x: NDArray[np.float64], y: NDArray[np.float64], stroke: Stroke) -> NDArray[np.bool_]:
    """Say which points lie within a tapered stroke."""
    x0, y0, r0, x1, y1, r1 = stroke
    dx, dy = x1 - x0, y1 - y0
    squared = dx * dx + dy * dy
    along = np.clip(((x - x0) * dx + (y - y0) * dy) / squared, 0.0, 1.0) if squared else 0.0 * x
    return np.hypot(x - x0 - along * dx, y - y0 - along * dy) < r0 + along * (r1 - r0)


def noisy(picture: NDArray[np.uint8], deviation: float, seed: int) -> NDArray[np.float64]:
    """Add normal noise to a picture of spins.

    Parameters
    ----------
    picture
        Values 0 and 1; they stand for spins -1 and +1.
    deviation
        Standard deviation of the noise.
    seed
        Of the noise.

    Returns
    -------
    ndarray
        float64, the shape of the picture.
    """
    # The generator is named: the default one may change with numpy.
    noise = np.random.Generator(np.random.PCG64(seed)).standard_normal(picture.shape)
    return 2.0 * picture - 1.0 + deviation * noise
