"""The work of `heeler demo`: a noisy picture cleaned, and errors beside exact answers."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

import heeler
from heeler.cli.showcase.scene import draw, noisy

__all__ = ["DRIVERS", "Cleaned", "Curves", "clean", "grid_curves", "strip_curves"]

DRIVERS = ("random", "herded")
#: Standard deviation of the noise; spins are -1 and +1, so 31 % of the pixels change sides.
NOISE = 2.0
#: The coupling that leaves the fewest wrong pixels here, tried from 0.5 to 0.8.
COUPLING = 0.6
BURN_IN = 20
#: Rows of the picture that are solved exactly, where the dog's legs begin; 12 make a narrow tree.
STRIP = slice(150, 162)
STRIP_SIDE = 256


@dataclass
class Cleaned:
    """A noisy picture, and what each driver made of it.

    Attributes
    ----------
    picture
        Values 0 and 1, as drawn.
    seen
        The picture with noise.
    sweeps
        Sweeps of each driver after the burn-in.
    dark
        Driver -> probability that each pixel is 1.
    wrong
        Driver -> share of pixels whose likelier value is not the drawn one; ``"seen"`` is the
        share of pixels that the noise alone puts on the wrong side.
    distance
        Driver -> mean distance of `dark` from that of a long run.
    seconds
        Driver -> time, compilation left out.
    """

    picture: NDArray[np.uint8]
    seen: NDArray[np.float64]
    sweeps: int
    dark: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    wrong: dict[str, float] = field(default_factory=dict)
    distance: dict[str, float] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)


@dataclass
class Curves:
    """Errors of marginals after 1, 2, 4, ... sweeps from the burn-in on, beside exact ones.

    Attributes
    ----------
    title
        What was sampled.
    sweeps
        Numbers of sweeps.
    errors
        Driver -> mean distance from the exact marginals, the median over seeds.
    """

    title: str
    sweeps: list[int]
    errors: dict[str, NDArray[np.float64]]

    def gain(self) -> float:
        """Say how many times larger the last random error is than the last herded one."""
        return float(self.errors["random"][-1] / self.errors["herded"][-1])


def posterior(seen: NDArray[np.float64]) -> Any:
    """Give the model of pictures given what was seen: neighbours tend to agree.

    Parameters
    ----------
    seen
        Spins with normal noise of deviation `NOISE`.

    Returns
    -------
    Model
        A lattice; the field is half the log odds that each noisy pixel alone gives.
    """
    return heeler.lattice(seen.shape, coupling=COUPLING, field=seen / NOISE**2)


def clean(side: int, sweeps: int, seed: int) -> Cleaned:
    """Clean a noisy picture with each driver for the same number of sweeps.

    Parameters
    ----------
    side
        Height and width of the picture.
    sweeps
        Sweeps after the burn-in.
    seed
        Of noise and chains.

    Returns
    -------
    Cleaned
        The pictures and their errors.
    """
    picture = draw(side)
    result = Cleaned(picture, noisy(picture, NOISE, seed), sweeps)
    result.wrong["seen"] = float(np.mean((result.seen > 0) != picture))
    model = posterior(result.seen)
    # Long enough that its own noise is small beside the distances measured.
    reference = heeler.sample(
        model,
        driver="random",
        sweeps=40 * sweeps,
        burn_in=10 * BURN_IN,
        seed=seed + 1,
        progress=False,
    ).marginals.array[:, 1]
    for driver in DRIVERS:
        settings: dict[str, Any] = {"driver": driver, "chains": 1, "seed": seed, "progress": False}
        heeler.sample(model, sweeps=1, **settings)  # compiles, or finds what was compiled before
        start = time.perf_counter()
        run = heeler.sample(model, sweeps=sweeps, burn_in=BURN_IN, **settings)
        result.seconds[driver] = time.perf_counter() - start
        dark = run.marginals.array[:, 1]
        result.distance[driver] = float(np.abs(dark - reference).mean())
        result.dark[driver] = dark.reshape(picture.shape)
        result.wrong[driver] = float(np.mean((result.dark[driver] > 0.5) != picture))
    return result


def strip_curves(doublings: int, seed: int) -> Curves:
    """Sample a strip of the noisy picture that a junction tree can solve.

    Parameters
    ----------
    doublings
        The last point is after 2^doublings sweeps.
    seed
        Of the noise.

    Returns
    -------
    Curves
        Errors over four seeds.
    """
    seen = noisy(draw(STRIP_SIDE), NOISE, seed)[STRIP]
    problem = _solved(posterior(seen))
    title = f"A strip of the picture, {seen.shape[0]} x {seen.shape[1]} pixels"
    return _curves(title, doublings, [(*problem, chain) for chain in range(4)])


def grid_curves(doublings: int, side: int = 10) -> Curves:
    """Sample grids whose couplings and fields are drawn from -0.5 to 0.5.

    Parameters
    ----------
    doublings
        The last point is after 2^doublings sweeps.
    side
        Height and width of the grids.

    Returns
    -------
    Curves
        Errors over five grids.
    """
    problems = []
    index = np.arange(side * side).reshape(side, side)
    across = np.column_stack([index[:, :-1].ravel(), index[:, 1:].ravel()])
    down = np.column_stack([index[:-1].ravel(), index[1:].ravel()])
    edges = np.concatenate([across, down]).tolist()
    for seed in range(5):
        generator = np.random.Generator(np.random.PCG64(seed))
        couplings = generator.uniform(-0.5, 0.5, len(edges)).tolist()
        bonds = [(u, v, coupling) for (u, v), coupling in zip(edges, couplings, strict=True)]
        model = heeler.ising(bonds, field=generator.uniform(-0.5, 0.5, side * side))
        problems.append((*_solved(model), seed))
    return _curves(f"Ising grids, {side} x {side}, couplings up to ±0.5", doublings, problems)


def _solved(model: Any) -> tuple[Any, NDArray[np.float64]]:
    """Give a model with the exact probabilities of value 1."""
    return model, heeler.exact.marginals(model).array[:, 1]


def _curves(
    title: str, doublings: int, problems: Sequence[tuple[Any, NDArray[np.float64], int]]
) -> Curves:
    """Follow runs of each driver, each going on where it stood."""
    sweeps = [1 << k for k in range(doublings + 1)]
    errors = {}
    for driver in DRIVERS:
        rows = []
        for model, exact, seed in problems:
            run = heeler.sample(
                model, driver=driver, sweeps=1, burn_in=BURN_IN, chains=1, seed=seed, progress=False
            )
            row = [_error(run, exact)]
            for done in sweeps[:-1]:
                run = run.resume(sweeps=done, progress=False)
                row.append(_error(run, exact))
            rows.append(row)
        errors[driver] = np.median(rows, axis=0)
    return Curves(title, sweeps, errors)


def _error(run: Any, exact: NDArray[np.float64]) -> float:
    """Give the mean distance of a run's marginals from the exact ones."""
    return float(np.abs(run.marginals.array[:, 1] - exact).mean())
