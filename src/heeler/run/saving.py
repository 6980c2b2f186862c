"""Saving runs, checkpoints while running, loading them again."""

import os
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heeler.driver import Driver, as_context
from heeler.driver.drivers import Greedy, Herded, Metropolis, Modified, Quasi, Random
from heeler.model.start import first_state
from heeler.model.stored import from_arrays, to_arrays
from heeler.run.build import build_engine
from heeler.run.files import read_run, write_run
from heeler.run.result import Run
from heeler.run.session import Session
from heeler.run.settings import Keep, Settings
from heeler.scan import Sequence, Uniform, Weighted, as_scan

CHECKPOINT_SECONDS = 60.0


class Checkpoint:
    """Saves a session every so many seconds, atomically.

    Parameters
    ----------
    where
        The file, or ``(file, seconds)``.
    """

    def __init__(self, where: Any) -> None:
        """Check that the file can be written."""
        path, seconds = where if isinstance(where, tuple) else (where, CHECKPOINT_SECONDS)
        if (
            not isinstance(path, (str, os.PathLike))
            or isinstance(seconds, (bool, str))
            or not seconds > 0
        ):
            raise ValueError(
                "The 'checkpoint' parameter must be a file or (file, seconds). "
                f"Got {where!r} instead."
            )
        self.path = Path(path)
        if not self.path.parent.is_dir():
            raise ValueError(
                f"The 'checkpoint' file must be in an existing folder. Got {os.fspath(path)!r}."
            )
        self.seconds = float(seconds)
        self.last = time.perf_counter()

    def __call__(self, session: Session) -> None:
        """Save, if it is time to."""
        if time.perf_counter() - self.last >= self.seconds:
            save_session(session, self.path)
            self.last = time.perf_counter()


def save(run: Run, path: str | os.PathLike[str]) -> None:
    """Save a run; see `Run.save`.

    Parameters
    ----------
    run
        The run.
    path
        The file.
    """
    session = run._session
    if session is None:
        raise ValueError(
            "This run cannot be saved: all its variables are clamped, or it was one of a batch."
        )
    if session.engine.passes != run._passes:
        raise ValueError("This run has been continued: save the run that came of it.")
    save_session(session, path)


def save_session(session: Session, path: str | os.PathLike[str]) -> None:
    """Write everything needed to go on.

    Parameters
    ----------
    session
        The run in progress.
    path
        The file.
    """
    words, arrays = _stored(session.model)
    settings = session.settings
    all_arrays = {f"model/{name}": array for name, array in arrays.items()} | session.arrays()
    all_arrays["pairs"] = settings.keep.pairs
    if isinstance(settings.temperature, np.ndarray):
        all_arrays["temperature"] = settings.temperature
    if isinstance(settings.scan, Sequence):
        all_arrays["order"] = settings.scan.checked(session.model)
    if isinstance(settings.scan, Weighted):
        all_arrays["scan_weights"] = settings.scan.checked(session.model)
    described = {
        "model": words,
        "kernel": None if settings.kernel is None else settings.kernel.words(),
        "driver": driver_words(settings.driver),
        "scan": settings.scan.name,
        "steps": getattr(settings.scan, "steps", None),
        "context": settings.context,
        "lanes": settings.lanes,
        "seed": str(settings.seed),
        "burn_in": settings.burn_in,
        "thin": settings.thin,
        "temperature": settings.temperature if isinstance(settings.temperature, float) else None,
        "restart": settings.restart,
        "samples": settings.keep.samples,
        "joint": settings.keep.joint,
        "functions": sorted(settings.keep.functions),
        "chosen": list(settings.chosen),
        "seconds": session.seconds,
        "sweeps": session.sweeps,
        "stopped_by": session.stopped_by,
    }
    write_run(path, described, all_arrays)


def _stored(model: Any) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Describe the model; a density's function is not stored."""
    if model.kind != "density":
        return to_arrays(model)
    return {"kind": "density", "digest": model.digest, "model": repr(model)}, {}


def _restored(words: dict[str, Any], arrays: dict[str, NDArray[Any]], given: Any) -> Any:
    """Rebuild the model, or take the density that is handed in again."""
    if words.get("kind") != "density":
        if given is not None:
            raise ValueError("its model is in the file: 'model' is for densities")
        return from_arrays(words, arrays)
    if given is None or given.kind != "density" or given.digest != words["digest"]:
        raise ValueError(
            f"it samples {words['model']}, whose function is not stored: hand that density in "
            "again with model=..."
        )
    return given


def driver_words(driver: Driver) -> dict[str, Any]:
    """Describe a driver in plain values.

    Parameters
    ----------
    driver
        The driver.

    Returns
    -------
    dict
        Its name and settings; `driver_from` makes it again.
    """
    words: dict[str, Any] = {"name": driver.name}
    if isinstance(driver, Herded):
        words |= {"rule": driver.rule, "bits": driver.bits, "start": driver.start}
    if isinstance(driver, Random):
        words["generator"] = driver.generator
    return words


