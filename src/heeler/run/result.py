"""What a run gives back."""

import os
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heeler.model.base import Model


class Table(Mapping[Any, NDArray[np.float64]]):
    """One short array per variable: by name or index, or all in one padded array.

    Parameters
    ----------
    model
        Gives names.
    columns
        float64: one number per variable with value 1 (binary), or one per value.
    binary
        Whether columns hold value 1 only.
    complement
        Whether the missing column of a binary variable is 1 minus the other, or equal to it.
    """

    def __init__(
        self, model: Model, columns: NDArray[np.float64], binary: bool, complement: bool
    ) -> None:
        """Keep the columns; the padded array is made when asked for."""
        self._model = model
        self._columns = columns
        self._binary = binary
        self._complement = complement

    @cached_property
    def array(self) -> NDArray[np.float64]:
        """All variables' numbers, (n, most values), short rows filled up with NaN."""
        if self._binary:
            other = 1.0 - self._columns if self._complement else self._columns
            return np.stack([other, self._columns], axis=1)
        cards = np.asarray(self._model.cardinalities)
        out = np.full((len(cards), int(cards.max())), np.nan)
        out[np.arange(out.shape[1]) < cards[:, None]] = self._columns
        return out

    def __getitem__(self, variable: Any) -> NDArray[np.float64]:
        """Look a variable up by name or index; the array of all variables is not made for it."""
        i = self._model.index(variable)
        if self._binary:
            one = float(self._columns[i])
            return np.array([1.0 - one if self._complement else one, one])
        return self._columns[self._starts[i] : self._starts[i + 1]].copy()

    @cached_property
    def _starts(self) -> NDArray[np.int64]:
        """Where each variable's columns begin, (n + 1,)."""
        return np.concatenate([[0], np.cumsum(self._model.cardinalities, dtype=np.int64)])

    def __iter__(self) -> Iterator[str]:
        """Go through the names."""
        return iter(self._model.names)

    def __len__(self) -> int:
        """Count the variables."""
        return self._model.n_variables

    def __repr__(self) -> str:
        """Show the first few variables."""
        names = self._model.names
        lines = [
            f"{names[i]}: {np.array2string(self[i], precision=4)}"
            for i in range(min(len(self), 20))
        ]
        if len(self) > 20:
            lines.append(f"... and {len(self) - 20} more")
        return "\n".join(lines)


class Marginals(Table):
    """Estimated probabilities of every variable's values."""


class Errors(Table):
    """Standard errors of the marginals.

    Parameters
    ----------
    label
        What the errors cover, and what they do not.
    table
        The arguments of `Table`.
    """

    def __init__(self, label: str, *table: Any) -> None:
        """Keep the label beside the numbers."""
        super().__init__(*table)
        self.label = label

    @property
    def max(self) -> float:
        """The largest error, NaN where none is known."""
        known = self._columns[np.isfinite(self._columns)]
        return float(known.max()) if known.size else float("nan")

    def __repr__(self) -> str:
        """Show the largest error and what the errors cover."""
        return f"largest {self.max:.2g}; {self.label}"


class Pairs(Mapping[tuple[Any, Any], NDArray[np.float64]]):
    """Joint marginals of pairs of variables: ``pairs[u, v][a, b]`` is P(u = a, v = b).

    Parameters
    ----------
    model
        Gives names.
    pairs
        The counted pairs, (pairs, 2).
    counts
        Counts of all tables, one after the other.
    """

    def __init__(self, model: Model, pairs: NDArray[np.int64], counts: NDArray[np.int64]) -> None:
        """Index the tables."""
        self._model = model
        self._counts = counts
        self._place: dict[tuple[int, int], int] = {}
        if not len(pairs):
            return
        cells = np.asarray(model.cardinalities)[pairs].astype(np.int64).prod(axis=1)
        starts = np.cumsum(cells) - cells
        self._place = {(int(u), int(v)): int(k) for (u, v), k in zip(pairs, starts, strict=True)}

    def __getitem__(self, pair: tuple[Any, Any]) -> NDArray[np.float64]:
        """Look a pair up, in either order."""
        try:
            u, v = (self._model.index(variable) for variable in pair)
        except TypeError:
            raise KeyError(f"pairs are looked up with two variables, not {pair!r}") from None
        if (u, v) in self._place:
            return self._table(u, v)
        if (v, u) in self._place:
            return self._table(v, u).T
        raise KeyError(
            f"the pair {pair!r} was not counted: ask for it with keep={{'pairs': [...]}}"
        )

    def _table(self, u: int, v: int) -> NDArray[np.float64]:
        """Normalise one table."""
        a, b = int(self._model.cardinalities[u]), int(self._model.cardinalities[v])
        start = self._place[u, v]
        table = self._counts[start : start + a * b].reshape(a, b)
        return table / max(table.sum(), 1)

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        """Go through the pairs of indices."""
        return iter(self._place)

    def __len__(self) -> int:
        """Count the pairs."""
        return len(self._place)


