"""What optimised scans are worth in a run: errors at the same number of updates, by driver.

The table of `docs/scans.md`. Run from the project's folder (about a minute)::

    python benchmarks/dogs.py
"""

import warnings
from collections import defaultdict
from collections.abc import Iterator

import numpy as np

import heeler

SIDE = 10
RANGES = (0.25, 0.35)
UPDATES = (10_000, 100_000, 1_000_000)
MODELS = 6
TARGET = [44, 45, 54, 55]  # the four in the middle
EPSILONS = (0.1, 0.01)


def make_model(seed: int, strength: float) -> heeler.Model:
    """Make a grid with random couplings and fields.

    Parameters
    ----------
    seed
        Its seed.
    strength
        Couplings are uniform in plus and minus this.

    Returns
    -------
    Model
        The model.
    """
    random = np.random.default_rng(seed)
    down = random.uniform(-strength, strength, (SIDE - 1, SIDE))
    right = random.uniform(-strength, strength, (SIDE, SIDE - 1))
    return heeler.lattice((SIDE, SIDE), (down, right), random.uniform(-0.5, 0.5, (SIDE, SIDE)))


def scans_for(matrix: heeler.scan.Influence) -> Iterator[tuple[str, object, bool]]:
    """List scans with their names, and whether passes start afresh."""
    yield "systematic", "systematic", False
    for epsilon in EPSILONS:
        made = heeler.shortest_scan(matrix, epsilon, TARGET)
        yield f"DoGS {epsilon}, going on", made, False
        yield f"DoGS {epsilon}, restarted", made, True


def errors(strength: float, updates: int) -> dict[tuple[str, str], list[float]]:
    """Run all drivers and scans on all models.

    Parameters
    ----------
    strength
        Of the couplings.
    updates
        Updates of a run.

    Returns
    -------
    dict
        Driver and scan -> mean error of the target's marginals, model by model.
    """
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    for seed in range(MODELS):
        model = make_model(seed, strength)
        exact = heeler.exact.marginals(model).array[TARGET, 1]
        for name, scan, restart in scans_for(heeler.influence(model)):
            steps = SIDE * SIDE if isinstance(scan, str) else len(scan)
            for driver in ("random", "herded"):
                run = heeler.sample(
                    model,
                    driver=driver,
                    scan=scan,
                    restart=restart,
                    sweeps=max(updates // steps, 1),
                    chains=1,
                    threads=1,
                    seed=seed,
                )
                error = np.abs(run.marginals.array[TARGET, 1] - exact).mean()
                found[driver, name].append(float(error))
    return found


def main() -> None:
    """Print a table for each strength."""
    # Optimised scans leave variables out on purpose here.
    warnings.simplefilter("ignore", UserWarning)
    for strength in RANGES:
        print(f"couplings in +-{strength}: mean error of {len(TARGET)} marginals after updates")
        columns = [errors(strength, updates) for updates in UPDATES]
        print(f"{'':34}" + "".join(f"{updates:>10}" for updates in UPDATES))
        for driver, name in sorted(columns[0], reverse=True):
            values = "".join(f"{np.mean(c[driver, name]):10.1e}" for c in columns)
            print(f"{driver + ', ' + name:34}{values}")


if __name__ == "__main__":
    main()
