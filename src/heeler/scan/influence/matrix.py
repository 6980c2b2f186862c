"""The influence matrix: SciPy's compressed rows, with what is known about the bounds."""

from math import inf
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from heeler.model.base import Model
from heeler.model.check import frozen
from heeler.scan.influence.norms import radius_bounds, two_norm_bounds

# A text shows norms that need iterations only where they cost a few milliseconds.
SMALL = 200_000


class Influence(csr_array):
    """Bounds on how much each variable acts on each other one; made by `heeler.influence`.

    Entry [i, j] is at least the largest total variation distance between the conditionals of
    variable i in two contexts that differ at variable j only; the diagonal is zero, and so are the
    rows and columns of clamped variables. It is a `scipy.sparse.csr_array` with sorted rows and
    can be used wherever one can; results of its arithmetic have no method any more.

    Attributes
    ----------
    method : str or None
        The bound that was used; several are joined by ``" and "``. None for a matrix that was
        computed from others.
    methods : dict
        How many rows each bound gave.
    extension : str or None
        How conditionals are extended to contexts that the model makes impossible; None where it
        makes none impossible.
    temperature : float
        The temperature that all log weights were divided by.
    model : Model or None
        The model; None for a matrix of the user.
    """

    method: str | None = None
    extension: str | None = None
    temperature: float = 1.0
    model: Model | None = None
    _row_methods: tuple[tuple[str, ...], NDArray[np.uint8] | None] = ((), None)
    _transposed: "Influence | None" = None
    _norms: dict[float, float] | None = None
    _flat: tuple[NDArray[np.int64], NDArray[np.int32]] | None = None

    @classmethod
    def from_rows(
        cls,
        pointer: NDArray[np.integer],
        index: NDArray[np.integer],
        value: NDArray[np.float64],
        **known: Any,
    ) -> Self:
        """Make the matrix from its rows, which are trusted, and what is known about it.

        Parameters
        ----------
        pointer, index, value
            Compressed rows, sorted.
        **known
            The attributes.

        Returns
        -------
        Influence
            The matrix; its arrays are read-only.
        """
        n = len(pointer) - 1
        result: Any = cls((value, index, pointer), shape=(n, n))
        result.has_sorted_indices = True
        result.has_canonical_format = True
        for array in (result.data, result.indices, result.indptr):
            array.flags.writeable = False
        for name, thing in known.items():
            setattr(result, name, thing)
        return result

    @property
    def n_variables(self) -> int:
        """The number of variables, clamped ones included."""
        return len(self.indptr) - 1

    @property
    def free(self) -> NDArray[np.int64]:
        """The variables that are not clamped."""
        return np.arange(self.n_variables) if self.model is None else self.model.free

    @property
    def model_digest(self) -> str | None:
        """The digest of the model that the bounds belong to; None for a matrix of the user."""
        return None if self.model is None else self.model.digest

    @property
    def evidence(self) -> NDArray[np.int32] | None:
        """The evidence of the model: int32 (n,) with -1 for free; None where nothing is clamped."""
        return None if self.model is None else self.model.evidence

    @property
    def methods(self) -> dict[str, int]:
        """How many rows each bound gave."""
        names, rows = self._row_methods
        if rows is None:
            return {} if self.method is None else {self.method: self.n_variables}
        counts = np.bincount(rows, minlength=len(names)).tolist()
        return {name: count for name, count in zip(names, counts, strict=True) if count}

    def method_of(self, variable: Any) -> str | None:
        """Say which bound gave a row.

        Parameters
        ----------
        variable
            The variable's index, or its name where the matrix belongs to a model.

        Returns
        -------
        str or None
            The method.
        """
        place = int(variable) if self.model is None else self.model.index(variable)
        names, rows = self._row_methods
        return self.method if rows is None else names[rows[place]]

    def flat(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
        """Give the rows as the arrays that compiled code takes.

        Returns
        -------
        pointer, index, value : ndarray
            int64 (n + 1,), int32 and float64 (entries,).
        """
        if self._flat is None:
            pointer: Any = self.indptr
            index: Any = self.indices
            # SciPy gives both arrays of indices one type. All are read-only: kernels are compiled
            # again for arrays that can be written to.
            self._flat = (
                frozen(pointer.astype(np.int64, copy=False)),
                frozen(index.astype(np.int32, copy=False)),
            )
        value: Any = self.data
        return *self._flat, value

    def transposed(self) -> "Influence":
        """Give the columns as rows: row j lists the variables that j acts on. Computed once."""
        if self._transposed is None:
            columns: Any = self.tocsc()
            known = {"model": self.model, "temperature": self.temperature}
            self._transposed = Influence.from_rows(
                columns.indptr, columns.indices, columns.data, **known
            )
        return self._transposed

    def norms(self) -> dict[float, float]:
        """Bound the matrix norms from above; where one is below 1 the bounds of scans go to zero.

        Norms 1 and infinity are the largest sums of a column and a row. The 2-norm is a proved
        upper bound, from the power iteration with Collatz and Wielandt's inequality (see
        `two_norm_bounds`). All are rounded up.

        Returns
        -------
        dict
            Keys 1, 2 and infinity.
        """
        if self._norms is None:
            sums = self._sums()
            two = min(self.two_norm_bounds()[1], float(np.sqrt(sums[1] * sums[inf])))
            self._norms = {1: sums[1], 2: two, inf: sums[inf]}
        return dict(self._norms)

    def two_norm_bounds(self) -> tuple[float, float]:
        """Enclose the 2-norm.

        Returns
        -------
        low, high : float
            A lower bound (the Rayleigh quotient, up to rounding) and a proved upper bound.
        """
        return two_norm_bounds(self, self.transposed())

    def radius_bounds(self) -> tuple[float, float]:
        """Enclose the spectral radius, which no norm is below.

        Where it is below 1, some weighted maximum norm is, and the bounds of scans go to zero.

        Returns
        -------
        low, high : float
            A lower and a proved upper bound.
        """
        return radius_bounds(self)

    @property
    def contracts(self) -> bool:
        """Whether a norm is proved to be below 1, so that the bounds of scans go to zero."""
        sums = self._sums()
        if min(sums.values()) < 1:
            return True
        return self.norms()[2] < 1 or self.radius_bounds()[1] < 1

    def _sums(self) -> dict[float, float]:
        """Compute the norms that are sums, rounded up."""
        if self.nnz == 0:
            return {1: 0.0, inf: 0.0}
        columns = np.bincount(self.indices, self.data, minlength=self.n_variables)
        up = 1.0 + self.n_variables * np.finfo(float).eps
        return {1: float(columns.max() * up), inf: float(self.sum(axis=1).max() * up)}

    def __repr__(self) -> str:
        """Show sizes, method and norms, and whether the bounds of scans go to zero."""
        if self.method is None or self.ndim != 2:
            return super().__repr__()
        norms = self._sums() if self.nnz > SMALL and self._norms is None else self.norms()
        names = {1: "1", 2: "2", inf: "inf"}
        shown = ", ".join(f"{names[order]}: {norm:.4g}" for order, norm in sorted(norms.items()))
        if min(norms.values()) < 1:
            verdict = "scan bounds go to zero"
        elif self.nnz <= SMALL and self.contracts:
            verdict = "spectral radius < 1: scan bounds go to zero"
        else:
            verdict = "no norm < 1: scan bounds may not go to zero"
        size = f"{self.n_variables} variables, {self.nnz} entries"
        return f"Influence({size}, method={self.method!r}, norms {shown}: {verdict})"

    __str__ = __repr__
