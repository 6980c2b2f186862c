"""Cut reached against seconds on Max-Cut instances: random and herded annealing, dwave-samplers.

One thread each, CPU seconds, in turns within one run. Every annealer runs rounds of doubling length
and is asked after each round for the best cut so far, so that a curve is what a user would have at
that time; compilation is done before. Writes a table, JSON and a figure.

    python benchmarks/maxcut.py --seconds 10 --seeds 3 --figure docs/images/maxcut.png
"""

from __future__ import annotations

import argparse
import gzip
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import heeler

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "maxcut"
INSTANCES = ("G1", "G11", "G23", "G27", "G35", "G51", "bqp500-1", "sg3d_125_00")
CHAINS = 32
MARKS = (0.1, 0.3, 1.0, 3.0)


def instance(name: str) -> tuple[heeler.Model, float, float]:
    """Read an instance: its Ising model, the sum of its weights, and the best known cut."""
    with gzip.open(DATA / f"{name}.txt.gz", "rt") as lines:
        next(lines)
        edges = [(int(a) - 1, int(b) - 1, float(w)) for a, b, w in map(str.split, lines)]
    with gzip.open(DATA / "index.json.gz") as file:
        about = json.load(file)[name]
    keys = ("best_known_cut_literature", "cut_value_of_listed_configuration", "listed_value")
    best = next(about[key] for key in keys if about.get(key) is not None)
    model = heeler.ising([(a, b, -w) for a, b, w in edges])
    return model, sum(w for _, _, w in edges), float(best)


def rounds(
    anneal: Callable[[int], float], seconds: float, first: int = 64
) -> Iterator[tuple[float, float]]:
    """Call an annealer with sweeps that double, until so many CPU seconds are over."""
    begin, sweeps = time.process_time(), first
    while True:
        began = time.process_time()
        score = anneal(sweeps)
        now = time.process_time()
        yield now - begin, score
        left = seconds - (now - begin)
        if left < 0.02 * seconds:
            return
        sweeps = max(1, min(2 * sweeps, int(sweeps * left / (now - began))))


def by_heeler(driver: str) -> Callable[..., Iterator[tuple[float, float]]]:
    """Make an annealer of heeler."""

    def run(model: heeler.Model, seconds: float, seed: int) -> Iterator[tuple[float, float]]:
        def anneal(sweeps: int) -> float:
            found = heeler.anneal(
                model, sweeps=sweeps, driver=driver, chains=CHAINS, seed=seed + sweeps, threads=1
            )
            return found.best.log_score

        anneal(2)  # compiles
        yield from rounds(anneal, seconds)

    return run


def by_dwave(model: Any, seconds: float, seed: int) -> Iterator[tuple[float, float]]:
    """Anneal with dwave-samplers: its own schedule, as many reads, sweeps doubling."""
    import dimod
    from dwave.samplers import SimulatedAnnealingSampler

    row = np.repeat(np.arange(model.n_variables), np.diff(model.pointer))
    once = row < model.column
    energies = dimod.BinaryQuadraticModel.from_numpy_vectors(
        np.zeros(model.n_variables), (row[once], model.column[once], -model.coupling[once]), 0.0,
        "SPIN",
    )  # fmt: skip
    sampler = SimulatedAnnealingSampler()

    def anneal(sweeps: int) -> float:
        found = sampler.sample(energies, num_reads=CHAINS, num_sweeps=sweeps, seed=seed + sweeps)
        return -float(found.first.energy)

    yield from rounds(anneal, seconds)


ANNEALERS: dict[str, Callable[..., Iterator[tuple[float, float]]]] = {
    "random": by_heeler("random"),
    "herded": by_heeler("herded"),
    "dwave-samplers": by_dwave,
}


def measure(names: list[str], seconds: float, seeds: int) -> list[dict[str, Any]]:
    """Run every annealer on every instance, in turns."""
    records = []
    for name in names:
        model, total, best = instance(name)
        for seed in range(seeds):
            for label, run in ANNEALERS.items():
                points, top = [], -np.inf
                for at, score in run(model, seconds, seed):
                    top = max(top, (total + score) / 2)
                    points.append((round(at, 4), top))
                records.append(
                    {"instance": name, "annealer": label, "seed": seed, "best": best,
                     "points": points}
                )  # fmt: skip
                print(f"{name:12} {label:15} {seed} {points[-1]} of {best:.0f}", flush=True)
    return records


