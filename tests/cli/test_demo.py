"""`heeler demo`: what it leaves is what it says, and the same every time."""

import csv
import json

import numpy as np
import pytest
from PIL import Image

import heeler
from heeler.cli import main
from heeler.cli.showcase import chart, scene, study

SMALL = ["--side", "48", "--sweeps", "12", "--doublings", "9"]


@pytest.fixture(scope="module")
def left(tmp_path_factory):
    """Run the small demo once: its folder and its JSON object."""
    import contextlib
    import io

    folder = tmp_path_factory.mktemp("demo") / "new" / "folder"
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert main(["demo", *SMALL, "-o", str(folder), "--json"]) == 0
    return folder, json.loads(out.getvalue())


def pixels(path):
    with Image.open(path) as image:
        return np.asarray(image.convert("RGB")).astype(int)


def test_pictures_show_the_numbers(left):
    folder, content = left
    drawn = scene.draw(48)
    cleaned = pixels(folder / "cleaned.png")[..., 0] < 128
    assert np.mean(cleaned != drawn) == content["picture"]["wrong"]["herded"]
    seen = scene.noisy(drawn, study.NOISE, 1) > 0
    assert np.mean(seen != drawn) == content["picture"]["wrong"]["seen"]
    # Grey exactly in the middle cannot be told; shades away from it must be on the right side.
    shade = pixels(folder / "seen.png")[..., 0]
    assert (((shade < 128) == seen) | (np.abs(shade - 127.5) < 8)).all()
    assert content["picture"]["wrong"]["herded"] < 0.4 * content["picture"]["wrong"]["seen"]
    # Where sure the picture of confidence is grey, and dark where the cleaned picture is.
    confidence = pixels(folder / "confidence.png")
    sure = np.ptp(confidence, axis=-1) <= 30
    assert sure.mean() > 0.5
    assert ((confidence[..., 0] < 128) == cleaned)[sure].all()


def test_files_are_the_ones_named(left):
    folder, content = left
    assert sorted(content["files"]) == sorted(str(path) for path in folder.iterdir())
    assert pixels(folder / "figure.png").shape == (1200, 1664, 3)
    rows = list(csv.DictReader((folder / "errors.csv").read_text("utf-8").splitlines()))
    for curve in content["curves"]:
        assert curve["sweeps"] == [2**k for k in range(10)]
        for driver in study.DRIVERS:
            mine = [r for r in rows if (r["model"], r["driver"]) == (curve["title"], driver)]
            assert [float(r["mean_error"]) for r in mine] == pytest.approx(
                curve["errors"][driver], rel=1e-5
            )


def test_errors_are_those_of_separate_runs(left):
    """A point of the curve, made by going on, is the error of an unbroken run."""
    _, content = left
    seen = scene.noisy(scene.draw(256), study.NOISE, 1)[study.STRIP]
    model = study.posterior(seen)
    exact = heeler.exact.marginals(model).array[:, 1]
    errors = []
    for seed in range(4):
        run = heeler.sample(model, driver="herded", sweeps=64, burn_in=20, chains=1, seed=seed)
        errors.append(np.abs(run.marginals.array[:, 1] - exact).mean())
    assert content["curves"][0]["errors"]["herded"][6] == pytest.approx(
        np.median(errors), rel=1e-12
    )


def test_posterior_is_that_of_the_noise():
    """By Bayes' rule on two pixels: prior exp(J s t), normal noise."""
    seen = np.array([[0.7, -2.0]])
    odds = np.zeros((2, 2))
    for a in (0, 1):
        for b in (0, 1):
            s, t = 2 * a - 1, 2 * b - 1
            likelihood = -((0.7 - s) ** 2 + (-2.0 - t) ** 2) / (2 * study.NOISE**2)
            odds[a, b] = np.exp(study.COUPLING * s * t + likelihood)
    marginals = heeler.exact.marginals(study.posterior(seen)).array[:, 1]
    assert marginals == pytest.approx([odds[1].sum() / odds.sum(), odds[:, 1].sum() / odds.sum()])


def test_the_same_again(left, tmp_path):
    folder, _ = left
    assert main(["demo", *SMALL, "-o", str(tmp_path), "--json"]) == 0
    for path in folder.iterdir():
        assert path.read_bytes() == (tmp_path / path.name).read_bytes(), path.name


def test_table_for_people(tmp_path, capsys):
    arguments = ["--side", "16", "--sweeps", "2", "--doublings", "4", "-o", str(tmp_path)]
    assert main(["demo", *arguments]) == 0
    out = capsys.readouterr().out
    assert "wrong pixels after 2 sweeps" in out
    assert "grids" in out
    assert str(tmp_path / "figure.png") in out


def test_a_folder_that_is_a_file(tmp_path, capsys):
    path = tmp_path / "taken"
    path.write_text("")
    assert main(["demo", "-o", str(path)]) == 2
    assert "taken" in capsys.readouterr().err


def test_chart_puts_points_where_they_belong():
    """With decades 1 to 100 and 0.01 to 1 the middle point lies on the middle of both axes."""
    image = chart.draw_chart((600, 500), "t", ("x", "y"), [1, 10, 100], {"herded": [1, 0.1, 0.01]})
    left, right = chart._LEFT, 600 - chart._RIGHT
    # The axis of y ends 0.08 decades above the highest point.
    bottom, top = 500 - chart._BOTTOM, chart._TOP
    middle = (left + right) / 2, bottom - (bottom - top) * 1.0 / 2.08
    assert image.getpixel(tuple(round(c) for c in middle)) == chart.COLOURS["herded"]
    assert image.getpixel((round(middle[0]), round(middle[1]) - 40)) != chart.COLOURS["herded"]


@pytest.mark.parametrize("side", [16, 64, 256])
def test_scene_is_the_same_at_every_size(side):
    """About a third is dark, whatever the size, the sun where it should be."""
    picture = scene.draw(side)
    assert picture.shape == (side, side)
    assert set(np.unique(picture)) == {0, 1}
    assert picture.mean() == pytest.approx(0.34, abs=0.06)
    assert picture[int(0.19 * side), int(0.2 * side)] == 1
    assert picture[int(0.06 * side), int(0.5 * side)] == 0