_DRIVERS: dict[str, Any] = {
    "random": Random,
    "herded": Herded,
    "quasi": Quasi,
    "greedy": Greedy,
    "metropolis": Metropolis,
    "modified": Modified,
}


def driver_from(words: dict[str, Any]) -> Driver:
    """Make a driver that `driver_words` described.

    Parameters
    ----------
    words
        The description.

    Returns
    -------
    Driver
        The driver.
    """
    words = dict(words)
    return _DRIVERS[words.pop("name")](**words)


def load(
    path: str | os.PathLike[str],
    functions: dict[str, Any] | None = None,
    *,
    model: Any = None,
    kernel: Any = None,
) -> Run:
    """Load a run or checkpoint; it can be resumed.

    Parameters
    ----------
    path
        A file that `Run.save` or a checkpoint wrote.
    functions
        The functions that the run averages: code is not saved, so hand it in again.
    model
        A `Density`, whose function is not saved either.
    kernel
        The kernel, where it holds functions of yours.

    Returns
    -------
    Run
        The run as it was.
    """
    words, arrays = read_run(path)
    try:
        return _rebuild(words, arrays, functions or {}, model, kernel)
    except (KeyError, TypeError, IndexError, OverflowError, AttributeError, ValueError) as error:
        raise ValueError(f"{os.fspath(path)!r} cannot be loaded: {error}") from error


def _rebuild(
    words: dict[str, Any],
    arrays: dict[str, NDArray[Any]],
    functions: dict[str, Any],
    given: Any,
    kernel: Any,
) -> Run:
    """Put model, settings and engine together, then the arrays."""
    from heeler.run.kernels.names import kernel_from
    from heeler.run.sample import collect

    missing = set(words["functions"]) - set(functions)
    if missing:
        raise ValueError(
            f"it averages functions that must be handed in again: functions={sorted(missing)}"
        )
    stored = {name[6:]: array for name, array in arrays.items() if name.startswith("model/")}
    model = _restored(words["model"], stored, given)
    kernel = kernel_from(words.get("kernel"), kernel)
    if words["context"] not in (None, "auto"):
        as_context(words["context"])
    lanes = int(words["lanes"])
    keep = Keep(
        bool(words["samples"]),
        _pairs(arrays["pairs"], model.n_variables),
        bool(words["joint"]),
        {name: functions[name] for name in words["functions"]},
    )
    settings = Settings(
        driver_from(words["driver"]),
        _scan(words, arrays),
        words["context"],
        lanes,
        int(words["seed"]),
        int(words["burn_in"]),
        int(words["thin"]),
        arrays["temperature"] if words["temperature"] is None else float(words["temperature"]),
        bool(words["restart"]),
        keep,
        tuple(words["chosen"]),
        kernel,
    )
    # Any first states will do to build the engine: the stored arrays replace them.
    density = model.kind == "density"
    first = np.tile(model.start, (lanes, 1)) if density else first_state(model, 0, lanes)
    engine = build_engine(model, settings, first, words["sweeps"])
    _check_shapes(engine.arrays(), arrays)
    session = Session(model, settings, engine, os.cpu_count() or 1, sweeps=words["sweeps"])
    session.load(arrays)
    session.seconds = float(words["seconds"])
    session.stopped_by = str(words["stopped_by"])
    return collect(session)


def _pairs(pairs: NDArray[Any], n: int) -> NDArray[np.int64]:
    """Check the counted pairs, which index arrays in compiled code."""
    if pairs.ndim != 2 or pairs.shape[1] != 2 or (pairs < 0).any() or (pairs >= n).any():
        raise ValueError("its pairs are not pairs of variables")
    return pairs.astype(np.int64)


def _scan(words: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Any:
    """Rebuild the scan."""
    if words["scan"] == "sequence":
        return Sequence(arrays["order"])
    if words["scan"] == "weighted":
        return Weighted(arrays["scan_weights"], words["steps"])
    return Uniform(words["steps"]) if words["scan"] == "uniform" else as_scan(words["scan"])


def _check_shapes(expected: dict[str, NDArray[Any]], stored: dict[str, NDArray[Any]]) -> None:
    """Refuse arrays that do not fit the engine: compiled code trusts them."""
    for name, array in expected.items():
        found = stored[f"engine/{name}"]
        part, _, own = name.rpartition("/")  # a kernel's parts have names like "0/memory_keys"
        keys = f"{part}/memory_keys" if part else "memory_keys"
        growing = own.startswith("memory_") and keys in expected
        if (
            found.dtype != array.dtype
            or found.ndim != array.ndim
            or (not growing and found.shape != array.shape)
        ):
            raise ValueError(f"its array {name!r} has shape {found.shape} of {found.dtype}")
