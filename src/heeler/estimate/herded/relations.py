"""Whether numbers are rationally independent: integer relations, found or excluded by lattices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor, gcd

# Exact lattice reduction takes about a second at this many numbers.
MOST_NUMBERS = 12
# Random numbers have a relation by accident where there are many small ones: a relation counts only
# where this many, or fewer, are expected to be as good.
ACCIDENTS = 1e-3
# Of the search through short vectors, some microseconds each.
MOST_STEPS = 100_000


@dataclass(frozen=True)
class Independence:
    """Whether there is a relation a_0 + a_1 x_1 + ... + a_N x_N = 0 of small integers.

    Attributes
    ----------
    independent
        True: no relation with coefficients up to `denominator` holds to `tolerance`, which is
        proved. False: `relation` does. None: the tolerance is too coarse to tell, or the numbers
        are too many.
    relation
        The integers (a_0, ..., a_N), a_0 belonging to the number 1; None where none was found.
        Where `independent` is None it may hold by accident.
    denominator
        The largest coefficient, either sign, that was asked about.
    tolerance
        How far from zero a sum counts as zero.
    reason
        Why the answer is None.
    """

    independent: bool | None
    relation: tuple[int, ...] | None
    denominator: int
    tolerance: float
    reason: str | None = None

    def __repr__(self) -> str:
        """Say it in words."""
        reach = f"coefficients up to {self.denominator}, tolerance {self.tolerance:g}"
        if self.independent:
            return f"rationally independent ({reach})"
        if self.independent is None:
            return f"not decided ({reach}): {self.reason}"
        return f"rationally dependent ({reach}): relation {self.relation}"


def rational_independence(
    numbers: Sequence[float], denominator: int = 64, tolerance: float = 1e-12
) -> Independence:
    """Decide whether 1 and some numbers are rationally independent, as far as that can be told.

    Numbers of a machine are all rational, so the question is put as: does any relation with
    integer coefficients of at most `denominator` hold to `tolerance`? A lattice is reduced
    exactly; its shortest possible vector excludes relations, its shortest one found shows them.

    Parameters
    ----------
    numbers
        x_1, ..., x_N.
    denominator
        The largest coefficient.
    tolerance
        How far from zero a sum counts as zero.

    Returns
    -------
    Independence
        The answer, with the relation where there is one.
    """
    exact = [Fraction(1), *map(Fraction, numbers)]
    short = _obvious(exact, denominator, Fraction(tolerance))
    if short is not None:
        return Independence(False, short, denominator, tolerance)
    if len(numbers) > MOST_NUMBERS:
        reason = f"more than {MOST_NUMBERS} numbers; none alone and no two are related by +-1"
        return Independence(None, None, denominator, tolerance, reason)
    # A relation a is the vector (a, scale * sum), up to the rounding of the last coordinate.
    scale = max(1, int(denominator / Fraction(tolerance)))
    count = len(exact)
    rows = [[int(i == j) for j in range(count)] + [round(scale * exact[i])] for i in range(count)]
    last = denominator + Fraction(count * denominator, 2)
    longest = count * denominator**2 + last**2
    if min(_reduce(rows)[2]) > longest:  # at most the square of the shortest vector
        return Independence(True, None, denominator, tolerance)
    found = _shortest_relation(rows, longest, denominator, exact, tolerance)
    if isinstance(found, str):
        return Independence(None, None, denominator, tolerance, found)
    if found is None:
        return Independence(True, None, denominator, tolerance)
    if (2 * max(map(abs, found)) + 1) ** len(numbers) * 2 * tolerance <= ACCIDENTS:
        return Independence(False, _signed(found), denominator, tolerance)
    reason = "a relation holds that may be an accident: the tolerance is too coarse"
    return Independence(None, _signed(found), denominator, tolerance, reason)


def _shortest_relation(
    rows: list[list[int]],
    longest: Fraction,
    denominator: int,
    exact: list[Fraction],
    tolerance: float,
) -> list[int] | str | None:
    """List all short vectors of the lattice (Fincke, Pohst); the relation of least coefficients.

    Gives None where there is no relation, and a text where there are too many vectors.
    """
    basis, mu, lengths = _reduce(rows)
    count = len(basis)
    slopes = [[float(m) for m in row] for row in mu]
    sizes = [float(length) for length in lengths]
    # Rounding of the floats above may lose no vector.
    bound = float(longest) * (1 + 1e-9)
    best: list[int] | None = None
    steps = 0
    pile: list[tuple[int, float, list[int]]] = [(count - 1, bound, [0] * count)]
    while pile:
        level, room, chosen = pile.pop()
        if level < 0:
            relation = [
                sum(c * row[k] for c, row in zip(chosen, basis, strict=True)) for k in range(count)
            ]
            most = max(map(abs, relation))
            better = best is None or most < max(map(abs, best))
            if most <= denominator and better and _small(relation, exact, tolerance):
                best = relation
            continue
        centre = -sum(chosen[j] * slopes[j][level] for j in range(level + 1, count))
        reach = (max(room, 0.0) / sizes[level]) ** 0.5 + 1e-9
        for number in range(ceil(centre - reach), floor(centre + reach) + 1):
            steps += 1
            if steps > MOST_STEPS:
                return "the tolerance is too coarse for so many numbers"
            rest = room - (number - centre) ** 2 * sizes[level]
            pile.append((level - 1, rest, [*chosen[:level], number, *chosen[level + 1 :]]))
    return best


def _obvious(
    exact: list[Fraction], denominator: int, tolerance: Fraction
) -> tuple[int, ...] | None:
    """Find a number that is a fraction, or two with x_i = x_j or x_i + x_j = 1; for any N."""
    zeros = [0] * len(exact)
    for place, number in enumerate(exact[1:], 1):
        near = number.limit_denominator(denominator)
        fits = abs(near.numerator) <= denominator
        if fits and abs(near.denominator * number - near.numerator) <= tolerance:
            zeros[0], zeros[place] = -near.numerator, near.denominator
            return _signed(zeros)
    folded = sorted((min(x, 1 - x), place) for place, x in enumerate(exact[1:], 1))
    for (low, i), (high, j) in pairwise(folded):
        if high - low <= tolerance:
            same = (exact[i] <= Fraction(1, 2)) == (exact[j] <= Fraction(1, 2))
            zeros[0], zeros[i], zeros[j] = (0, 1, -1) if same else (-1, 1, 1)
            return _signed(zeros)
    return None


def _small(relation: Sequence[int], exact: list[Fraction], tolerance: float) -> bool:
    """Say whether a relation holds to the tolerance, exactly."""
    total = sum((a * x for a, x in zip(relation, exact, strict=True)), Fraction(0))
    return any(relation) and abs(total) <= Fraction(tolerance)


def _signed(relation: Sequence[int]) -> tuple[int, ...]:
    """Make a relation primitive, its first coefficient that is not zero positive."""
    common = gcd(*relation)
    first = next(a for a in relation if a)
    sign = common if first > 0 else -common
    return tuple(a // sign for a in relation)


def _reduce(
    rows: list[list[int]],
) -> tuple[list[list[int]], list[list[Fraction]], list[Fraction]]:
    """Reduce a lattice basis (Lenstra, Lenstra, Lovasz) in exact arithmetic.

    Returns the basis, its coefficients mu_kj in the orthogonalised vectors, and their squared
    lengths.
    """
    basis = [row[:] for row in rows]
    count = len(basis)
    mu = [[Fraction(0)] * count for _ in range(count)]
    lengths = [Fraction(0)] * count

    def orthogonalise(k: int) -> None:
        # |b_k*|^2 and mu_kj from the Gram matrix alone.
        parts: list[Fraction] = []
        for j in range(k):
            dot = Fraction(sum(a * b for a, b in zip(basis[k], basis[j], strict=True)))
            part = dot - sum((mu[j][i] * parts[i] for i in range(j)), Fraction(0))
            parts.append(part)
            mu[k][j] = part / lengths[j]
        own = Fraction(sum(a * a for a in basis[k]))
        lengths[k] = own - sum((mu[k][j] * parts[j] for j in range(k)), Fraction(0))

    orthogonalise(0)
    k = 1
    while k < count:
        orthogonalise(k)
        for j in range(k - 1, -1, -1):
            times = round(mu[k][j])
            if times:
                basis[k] = [a - times * b for a, b in zip(basis[k], basis[j], strict=True)]
                for i in range(j):
                    mu[k][i] -= times * mu[j][i]
                mu[k][j] -= times
        if lengths[k] >= (Fraction(3, 4) - mu[k][k - 1] ** 2) * lengths[k - 1]:
            k += 1
        else:
            basis[k - 1], basis[k] = basis[k], basis[k - 1]
            orthogonalise(k - 1)
            k = max(k - 1, 1)
    return basis, mu, lengths
