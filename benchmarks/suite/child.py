"""What a fresh process measures of itself, printed as one line of JSON.

Usage: ``child.py memory DRIVER CONTEXT BITS FIELD WARM`` or ``child.py imports``.
"""

import json
import resource
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

SIDE = 1_000
SWEEPS = 30
MEGABYTE = 1e6
SLOW = (
    "PIL",
    "arviz",
    "dimod",
    "matplotlib",
    "networkx",
    "numba",
    "pgmpy",
    "rich",
    "scipy",
    "typer",
)


def resident() -> float:
    """Give the memory in use now, in MB."""
    status = Path("/proc/self/status")
    if not status.is_file():
        return peak()
    return _kilobytes(status.read_text(), "VmRSS") * 1024 / MEGABYTE


def peak() -> float:
    """Give the most memory in use since the start or the last `forget_peak`, in MB."""
    status = Path("/proc/self/status")
    if status.is_file():
        return _kilobytes(status.read_text(), "VmHWM") * 1024 / MEGABYTE
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / MEGABYTE


def _kilobytes(text: str, key: str) -> int:
    """Read one line of a process' status."""
    line = next(line for line in text.splitlines() if line.startswith(key + ":"))
    return int(line.split()[1])


def forget_peak() -> None:
    """Let the next peak count from now, where the system can do that."""
    # Where it fails the peak includes what came before: too large, never too small.
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def memory(driver: str, context: str, bits: int, *, field: bool, warm: bool) -> dict[str, float]:
    """Measure the memory of a lattice of 10^6 sites and of a run on it.

    Parameters
    ----------
    driver
        ``"random"`` or ``"herded"``.
    context
        The herding context.
    bits
        Bits of a herding weight.
    field
        Whether every site has a field of its own.
    warm
        Whether the kernels are loaded before.

    Returns
    -------
    dict
        MB: the kernels (or 0), the model's peak, the whole run's peak, each beyond what the
        process had before.
    """
    import numpy as np

    import heeler

    options: dict[str, Any] = {"driver": heeler.Random()}
    if driver == "herded":
        options = {"driver": heeler.Herded(context=context, bits=bits)}

    def run(model: heeler.Model, sweeps: int) -> heeler.Run:
        found = heeler.sample(
            model, sweeps=sweeps, chains=1, threads=1, scan="chromatic", progress=False, **options
        )
        # What a user looks at is part of the run.
        assert np.isfinite(found.best.log_score)
        assert np.isfinite(found.marginals[0]).all()
        return found

    def lattice(rows: int, fields: Any) -> heeler.Model:
        return heeler.lattice((rows, SIDE), 0.4, fields, periodic=True)

    fields: Any = np.random.default_rng(0).normal(0, 0.4, (SIDE, SIDE)) if field else 0.0
    imported = resident()
    if warm:  # rows as long as the large lattice's, so that the same kernels are loaded
        run(lattice(16, fields[:16] if field else 0.0), SWEEPS)
    forget_peak()
    start = resident()
    model = lattice(SIDE, fields)
    of_model = peak() - start
    run(model, SWEEPS)
    return {"kernels": start - imported, "model": of_model, "run": peak() - start}


def imports() -> dict[str, Any]:
    """Time `import heeler` and then the look-up of all public names.

    Returns
    -------
    dict
        Seconds of both, and the slow packages that each brought in.
    """
    start = time.process_time()
    import heeler

    first = time.process_time() - start
    slow = loaded()
    for name in heeler.__all__:
        getattr(heeler, name)
    names = time.process_time() - start
    return {"import": first, "slow": slow, "names": names, "slow_names": loaded()}


def loaded() -> list[str]:
    """List the optional or slow packages that are imported."""
    return [name for name in SLOW if name in sys.modules]


if __name__ == "__main__":
    if sys.argv[1] == "imports":
        answer: dict[str, Any] = imports()
    else:
        answer = memory(
            sys.argv[2],
            sys.argv[3],
            int(sys.argv[4]),
            field=sys.argv[5] == "field",
            warm=sys.argv[6] == "warm",
        )
    print(json.dumps(answer))