class Best:
    """The best state that a run has seen.

    Parameters
    ----------
    model
        The model.
    state
        Its values, (n,).
    """

    def __init__(self, model: Model, state: NDArray[Any]) -> None:
        """Keep the state."""
        self._model = model
        self.state = state

    @cached_property
    def log_score(self) -> float:
        """The log score of the state, computed afresh in double precision."""
        return float(self._model.log_score(self.state))

    @property
    def values(self) -> dict[str, str]:
        """The state by names."""
        names, values = self._model.names, self._model.value_names
        return {names[i]: values[i][int(v)] for i, v in enumerate(self.state)}

    def __repr__(self) -> str:
        """Show the score and the beginning of the state."""
        state = np.array2string(self.state, threshold=20)
        return f"Best(log_score={self.log_score:.6g}, state={state})"


class Average:
    """The average of a user's function of the state.

    Parameters
    ----------
    mean, error
        The average over the kept states and its standard error.
    """

    def __init__(self, mean: NDArray[np.float64], error: NDArray[np.float64]) -> None:
        """Keep both, as numbers where the function gives one number."""
        self.mean: Any = float(mean[0]) if mean.size == 1 else mean
        self.error: Any = float(error[0]) if error.size == 1 else error

    def __repr__(self) -> str:
        """Show mean and error."""
        return f"{self.mean} +- {self.error}"


class Run:
    """The result of `heeler.sample`.

    Parameters
    ----------
    model
        The model, evidence included.
    parts
        The attributes, as `heeler.run.sample` collects them.
    session
        The running chains, for `resume` and `save`.
    """

    model: Model
    marginals: Marginals
    errors: Errors
    pairs: Pairs
    best: Best
    joint: NDArray[np.float64] | None
    functions: dict[str, Average]
    log_scores: NDArray[np.float64]
    log_score_passes: NDArray[np.int64]
    settings: dict[str, Any]
    stats: dict[str, Any]

    def __init__(self, model: Model, parts: dict[str, Any], session: Any) -> None:
        """Keep the collected parts."""
        self.model = model
        self.__dict__.update(parts)
        self._session = session
        self._passes = session.engine.passes if session is not None else 0

    @cached_property
    def samples(self) -> NDArray[Any]:
        """The kept states, (chains, draws, n); asked for with ``keep="samples"``."""
        kept = self.__dict__.get("_kept")
        if kept is None:
            raise AttributeError('no states were kept: call heeler.sample(..., keep="samples")')
        if not kept:
            return np.empty((self.settings["chains"], 0, self.model.n_variables), np.uint8)
        return np.stack(kept, axis=1)

    def __repr__(self) -> str:
        """Say what was run and how well."""
        s = self.stats
        scan = f", {self.settings['scan']} scan" if self.settings["scan"] else ""
        return (
            f"Run({self.model!r}: {self.settings['driver']}{scan}, "
            f"{s['sweeps']} sweeps x {self.settings['chains']} chains in {s['seconds']:.3g} s, "
            f"{s['updates_per_second']:.3g} updates/s; errors: {self.errors!r})"
        )

    def resume(
        self,
        sweeps: int | None = None,
        seconds: float | None = None,
        error: float | None = None,
        progress: bool | None = None,
        checkpoint: Any = None,
    ) -> "Run":
        """Go on, to the very bits of a run that was not interrupted.

        Parameters
        ----------
        sweeps
            Additional passes.
        seconds
            Additional seconds.
        error
            Target for the largest standard error.
        progress, checkpoint
            As in `heeler.sample`.

        Returns
        -------
        Run
            The longer run; this one keeps its numbers.
        """
        from heeler.run.sample import resume

        return resume(self, sweeps, seconds, error, progress, checkpoint)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the run, with its model and everything needed to go on, to one file.

        Parameters
        ----------
        path
            The file; `heeler.load` reads it.
        """
        from heeler.run.saving import save

        save(self, path)

    def to_arviz(self) -> Any:
        """Hand the kept states to ArviZ.

        Returns
        -------
        InferenceData or DataTree
            Whatever the installed ArviZ makes.
        """
        from heeler.run.arviz import to_arviz

        return to_arviz(self)
