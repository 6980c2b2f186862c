"""The pictures that `heeler demo` leaves."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from heeler.cli.showcase.chart import BACKGROUND, GREY, INK, draw_chart, text_font
from heeler.cli.showcase.study import BURN_IN, NOISE, Cleaned, Curves

__all__ = ["draw_figure", "save_all"]

_MARGIN, _GAP = 32, 32
_PANEL = 512
_CAPTION = 92
_CHART_HEIGHT = 500
_UNSURE = (240, 140, 30)


def _grey(level: NDArray[np.float64]) -> Image.Image:
    """Show numbers from 0 (white) to 1 (black) in 24 shades, which keep noise small as a file."""
    shade = np.rint(np.clip(1.0 - level, 0.0, 1.0) * 23.0) * (255.0 / 23.0)
    return Image.fromarray(np.rint(shade).astype(np.uint8)).convert("RGB")


def seen_panel(cleaned: Cleaned) -> Image.Image:
    """Show what was seen; two deviations beyond the spins are black and white.

    Parameters
    ----------
    cleaned
        The picture.

    Returns
    -------
    Image
        One pixel a site.
    """
    reach = 1.0 + 2.0 * NOISE
    return _grey((cleaned.seen + reach) / (2.0 * reach))


def likeliest_panel(cleaned: Cleaned) -> Image.Image:
    """Show the likelier value of every pixel after herding.

    Parameters
    ----------
    cleaned
        The picture.

    Returns
    -------
    Image
        One pixel a site.
    """
    return _grey((cleaned.dark["herded"] > 0.5).astype(np.float64))


def confidence_panel(cleaned: Cleaned) -> Image.Image:
    """Show probabilities: black and white where sure, orange where both values are likely.

    Parameters
    ----------
    cleaned
        The picture.

    Returns
    -------
    Image
        One pixel a site.
    """
    dark = cleaned.dark["herded"][..., None]
    doubt = 1.0 - np.abs(2.0 * dark - 1.0)
    colour = doubt * np.array(_UNSURE) + (1.0 - doubt) * 255.0 * (1.0 - dark)
    return Image.fromarray(np.rint(colour / 15.0).astype(np.uint8) * np.uint8(15))


def draw_charts(curves: list[Curves], width: int) -> Image.Image:
    """Draw charts of errors side by side.

    Parameters
    ----------
    curves
        What to draw.
    width
        Of all in pixels.

    Returns
    -------
    Image
        The charts.
    """
    image = Image.new("RGB", (width, _CHART_HEIGHT), BACKGROUND)
    each = (width - _GAP * (len(curves) - 1)) // len(curves)
    for k, item in enumerate(curves):
        errors = {name: row.tolist() for name, row in item.errors.items()}
        labels = (
            f"sweeps, after {BURN_IN} that are not counted",
            "mean error of the marginals, against exact ones",
        )
        chart = draw_chart((each, _CHART_HEIGHT), item.title, labels, item.sweeps, errors)
        image.paste(chart, (k * (each + _GAP), 0))
    return image


def draw_figure(cleaned: Cleaned, curves: list[Curves]) -> Image.Image:
    """Draw the whole figure: the picture before and after, how sure it is, and the charts.

    Parameters
    ----------
    cleaned
        The picture.
    curves
        The charts.

    Returns
    -------
    Image
        The figure.
    """
    panels = [
        (
            seen_panel(cleaned),
            "Seen",
            f"noise puts {cleaned.wrong['seen']:.0%} of the pixels on the wrong side",
        ),
        (
            likeliest_panel(cleaned),
            f"After {cleaned.sweeps} sweeps of herded Gibbs",
            f"{cleaned.wrong['herded']:.1%} of the pixels are wrong",
        ),
        (confidence_panel(cleaned), "How sure it is", "orange: both values are likely"),
    ]
    width = 2 * _MARGIN + len(panels) * _PANEL + (len(panels) - 1) * _GAP
    image = Image.new(
        "RGB", (width, 2 * _MARGIN + _CAPTION + _PANEL + _GAP + _CHART_HEIGHT), BACKGROUND
    )
    pen = ImageDraw.Draw(image)
    for k, (panel, title, caption) in enumerate(panels):
        left = _MARGIN + k * (_PANEL + _GAP)
        pen.text((left, _MARGIN), title, INK, text_font(30))
        pen.text((left, _MARGIN + 44), caption, GREY, text_font(22))
        top = _MARGIN + _CAPTION
        image.paste(panel.resize((_PANEL, _PANEL), Image.Resampling.NEAREST), (left, top))
        pen.rectangle([left, top, left + _PANEL - 1, top + _PANEL - 1], outline=GREY)
    charts = draw_charts(curves, width - 2 * _MARGIN)
    image.paste(charts, (_MARGIN, _MARGIN + _CAPTION + _PANEL + _GAP))
    return image


def save_all(folder: Path, cleaned: Cleaned, curves: list[Curves]) -> list[Path]:
    """Write the figure, its panels and the numbers of its charts.

    Parameters
    ----------
    folder
        An existing folder.
    cleaned
        The picture.
    curves
        The charts.

    Returns
    -------
    list of Path
        The files, the figure first.
    """
    images = {
        "figure.png": draw_figure(cleaned, curves),
        "seen.png": seen_panel(cleaned),
        "cleaned.png": likeliest_panel(cleaned),
        "confidence.png": confidence_panel(cleaned),
        "errors.png": draw_charts(curves, 1600),
    }
    for name, image in images.items():
        image.save(folder / name, optimize=True)
    lines = ["model,driver,sweeps,mean_error"]
    for item in curves:
        for driver, row in item.errors.items():
            pairs = zip(item.sweeps, row.tolist(), strict=True)
            lines += [f'"{item.title}",{driver},{sweeps},{error:.6g}' for sweeps, error in pairs]
    (folder / "errors.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return [folder / name for name in (*images, "errors.csv")]
