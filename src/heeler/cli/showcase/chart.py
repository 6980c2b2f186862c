"""A chart of curves over two logarithmic axes, drawn with Pillow alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

from PIL import Image, ImageDraw, ImageFont

__all__ = ["BACKGROUND", "COLOURS", "INK", "draw_chart", "text_font"]

BACKGROUND = (255, 255, 255)
INK = (38, 42, 48)
GREY = (110, 116, 124)
GRID = (226, 229, 233)
#: One colour a driver, told apart by colour-blind eyes too, and by brightness.
COLOURS = {"random": (213, 94, 0), "herded": (0, 90, 160)}
# Drawn larger and scaled down, because Pillow's lines have no smooth edges.
_FINER = 3
_LINE_HEIGHT = 28
_LEFT, _RIGHT, _TOP, _BOTTOM = 104, 116, 96, 84


def text_font(size: int) -> ImageFont.ImageFont | ImageFont.FreeTypeFont:
    """Give the font that comes with Pillow.

    Parameters
    ----------
    size
        Height in pixels.

    Returns
    -------
    font
        The font.
    """
    return ImageFont.load_default(size)


@dataclass
class _Axes:
    """Where numbers lie in a picture."""

    box: tuple[float, float, float, float]
    x: tuple[float, float]
    y: tuple[float, float]

    def place(self, x: float, y: float) -> tuple[float, float]:
        """Give the pixel of a point."""
        left, top, right, bottom = self.box
        across = (log10(x) - self.x[0]) / (self.x[1] - self.x[0])
        up = (log10(y) - self.y[0]) / (self.y[1] - self.y[0])
        return left + across * (right - left), bottom - up * (bottom - top)


def draw_chart(
    size: tuple[int, int],
    title: str,
    labels: tuple[str, str],
    x: Sequence[float],
    curves: Mapping[str, Sequence[float]],
) -> Image.Image:
    """Draw curves over logarithmic axes, each named at its end.

    Parameters
    ----------
    size
        Width and height in pixels.
    title
        Stands above the chart.
    labels
        Names of the two axes.
    x
        Positive numbers in ascending order.
    curves
        Name -> positive numbers, one for each of `x`.

    Returns
    -------
    Image
        The chart.
    """
    width, height = size
    image = Image.new("RGB", (width * _FINER, height * _FINER), BACKGROUND)
    pen = ImageDraw.Draw(image)
    lowest = min(min(curve) for curve in curves.values())
    highest = max(max(curve) for curve in curves.values())
    axes = _Axes(
        tuple(_FINER * side for side in (_LEFT, _TOP, width - _RIGHT, height - _BOTTOM)),  # type: ignore[arg-type]
        (log10(x[0]), log10(x[-1])),
        (floor(log10(lowest)), log10(highest) + 0.08),
    )
    _draw_frame(pen, axes, x, lowest, highest)
    for name, curve in curves.items():
        _draw_curve(pen, axes, x, curve, COLOURS.get(name, INK))
    image = image.resize(size, Image.Resampling.LANCZOS)
    # Text comes last: scaled down it would be pale.
    pen = ImageDraw.Draw(image)
    pen.text((_LEFT, 12), title, INK, text_font(27))
    pen.text((_LEFT, 52), labels[1], GREY, text_font(22))
    middle = (_LEFT + width - _RIGHT) / 2
    pen.text((middle, height - 10), labels[0], GREY, text_font(22), anchor="mb")
    for tick in _decades(x[0], x[-1]):
        left, _ = axes.place(tick, lowest)
        bottom = height - _BOTTOM + 10
        pen.text((left / _FINER, bottom), f"{tick:,.0f}", INK, text_font(22), anchor="mt")
    for tick in _decades(10.0 ** axes.y[0], highest):
        _, top = axes.place(x[0], tick)
        pen.text((_LEFT - 12, top / _FINER), f"{tick:.7g}", INK, text_font(22), anchor="rm")
    _draw_names(pen, axes, x[-1], curves)
    return image


def _draw_names(
    pen: ImageDraw.ImageDraw, axes: _Axes, last: float, curves: Mapping[str, Sequence[float]]
) -> None:
    """Name each curve at its end; names whose curves end close together move apart."""
    ends = sorted((axes.place(last, curve[-1])[1] / _FINER, name) for name, curve in curves.items())
    right = axes.box[2] / _FINER + 14
    above = -_LINE_HEIGHT
    for end, name in ends:
        above = max(end, above + _LINE_HEIGHT)
        pen.text((right, above), name, COLOURS.get(name, INK), text_font(25), anchor="lm")


def _decades(low: float, high: float) -> list[float]:
    """List the powers of ten in a range."""
    first, last = ceil(log10(low) - 1e-9), floor(log10(high) + 1e-9)
    return [10.0**power for power in range(first, last + 1)]


def _draw_frame(
    pen: ImageDraw.ImageDraw, axes: _Axes, x: Sequence[float], lowest: float, highest: float
) -> None:
    """Draw the lines of the grid and the two axes."""
    left, top, right, bottom = axes.box
    for tick in _decades(x[0], x[-1]):
        at, _ = axes.place(tick, lowest)
        pen.line([(at, top), (at, bottom)], GRID, 2 * _FINER)
    for tick in _decades(10.0 ** axes.y[0], highest):
        _, at = axes.place(x[0], tick)
        pen.line([(left, at), (right, at)], GRID, 2 * _FINER)
    pen.line([(left, top), (left, bottom), (right, bottom)], GREY, 2 * _FINER)


def _draw_curve(
    pen: ImageDraw.ImageDraw,
    axes: _Axes,
    x: Sequence[float],
    curve: Sequence[float],
    colour: tuple[int, int, int],
) -> None:
    """Draw one curve with a dot at every point."""
    points = [axes.place(*point) for point in zip(x, curve, strict=True)]
    pen.line(points, colour, 4 * _FINER, joint="curve")
    radius = 5.5 * _FINER
    for at, down in points:
        pen.ellipse([at - radius, down - radius, at + radius, down + radius], colour)
