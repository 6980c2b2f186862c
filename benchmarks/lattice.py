"""Speed of the lattice engine beside the C reference kernel (`gibbs_seq` = 1), accumulators on.

`figures()` gives the ratios; run as a script it prints them. CPU time, one core, best of several
rounds in which the reference takes turns with what is measured.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from heeler.kernel.lattice_engine import LatticeEngine

CASES: dict[str, dict] = {
    "random systematic": {"driver": "random", "scan": "systematic"},
    "random systematic fast": {"driver": "random", "scan": "systematic", "generator": "fast"},
    "random chromatic": {"driver": "random", "scan": "chromatic"},
    "random chromatic fast": {"driver": "random", "scan": "chromatic", "generator": "fast"},
    "random chromatic field": {"driver": "random", "scan": "chromatic", "field": True},
    "herded u16 chromatic": {"driver": "herded", "scan": "chromatic", "bits": 16},
    "herded u16 chromatic field": {
        "driver": "herded",
        "scan": "chromatic",
        "bits": 16,
        "field": True,
    },
    "herded u32 chromatic": {"driver": "herded", "scan": "chromatic"},
    "herded u32 chromatic field": {"driver": "herded", "scan": "chromatic", "field": True},
    "herded neighbours chromatic": {
        "driver": "herded",
        "scan": "chromatic",
        "context": "neighbours",
    },
    "herded u16 systematic": {"driver": "herded", "scan": "systematic", "bits": 16},
    "herded u32 systematic": {"driver": "herded", "scan": "systematic"},
    "herded neighbours systematic": {
        "driver": "herded",
        "scan": "systematic",
        "context": "neighbours",
    },
}


def reference() -> SimpleNamespace:
    """Load the reference kernels and their timing helpers."""
    folder = Path(__file__).resolve().parents[2] / "shared" / "bench"
    if not (folder / "benchlib.py").is_file():
        raise FileNotFoundError(f"the reference kernels are not in {folder}")
    sys.path.insert(0, str(folder))
    import benchlib

    return benchlib


def make_engine(size: int, *, field: bool = False, **settings: Any) -> LatticeEngine:
    """Make an engine of a periodic square lattice at beta 0.4."""
    rng = np.random.default_rng(3)
    sites = size * size
    model = SimpleNamespace(
        shape=(size, size),
        coupling=0.4,
        field=rng.normal(0, 0.4, sites) if field else np.float64(0.0),
        periodic=True,
        neighbours=4,
    )
    return LatticeEngine(model, rng.integers(0, 2, (1, sites)).astype(np.uint8), key=1, **settings)


def job(size: int, settings: dict) -> tuple[Callable, int]:
    """Return a call to be timed, warmed up, and its number of updates."""
    engine = make_engine(size, **settings)
    passes = max(16, 20_000_000 // size**2)
    scores = np.empty((passes, 1))
    engine.advance(passes, scores)
    return lambda: engine.advance(passes, scores), passes * size**2


def figures(
    sizes: tuple[int, ...] = (256, 1024), names: list[str] | None = None
) -> dict[str, float]:
    """Return the ratios to the reference by name and size."""
    bench = reference()
    out = {}
    for size in sizes:
        jobs = {
            name: job(size, settings)
            for name, settings in CASES.items()
            if not names or name in names
        }
        found = bench.ratios(
            {name: f for name, (f, _) in jobs.items()}, {k: n for k, (_, n) in jobs.items()}
        )
        out |= {f"lattice {name} {size}": float(d["ratio"]) for name, d in found.items()}
    return out


if __name__ == "__main__":
    for line, ratio in figures(names=sys.argv[1:]).items():
        print(f"{line:48s} {ratio:8.3f}")