def cut_at(points: list[tuple[float, float]], second: float) -> float:
    """Give the best cut known at a time; NaN before the first round's end."""
    known = [cut for at, cut in points if at <= second * 1.02]
    return known[-1] if known else float("nan")


def table(records: list[dict[str, Any]], marks: list[float]) -> str:
    """Write the mean shortfall from the best known cut, in percent, at some times."""
    lines = [
        "| instance (best known) | annealer | "
        + " | ".join(f"{s:g} s" for s in marks)
        + " | best |",
        "|---|---|" + "---|" * (len(marks) + 1),
    ]
    for name in dict.fromkeys(r["instance"] for r in records):
        for label in ANNEALERS:
            mine = [r for r in records if r["instance"] == name and r["annealer"] == label]
            if not mine:
                continue
            best = mine[0]["best"]
            cells = []
            for second in marks:
                cuts = np.array([cut_at(r["points"], second) for r in mine])
                short = 100 * (1 - cuts.mean() / best)
                cells.append("-" if np.isnan(short) else f"{short:.3f} %")
            top = max(r["points"][-1][1] for r in mine)
            lines.append(f"| {name} ({best:.0f}) | {label} | {' | '.join(cells)} | {top:.0f} |")
    return "\n".join(lines)


def draw(records: list[dict[str, Any]], path: Path) -> None:
    """Draw the shortfall against seconds."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.ticker import NullFormatter

    names = list(dict.fromkeys(r["instance"] for r in records))
    colours = {"random": "#0072B2", "herded": "#D55E00", "dwave-samplers": "#000000"}
    rows = -(-len(names) // 4)
    figure, axes = plt.subplots(
        rows, 4, figsize=(13, 3.2 * rows), layout="constrained", squeeze=False
    )
    for axis, name in zip(axes.flat, names, strict=False):
        for label, colour in colours.items():
            mine = [r for r in records if r["instance"] == name and r["annealer"] == label]
            if not mine:
                continue
            ends = [at for r in mine for at, _ in r["points"]]
            grid = np.geomspace(min(ends), max(ends), 60)
            cuts = np.array([[cut_at(r["points"], s) for s in grid] for r in mine])
            known = ~np.isnan(cuts).any(axis=0)
            short = 100 * (1 - cuts[:, known].mean(axis=0) / mine[0]["best"])
            axis.plot(grid[known], np.maximum(short, 0), color=colour, label=label, lw=1.5)
        axis.set_xscale("log")
        axis.xaxis.set_minor_formatter(NullFormatter())
        axis.set_yscale("symlog", linthresh=0.01)
        axis.set_ylim(-0.001, None)
        axis.set_title(f"{name}, best known {mine[0]['best']:.0f}", fontsize=9)
        axis.grid(alpha=0.3)
    for axis in axes[-1]:
        axis.set_xlabel("CPU seconds")
    for axis in axes[:, 0]:
        axis.set_ylabel("% below best known cut")
    for axis in list(axes.flat)[len(names) :]:
        axis.set_visible(False)
    axes.flat[0].legend(fontsize=8)
    figure.savefig(path, dpi=110, metadata={"Software": None})
    plt.close(figure)


def main() -> None:
    """Read the words and measure."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--instances", default=",".join(INSTANCES))
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--figure", type=Path)
    words = parser.parse_args()
    records: list[dict[str, Any]] = []
    for name in words.instances.split(","):
        records += measure([name], words.seconds, words.seeds)
        if (
            words.json
        ):  # after every instance: a long run that is cut short has not been for nothing
            words.json.write_text(json.dumps(records))
    print(table(records, [*(m for m in MARKS if m < words.seconds), words.seconds]))
    if words.figure:
        draw(records, words.figure)


if __name__ == "__main__":
    main()
