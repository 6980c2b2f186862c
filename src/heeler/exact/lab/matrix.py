"""Whole transition matrices: of a kernel on a small model, or given by the user."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from heeler.exact.lab.limits import DEFAULT_LIMIT
from heeler.exact.lab.passes import DRIVERS, Updates, pass_matrix
from heeler.exact.lab.proposals import kernel_name, proposal_matrix
from heeler.exact.lab.space import Space
from heeler.exact.oracle import check_limit
from heeler.model import Model

# Rows of a user's matrix may miss one by what printing a few digits loses.
_ROW_ERROR = 1e-6


class TransitionMatrix(csr_array):
    """The probabilities of going from each state to each other one; made by `heeler.lab`.

    Entry [k, l] is the probability of going from state k to state l in one pass. It is a
    `scipy.sparse.csr_array` and can be used wherever one can; what is computed from it has no
    attributes any more.

    Attributes
    ----------
    states : ndarray or None
        (states, n): the values behind each row; only possible states are listed.
    target : ndarray or None
        The model's probability of each state.
    labels : sequence of str
        A short name of each state.
    description : str
        The kernel in words.
    updates : int
        Updates of one pass.
    tolerance : float
        How far rounding may move the target in one pass, in total.
    model : Model or None
        The model.
    """

    states: NDArray[Any] | None = None
    target: NDArray[np.float64] | None = None
    labels: Sequence[str] = ()
    description: str = ""
    updates: int = 1
    tolerance: float = 0.0
    model: Model | None = None

    @classmethod
    def of(cls, matrix: Any, **known: Any) -> Self:
        """Make it from any matrix and what is known about it.

        Parameters
        ----------
        matrix
            Anything that `scipy.sparse.csr_array` takes.
        **known
            The attributes.

        Returns
        -------
        TransitionMatrix
            With sorted rows.
        """
        result: Any = cls(matrix)
        result.sum_duplicates()
        for name, thing in known.items():
            setattr(result, name, thing)
        return result

    @property
    def n_states(self) -> int:
        """The number of states."""
        return len(self.indptr) - 1


def transition_matrix(
    model: Model,
    kernel: Any = "gibbs",
    scan: Any = "systematic",
    *,
    temperature: float = 1.0,
    quantised: bool = True,
    memory_limit: int = DEFAULT_LIMIT,
) -> TransitionMatrix:
    """Compute a kernel's whole transition matrix on a small model.

    Rows and columns are the model's possible states, the last variable fastest, as
    `heeler.exact.enumerate` has them; entry [k, l] is the probability of going from state k to
    state l in one pass of the scan.

    Parameters
    ----------
    model : Model
        The model; clamped variables stay what they are.
    kernel : str or kernel
        ``"gibbs"`` (or ``"random"``), ``"metropolis"``, ``"modified"`` (Liu's, which avoids the
        present value), ``"greedy"``, ``"swap"``; a driver or kernel of heeler, proposals with
        their density, mixtures and cycles (also as text) included; or any object with a method
        ``transition_matrix(model)`` that gives a matrix over the possible states.
    scan : str or scan
        As in `heeler.sample`.
    temperature : float
        The distribution is p^(1/temperature).
    quantised : bool
        True takes the integer probabilities that compiled code compares its random words with,
        False those of double precision.
    memory_limit : int
        Bytes that the matrix may take.

    Returns
    -------
    TransitionMatrix
        Sparse, with the states and the model's probabilities.

    Raises
    ------
    TooLarge
        With the number of states and the memory.

    Examples
    --------
    >>> import heeler
    >>> pair = heeler.ising([(0, 1, 0.5)])
    >>> matrix = heeler.lab.transition_matrix(pair, scan=[0])
    >>> matrix.shape, round(float(matrix[0, 0]), 4)
    ((4, 4), 0.7311)
    """
    if not isinstance(model, Model):
        raise TypeError(
            f"The 'model' parameter must be a heeler model. Got {type(model).__name__} instead."
        )
    limit = check_limit(memory_limit)
    if not len(model.free):
        raise ValueError("All variables of the model are clamped: there is nothing to update.")
    if isinstance(kernel, str) and (kernel == "swap" or "(" in kernel):
        from heeler.run.kernels.names import as_kernel

        kernel = as_kernel(kernel)
    if getattr(kernel, "kernels", None) is not None:
        options = {"temperature": temperature, "quantised": quantised, "memory_limit": memory_limit}
        return _composed(model, kernel, options)
    own = getattr(kernel, "transition_matrix", None)
    if own is None and kernel_name(kernel) == "proposal":
        proposal: Any = kernel
        space = Space(model, _one_temperature(temperature), limit)
        return _described(
            proposal_matrix(proposal, space),
            space,
            f"Metropolis-Hastings, {proposal.steps} proposals",
            proposal.steps,
            1e-12 * len(space) * proposal.steps,
        )
    if own is None and hasattr(kernel, "advance"):
        _refuse_all_but_single_site(kernel)
        single: Any = kernel
        scan, own_temperature = single.scan, single.temperature
        if not (isinstance(own_temperature, float) and own_temperature == 1.0):
            temperature = own_temperature
        kernel = single.driver
    space = Space(model, _one_temperature(temperature), limit)
    if own is not None:
        given = own(model) if temperature == 1.0 else own(model, temperature)
        matrix = as_stochastic(given, f"{kernel!r}.transition_matrix(model)")
        size = len(matrix.indptr) - 1
        if size != len(space):
            raise ValueError(
                f"The 'kernel' parameter must give a matrix over the {len(space)} possible states. "
                f"Got {size} rows instead."
            )
        return _described(matrix, space, f"{type(kernel).__name__}", 1, 1e-12 * len(space))
    driver = driver_name(kernel)
    resolved = _as_scan(model, scan)
    matrix, steps = pass_matrix(Updates(space, driver, quantised), resolved, limit)
    name = "Gibbs" if driver == "random" else driver
    return _described(
        matrix,
        space,
        f"{name}, {resolved.name} scan of {steps} updates",
        steps,
        steps * space.tolerance(quantised),
    )


def _composed(model: Model, kernel: Any, options: dict[str, Any]) -> TransitionMatrix:
    """Put the matrices of a mixture's or a cycle's parts together."""
    parts = [transition_matrix(model, part, **options) for part in kernel.kernels]
    mixed = hasattr(kernel, "weights")
    numbers = kernel.weights if mixed else kernel.repeats
    matrix = csr_array(parts[0].shape) if mixed else csr_array(np.eye(parts[0].n_states))
    for part, number in zip(parts, numbers, strict=True):
        own = csr_array(part)
        if mixed:
            matrix = matrix + own * number
        else:
            for _ in range(number):
                matrix = matrix @ own
    names = [f"{number:.4g} x ({p.description})" for p, number in zip(parts, numbers, strict=True)]
    # A mixture's words choose its parts with chances that are rounded to 2^-32.
    rounding = len(parts) * 2.0**-32 if mixed else 0.0
    turns = [1.0 if mixed else number for number in numbers]
    return TransitionMatrix.of(
        matrix,
        states=parts[0].states,
        target=parts[0].target,
        labels=parts[0].labels,
        description=f"{kernel.name} of {', '.join(names)}",
        updates=int(sum(p.updates * n for p, n in zip(parts, turns, strict=True))),
        tolerance=rounding + sum(p.tolerance * n for p, n in zip(parts, turns, strict=True)),
        model=model,
    )


def _described(
    matrix: csr_array, space: Space, words: str, updates: int, tolerance: float
) -> TransitionMatrix:
    """Attach what is known."""
    return TransitionMatrix.of(
        matrix,
        states=space.states,
        target=space.target,
        labels=space.labels,
        description=words,
        updates=updates,
        tolerance=tolerance,
        model=space.model,
    )


def _refuse_all_but_single_site(kernel: Any) -> None:
    """Say what a kernel that is no single-site one must offer."""
    if not all(hasattr(kernel, name) for name in ("driver", "scan", "temperature")):
        raise TypeError(
            "The 'kernel' parameter must be a single-site kernel or have a method "
            f"transition_matrix(model). Got {kernel!r} instead."
        )


def _one_temperature(temperature: Any) -> float:
    """Check the temperature: a chain with one matrix has one."""
    from heeler.run.settings import as_temperature

    value = None if callable(temperature) else as_temperature(temperature, None)
    if not isinstance(value, float):
        raise ValueError(  # noqa: TRY004 - of the right type, but more than one
            "The 'temperature' parameter must be one number: a chain whose temperature changes has "
            f"no one transition matrix. Got {temperature!r} instead."
        )
    return value


def driver_name(kernel: Any) -> str:
    """Read which driver a kernel's name or object stands for.

    Parameters
    ----------
    kernel
        A name or a driver.

    Returns
    -------
    str
        One of the drivers that make a Markov chain.
    """
    name = kernel if isinstance(kernel, str) else getattr(kernel, "name", repr(kernel))
    name = {"gibbs": "random", "auto": "random", "icm": "greedy"}.get(name, name)
    if name == "herded":
        raise ValueError(
            "Herded Gibbs is deterministic and its weights belong to its state, so it has no "
            "transition matrix. heeler.lab.herded_kernel(model, sweeps=...) gives its empirical "
            "one."
        )
    if name not in DRIVERS:
        raise ValueError(
            f"The 'kernel' parameter must be 'gibbs', one of {', '.join(map(repr, DRIVERS))}, or a "
            f"kernel that is a Markov chain on the states. Got {kernel!r} instead."
        )
    return name


def _as_scan(model: Model, scan: Any) -> Any:
    """Read a scan; "auto" is what `heeler.sample` would take."""
    from heeler.scan import Chromatic, Systematic, as_scan

    if isinstance(scan, str) and scan == "auto":
        colours: Any = getattr(model, "colours", None)
        two = model.kind == "lattice" and colours is not None and colours() is not None
        return Chromatic() if two else Systematic()
    return as_scan(scan)


def as_stochastic(matrix: Any, name: str) -> csr_array:
    """Check a matrix whose rows are probabilities.

    Parameters
    ----------
    matrix
        The matrix: dense, sparse, nested lists.
    name
        What to call it in errors.

    Returns
    -------
    csr_array
        Compressed rows that sum to one.
    """
    result = as_square(matrix, name)
    rows = np.asarray(result.sum(axis=1)).ravel()
    if np.abs(rows - 1.0).max() <= _ROW_ERROR:
        if np.abs(rows - 1.0).max() > 1e-12:
            result = csr_array(result / rows[:, None])
        return result
    worst = int(np.abs(rows - 1.0).argmax())
    hint = ""
    if np.abs(np.asarray(result.sum(axis=0)).ravel() - 1.0).max() <= _ROW_ERROR:
        hint = " Its columns sum to 1: give the transpose (entry [k, l] is from k to l)."
    raise ValueError(
        f"The {name!r} parameter must have rows that sum to 1. Row {worst} sums to "
        f"{rows[worst]:.6g}.{hint}"
    )


def as_square(matrix: Any, name: str) -> csr_array:
    """Check a square matrix of numbers that are not negative.

    Parameters
    ----------
    matrix
        The matrix: dense, sparse, nested lists.
    name
        What to call it in errors.

    Returns
    -------
    csr_array
        Compressed rows without stored zeros.
    """
    try:
        array: Any = matrix if issparse(matrix) else np.asarray(matrix, np.float64)
        result: Any = csr_array(array, dtype=np.float64) if array.ndim == 2 else None
    except (TypeError, ValueError):
        result = None
    if result is None:
        raise ValueError(
            f"The {name!r} parameter must be a square matrix of numbers. "
            f"Got {type(matrix).__name__} instead."
        )
    if result.shape[0] != result.shape[1] or result.shape[0] == 0:
        raise ValueError(
            f"The {name!r} parameter must be a square matrix. Got shape {result.shape} instead."
        )
    result.sum_duplicates()
    result.eliminate_zeros()
    if not np.isfinite(result.data).all() or (result.data < 0).any():
        raise ValueError(
            f"The {name!r} parameter must hold finite numbers that are not negative. "
            f"Got {result.data[~(np.isfinite(result.data) & (result.data >= 0))][0]} among them."
        )
    return result
