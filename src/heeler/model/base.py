"""What every model has, whatever its representation."""

import copy
import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from heeler.model.check import MAX_VARIABLES, frozen, shown
from heeler.model.names import ValueNames, as_names, as_value_names, resolve

if TYPE_CHECKING:
    from heeler.model.factor_graph import FactorGraph

# Batches are scored in pieces of about this many numbers, to bound the memory.
PIECE = 1 << 21


class Model:
    """An unnormalised distribution over variables with finitely many values; immutable.

    A subclass says how a state is scored, what the weights of one variable's values are given the
    rest, and which variables are neighbours. Evidence restricts the distribution: a state that
    contradicts it has log score -inf, and the conditional of a clamped variable is certain. The
    blankets are those of the structure: they contain clamped variables too.

    Parameters
    ----------
    cardinalities
        Numbers of values, a read-only int32 array of shape (n,).
    names
        Names of the variables; None gives ``"0"``, ``"1"``, ...
    value_names
        Names of the values, for all variables alike or one sequence per variable.
    arrays
        The attributes of the representation.
    """

    kind: ClassVar[str] = "model"
    cardinalities: NDArray[np.int32]
    evidence: NDArray[np.int32] | None
    names: Sequence[str]
    value_names: ValueNames

    def __init__(
        self,
        cardinalities: NDArray[np.int32],
        names: Sequence[str] | None = None,
        value_names: Sequence[Any] | None = None,
        **arrays: Any,
    ) -> None:
        """Fill the attributes, which cannot be set afterwards."""
        self.__dict__.update(
            arrays,
            cardinalities=cardinalities,
            names=as_names(names, len(cardinalities)),
            value_names=as_value_names(value_names, cardinalities),
            evidence=None,
        )

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse: models are immutable."""
        raise AttributeError(f"a model is immutable: {name!r} cannot be set")

    def __delattr__(self, name: str) -> None:
        """Refuse: models are immutable."""
        raise AttributeError(f"a model is immutable: {name!r} cannot be deleted")

    def __repr__(self) -> str:
        """Show the kind and the sizes in one line."""
        size = f"{self.n_variables} variable{'' if self.n_variables == 1 else 's'}"
        clamped = self.n_variables - len(self.free) if self.evidence is not None else 0
        rest = f", {clamped} clamped" if clamped else ""
        return f"{type(self).__name__}({', '.join([size, *self._sizes()])}{rest})"

    @property
    def n_variables(self) -> int:
        """The number of variables, clamped ones included."""
        return len(self.cardinalities)

    @property
    def free(self) -> NDArray[np.int64]:
        """The indices of the variables that are not clamped."""
        if self.evidence is None:
            return np.arange(self.n_variables)
        return np.flatnonzero(self.evidence < 0)

    @property
    def digest(self) -> str:
        """The sha256 of kind, arrays and evidence, in hexadecimal; names do not count."""
        return self._cached("_digest", lambda: _digest(self.kind, self._parts(), self.evidence))

    @property
    def has_zeros(self) -> bool:
        """Whether the representation gives weight zero to anything, evidence aside."""
        return False

    def index(self, variable: Any) -> int:
        """Find the index of a variable.

        Parameters
        ----------
        variable
            Its name or its index.

        Returns
        -------
        int
            The index, from 0.
        """
        return resolve(variable, self.names, self._places(), "variable")

    def value_index(self, variable: Any, value: Any) -> int:
        """Find the index of a value of a variable.

        Parameters
        ----------
        variable
            The variable's name or index.
        value
            The value's name or index.

        Returns
        -------
        int
            The index of the value, from 0.
        """
        place = self.index(variable)
        what = f"value of variable {self.names[place]!r}"
        return resolve(value, self.value_names[place], None, what)

    def given(self, evidence: Mapping[Any, Any] | NDArray[np.integer]) -> Self:
        """Clamp more variables.

        Parameters
        ----------
        evidence
            Variable (name or index) -> value (name or index); or an integer array of shape (n,)
            with -1 for the variables that stay as they are.

        Returns
        -------
        Model
            The same model with this evidence added to what was clamped before.
        """
        if isinstance(evidence, np.ndarray):
            added = self._evidence_array(evidence)
        elif isinstance(evidence, Mapping):
            added = self._evidence_mapping(evidence)
        else:
            raise TypeError(
                "The 'evidence' parameter must be a mapping from variables to values. "
                f"Got {shown(evidence)} instead."
            )
        if self.evidence is not None:
            clash = np.flatnonzero((added >= 0) & (self.evidence >= 0) & (added != self.evidence))
            if clash.size:
                place = int(clash[0])
                self._contradiction(place, int(self.evidence[place]), int(added[place]))
            added = np.where(added >= 0, added, self.evidence)
        return self._with_evidence(added)

    def log_score(self, state: ArrayLike) -> Any:
        """Take the natural logarithm of f(x), the unnormalised probability.

        Parameters
        ----------
        state
            Indices of values, shape (n,) or (m, n).

        Returns
        -------
        float or ndarray
            One number, or float64 of shape (m,); -inf for an impossible state.
        """
        states, single = self._checked(state)
        rows = max(1, PIECE // self._score_size())
        if len(states) <= rows:
            score = self._log_scores(states)
        else:
            parts = range(0, len(states), rows)
            score = np.concatenate([self._log_scores(states[k : k + rows]) for k in parts])
        if self.evidence is not None:
            clamped = np.flatnonzero(self.evidence >= 0)
            wrong = (states[:, clamped] != self.evidence[clamped]).any(axis=1)
            score = np.where(wrong, -np.inf, score)
        return float(score[0]) if single else score

    def conditional(self, i: Any, state: ArrayLike) -> NDArray[np.float64]:
        """Compute the probabilities of one variable's values given all the others.

        Parameters
        ----------
        i
            The variable's name or index.
        state
            Indices of values, shape (n,) or (m, n); the variable's own value does not matter.

        Returns
        -------
        ndarray
            float64 of shape (K,) or (m, K).
        """
        variable = self.index(i)
        states, single = self._checked(state)
        if self.evidence is not None and self.evidence[variable] >= 0:
            result = np.zeros((len(states), int(self.cardinalities[variable])))
            result[:, self.evidence[variable]] = 1.0
            return result[0] if single else result
        log_weights = self._log_weights(variable, states)
        top = log_weights.max(axis=1, keepdims=True)
        if np.isneginf(top).any():
            raise ValueError(
                f"The 'state' parameter must leave a value possible for variable "
                f"{self.names[variable]!r}. Got a state in which the others exclude all its values."
            )
        weights = np.exp(log_weights - top)
        result = weights / weights.sum(axis=1, keepdims=True)
        return result[0] if single else result

    def blanket(self, i: Any) -> NDArray[np.int32]:
        """List the neighbours of a variable: those that its conditional depends on.

        Parameters
        ----------
        i
            The variable's name or index.

        Returns
        -------
        ndarray
            Sorted indices, int32.
        """
        return self._blanket(self.index(i))

    def adjacency(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Give all Markov blankets in compressed rows.

        Returns
        -------
        pointer : ndarray
            int64 of shape (n + 1,): where each variable's row begins.
        index : ndarray
            int32: the neighbours, sorted within each row.
        """
        raise NotImplementedError(f"{type(self).__name__} must define adjacency")

    def to_factor_graph(self) -> "FactorGraph":
        """Give the same distribution, evidence kept, as a factor graph."""
        raise NotImplementedError(f"{type(self).__name__} must define to_factor_graph")

    # What a subclass says.

    def _sizes(self) -> list[str]:
        """List further sizes for the representation's one-line text."""
        return []

    def _parts(self) -> dict[str, Any]:
        """Give the arrays and numbers that define the distribution, by name."""
        raise NotImplementedError(f"{type(self).__name__} must define _parts")

    def _score_size(self) -> int:
        """Count the numbers needed to score one state; at least 1."""
        return self.n_variables

    def _log_scores(self, states: NDArray) -> NDArray[np.float64]:
        """Score states of shape (m, n), evidence aside."""
        raise NotImplementedError(f"{type(self).__name__} must define _log_scores")

    def _log_weights(self, variable: int, states: NDArray) -> NDArray[np.float64]:
        """Give log weights (m, K) of one variable's values, evidence aside."""
        raise NotImplementedError(f"{type(self).__name__} must define _log_weights")

    def _blanket(self, variable: int) -> NDArray[np.int32]:
        """List the neighbours of a variable, sorted."""
        pointer, index = self._cached("_adjacency", self.adjacency)
        return index[pointer[variable] : pointer[variable + 1]]

    # What all share.

    def _cached(self, name: str, make: Callable[[], Any]) -> Any:
        """Compute a derived thing once."""
        known = self.__dict__
        if name not in known:
            known[name] = make()
        return known[name]

    def _places(self) -> dict[str, int] | None:
        """Map names to indices; None where the names are numbers."""
        if not isinstance(self.names, tuple):
            return None
        return self._cached("_place_of", lambda: {name: k for k, name in enumerate(self.names)})

    def _with_evidence(self, evidence: NDArray[np.int32] | None) -> Self:
        """Copy the model, sharing all arrays, with other evidence."""
        other = copy.copy(self)
        other.__dict__.pop("_digest", None)
        if evidence is not None and not (evidence >= 0).any():
            evidence = None
        other.__dict__["evidence"] = None if evidence is None else frozen(evidence)
        return other

    def _evidence_array(self, evidence: NDArray[np.integer]) -> NDArray[np.int32]:
        """Check evidence that came as an array."""
        if evidence.shape != (self.n_variables,) or evidence.dtype.kind not in "iu":
            raise ValueError(
                f"The 'evidence' parameter must be an integer array of shape "
                f"({self.n_variables},). Got {evidence.dtype} of shape {evidence.shape} instead."
            )
        wrong = np.flatnonzero((evidence < -1) | (evidence >= self.cardinalities))
        if wrong.size:
            place = int(wrong[0])
            raise ValueError(
                f"The 'evidence' parameter must hold -1 or a value. Got {evidence[place]} for "
                f"variable {self.names[place]!r}, which has {self.cardinalities[place]} values."
            )
        return evidence.astype(np.int32)

    def _evidence_mapping(self, evidence: Mapping[Any, Any]) -> NDArray[np.int32]:
        """Check evidence that came as a mapping."""
        array = np.full(self.n_variables, -1, np.int32)
        for variable, value in evidence.items():
            place = self.index(variable)
            number = self.value_index(place, value)
            if array[place] >= 0 and array[place] != number:
                self._contradiction(place, int(array[place]), number)
            array[place] = number
        return array

    def _contradiction(self, variable: int, old: int, new: int) -> None:
        """Refuse to clamp a variable to a second value."""
        values = self.value_names[variable]
        raise ValueError(
            f"The evidence contradicts itself: variable {self.names[variable]!r} is clamped to "
            f"{values[old]!r} and cannot be {values[new]!r} as well."
        )

    def _checked(self, state: ArrayLike) -> tuple[NDArray, bool]:
        """Check a state or a batch; give an integer array (m, n) and whether it was one state."""
        array = np.asarray(state)
        if array.dtype.kind == "b":
            array = array.astype(np.uint8)
        if array.dtype.kind not in "iu":
            raise TypeError(
                "The 'state' parameter must hold indices of values (integers). "
                f"Got dtype {array.dtype} instead."
            )
        if array.ndim not in (1, 2) or array.shape[-1] != self.n_variables:
            raise ValueError(
                f"The 'state' parameter must have shape ({self.n_variables},) or "
                f"(m, {self.n_variables}). Got {array.shape} instead."
            )
        if array.dtype == np.uint64:
            # Mixed with int64 it would turn into float64; what does not fit is refused below.
            array = np.minimum(array, np.uint64(MAX_VARIABLES)).astype(np.int64)
        single = array.ndim == 1
        states = array.reshape(-1, self.n_variables)
        bad = states >= self.cardinalities
        if array.dtype.kind == "i":
            bad |= states < 0
        if bad.any():
            row, place = (int(k) for k in np.argwhere(bad)[0])
            raise ValueError(
                f"The 'state' parameter must hold indices of values. Got {states[row, place]} for "
                f"variable {self.names[place]!r}, which has {self.cardinalities[place]} values."
            )
        return states, single


def _digest(kind: str, parts: dict[str, Any], evidence: NDArray[np.int32] | None) -> str:
    """Hash a model's arrays in one canonical form: little-endian, C order, no negative zero."""
    digest = hashlib.sha256(f"heeler model 1 {kind}\n".encode())
    # An empty array stands for no evidence: evidence always has n >= 1 entries.
    clamped = np.empty(0, np.int32) if evidence is None else evidence
    for name, value in {**parts, "evidence": clamped}.items():
        array = np.asarray(value)
        if array.dtype.kind == "f":
            array = array + 0.0
        array = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
        digest.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
        digest.update(array.data)
    return digest.hexdigest()
