"""Where a lattice's sites stand in the arrays of its kernels: numpy only, done once."""

import math
from functools import cache

import numpy as np

from heeler.compiled.lattice_plan import HALO, Plan, Score, aligned
from heeler.compiled.quantise import fill_binary_table


class Layout:
    """The rows of a lattice for a scan, and the ways between them and the sites' own order.

    Parameters
    ----------
    shape : tuple of int
        Sites along each axis; the last one varies fastest.
    periodic : tuple of bool
        Which axes close on themselves.
    diagonal : bool
        Whether diagonal neighbours count (two axes only).
    chromatic : bool
        Whether rows are of one colour.
    block : int
        Sites of one vector of weights; rows are padded to its multiples.
    """

    def __init__(self, shape, periodic, diagonal, chromatic, block):
        self.shape = tuple(shape)
        self.periodic = tuple(periodic)
        self.diagonal = diagonal
        self.chromatic = chromatic
        self.block = block
        self.width = self.shape[-1]
        self.lines = math.prod(self.shape[:-1])
        self.sites = self.lines * self.width
        # Every site belongs to a class of columns of its line: all of them, or every second one.
        self.classes = 2 if chromatic else 1
        coordinates = np.indices(self.shape[:-1]).reshape(len(self.shape) - 1, self.lines)
        self._coordinates = coordinates
        parity = coordinates.sum(0) % 2
        if not chromatic:
            self.first = np.zeros((1, self.lines), np.int64)
        elif diagonal:
            self.first = np.repeat(np.arange(2)[:, None], self.lines, 1)
        else:
            self.first = (parity + np.arange(2)[:, None]) % 2
        self.length = (self.width - self.first + self.classes - 1) // self.classes
        self.padded = -(-int(self.length.max()) // block) * block
        self.stride = -(-self.padded // HALO) * HALO + HALO
        self.rows = self.classes * self.lines
        self.words = -(-int(self.length.max()) // 64)
        self.state_size = HALO + (self.rows + 1) * self.stride + HALO
        self.flat_size = self.rows * self.padded
        self.order = self._order()

    @property
    def fused(self):
        """Whether every bond has one end in the last phase: two colours."""
        return self.chromatic and not self.diagonal

    def _order(self):
        """Return (line, class) of every row in the order of updates, and the phases' ends."""
        lines = np.arange(self.lines)
        if not self.chromatic:
            return lines, np.zeros(self.lines, np.int64), [0, self.lines]
        if not self.diagonal:
            return (
                np.tile(lines, 2),
                np.repeat(np.arange(2), self.lines),
                [0, self.lines, 2 * self.lines],
            )
        kinds = [(parity, column) for parity in range(2) for column in range(2)]
        picked = [lines[lines % 2 == parity] for parity, _ in kinds]
        ends = np.cumsum([0] + [len(p) for p in picked])
        classes = np.concatenate(
            [np.full(len(p), c) for p, (_, c) in zip(picked, kinds, strict=True)]
        )
        return np.concatenate(picked), classes, list(ends)

    def _row_start(self, line, kind):
        return HALO + (kind * self.lines + line) * self.stride

    @property
    def _nowhere(self):
        """The row of zeros that stands for absent neighbours."""
        return HALO + self.rows * self.stride

    def _neighbour_line(self, line, axis, step):
        """Return the numbers of the lines one step away, or -1."""
        coordinates = self._coordinates[:, line].copy()
        moved = coordinates[axis] + step
        size = self.shape[axis]
        inside = (moved >= 0) & (moved < size)
        coordinates[axis] = moved % size
        number = np.ravel_multi_index(tuple(coordinates), self.shape[:-1])
        return np.where(inside | self.periodic[axis], number, -1)

    def _start_of(self, line, kind, shift):
        start = self._row_start(line, kind) + shift
        return np.where(line >= 0, start, self._nowhere)

    def neighbours(self):
        """Return where each row's neighbours start, (rows, neighbours), in ascending order.

        The left neighbour of a systematic row is given as absent: the chain adds it.
        """
        line, kind, _ = self.order
        first = self.first[kind, line]
        leads = len(self.shape) - 1
        if self.chromatic:
            other = 1 - kind
            left = self._start_of(line, other, first - 1)
            right = self._start_of(line, other, first)
        else:
            other = kind
            left = np.full(len(line), self._nowhere)
            right = self._start_of(line, kind, 1)
        before = [self._neighbour_line(line, axis, -1) for axis in range(leads)]
        after = [self._neighbour_line(line, axis, 1) for axis in reversed(range(leads))]
        if self.diagonal:
            sides = (
                (first - 1, first)
                if self.chromatic
                else (np.full(len(line), -1), np.full(len(line), 1))
            )

            def three(lines):
                return [
                    self._start_of(lines, other, sides[0]),
                    self._start_of(lines, kind, 0),
                    self._start_of(lines, other, sides[1]),
                ]

            columns = [*three(before[0]), left, right, *three(after[0])]
        else:
            # A line's neighbour has the other parity, so the other colour's row starts in the same
            # column.
            columns = [self._start_of(lines, other, 0) for lines in before]
            columns += [left, right]
            columns += [self._start_of(lines, other, 0) for lines in after]
        return np.stack(columns, 1)

    def plan(self, planes, pattern):
        """Return the kernels' Plan."""
        line, kind, ends = self.order
        neighbours = self.neighbours()
        count = neighbours.shape[1]
        length = self.length[kind, line]
        # The later half of the neighbours is every bond once, periodic ones included.
        partners = neighbours if self.fused else neighbours[:, count // 2 :]
        left = 0 if self.chromatic else self._step(count // 2 - 1, pattern)
        right = 0 if self.chromatic else self._step(count // 2, pattern)
        shape = [
            count,
            partners.shape[1],
            int(pattern),
            planes,
            left,
            right,
            int(self.periodic[-1]),
        ]
        shape.append(int(self.fused))
        return Plan(
            start=self._row_start(line, kind).astype(np.int64),
            length=length.astype(np.int64),
            flat=np.arange(self.rows, dtype=np.int64) * self.padded,
            position=np.concatenate([[0], np.cumsum(length)[:-1]]).astype(np.int64),
            neighbours=np.ascontiguousarray(neighbours.reshape(-1), np.int64),
            partners=np.ascontiguousarray(partners.reshape(-1), np.int64),
            phase=np.array(ends, np.int64),
            shape=np.array(shape, np.int64),
        )

    @staticmethod
    def _step(place, pattern):
        return 1 << place if pattern else 1

    def sites_of_rows(self):
        """Yield (row, line, first column) slices: groups of rows that share their first column."""
        line, kind, ends = self.order
        for phase in range(len(ends) - 1):
            rows = np.arange(ends[phase], ends[phase + 1])
            first = self.first[kind[rows], line[rows]]
            for column in np.unique(first):
                chosen = rows[first == column]
                yield as_slice(chosen), as_slice(line[chosen]), int(column)

    def to_rows(self, grid, dtype=None, fill=0):
        """Return per-site values (..., sites) as (..., rows, padded)."""
        grid = np.asarray(grid)
        lead = grid.shape[:-1]
        grid = grid.reshape(*lead, self.lines, self.width)
        out = np.full((*lead, self.rows, self.padded), fill, dtype or grid.dtype)
        for row, line, column in self.sites_of_rows():
            part = grid[..., line, column :: self.classes]
            out[..., row, : part.shape[-1]] = part
        return out

    def from_rows(self, rows):
        """Return per-row values (..., rows, padded or more) as per-site values (..., sites)."""
        return self.from_parts(lambda row: rows[..., row, :], rows.shape[:-2], rows.dtype)

    def from_parts(self, part_of, lead, dtype):
        """Return as per-site values (*lead, sites) what part_of(a slice of rows) gives of each."""
        out = np.empty((*lead, self.lines, self.width), dtype)
        for row, line, column in self.sites_of_rows():
            count = (self.width - column + self.classes - 1) // self.classes
            out[..., line, column :: self.classes] = part_of(row)[..., :count]
        return out.reshape(*lead, self.sites)

    def _state_rows(self, states):
        """Return states (lanes, state_size) as rows, and where each row of the plan is."""
        line, kind, _ = self.order
        body = states[:, HALO : HALO + self.rows * self.stride].reshape(-1, self.rows, self.stride)
        return body, kind * self.lines + line

    def put_states(self, grid, states):
        """Store per-site values (lanes, sites) into states, borders included."""
        states[:] = 0
        body, where = self._state_rows(states)
        body[:, where, : self.padded] = self.to_rows(grid, np.uint8)
        if self.periodic[-1]:
            line, kind, _ = self.order
            start = self._row_start(line, kind)
            end = start + self.length[kind, line]
            states[:, start - 1] = states[:, end - 1]
            states[:, end] = states[:, start]

    def get_states(self, states):
        """Return per-site values (lanes, sites) of states."""
        body, where = self._state_rows(states)
        if np.array_equal(where, np.arange(self.rows)):
            return self.from_rows(body)
        return self.from_rows(body[:, where])

    def get_bits(self, bits):
        """Return per-site values (lanes, sites) of states kept as bits, (lanes, rows * words)."""
        rows = np.unpackbits(bits.view(np.uint8), axis=1, bitorder="little")
        return self.from_rows(rows.reshape(len(bits), self.rows, -1))

    def put_bits(self, grid):
        """Return per-site values (lanes, sites) as bits, uint64 (lanes, rows * words)."""
        rows = self.to_rows(grid, np.uint8)
        wide = np.zeros((*rows.shape[:2], self.words * 64), np.uint8)
        wide[..., : self.padded] = rows
        return np.packbits(wide.reshape(len(grid), -1), axis=1, bitorder="little").view(np.uint64)

    def absent(self, forward=False):
        """Return how many neighbours (or forward partners) each site lacks, as int8 (sites,)."""
        if all(self.periodic):
            return np.zeros(self.sites, np.int8)
        grid = np.zeros(self.shape, np.int8)
        steps = neighbour_steps(self.shape, self.diagonal)
        for step in steps[len(steps) // 2 :] if forward else steps:
            inside = np.zeros(self.shape, bool)
            inside[
                tuple(
                    _inside(size, move, wraps)
                    for size, move, wraps in zip(self.shape, step, self.periodic, strict=True)
                )
            ] = True
            grid += ~inside
        return grid.reshape(-1)

    def score(self, coupling, field):
        """Return the kernels' Score for a coupling and a field (a number, or one per site)."""
        forward = not self.fused
        if forward:
            lacking = self.absent(forward=True)
        else:
            lacking = self.absent()
            parity = np.indices(self.shape).sum(0).reshape(-1) % 2
            lacking = np.where(parity == 1, lacking, 0).astype(np.int8)
        line, kind, _ = self.order
        scored = slice(None) if forward else slice(self.lines, None)
        partners = self.neighbours().shape[1] // (2 if forward else 1)
        bonds = int(self.length[kind[scored], line[scored]].sum()) * partners
        field = np.asarray(field, np.float64)
        if field.ndim == 0 and not lacking.any():
            return Score(
                float(coupling),
                bonds,
                float(field),
                self.sites if field != 0 else 0,
                np.zeros(0, np.int32),
            )
        # An absent neighbour is counted as a down one; the field of its site takes that back.
        if field.ndim == 0 and field == 0:
            steps = lacking.astype(np.int32)
            return Score(
                float(coupling),
                bonds,
                float(coupling),
                int(steps.sum()),
                self.to_rows(steps).reshape(-1),
            )
        own = np.broadcast_to(field.reshape(-1), (self.sites,)) + coupling * lacking
        largest = float(np.abs(own).max())
        unit = largest / 2.0**31 if largest > 0 else 1.0
        steps = np.clip(np.rint(own / unit), -(2.0**31) + 1, 2.0**31 - 1).astype(np.int32)
        return Score(
            float(coupling),
            bonds,
            unit,
            int(steps.sum(dtype=np.int64)),
            self.to_rows(steps).reshape(-1),
        )


def as_slice(numbers):
    """Return ascending, evenly spaced numbers as a slice."""
    if len(numbers) < 2:
        return slice(int(numbers[0]), int(numbers[0]) + 1) if len(numbers) else slice(0, 0)
    step = int(numbers[1] - numbers[0])
    if np.all(np.diff(numbers) == step):
        return slice(int(numbers[0]), int(numbers[-1]) + 1, step)
    return numbers


def _inside(size, move, wraps):
    if wraps or move == 0:
        return slice(None)
    return slice(0, max(size - 1, 0)) if move > 0 else slice(1, size)


@cache
def neighbour_steps(shape, diagonal):
    """Return the steps to a site's neighbours, in ascending order of their numbers."""
    axes = len(shape)
    if diagonal:
        return [(a, b) for a in (-1, 0, 1) for b in (-1, 0, 1) if (a, b) != (0, 0)]
    back = [tuple(-int(k == a) for k in range(axes)) for a in range(axes)]
    return back + [tuple(-s for s in step) for step in reversed(back)]


def quantised_tables(layout, coupling, field, beta, *, pattern, bits):
    """Return P(up) of every key as the kernels read it, and whether each site has its own.

    Absent neighbours count as down, so the field of a site that lacks d of them is raised by d
    couplings.
    """
    count = len(neighbour_steps(layout.shape, layout.diagonal))
    keys = range(1 << count) if pattern else range(count + 1)
    ups = [key.bit_count() if pattern else key for key in keys]
    field = np.asarray(field, np.float64)
    lacking = layout.absent()
    dtype = np.dtype(f"uint{bits}")
    if field.ndim == 0 and not lacking.any():
        log_odds = np.array([2.0 * ((2 * up - count) * coupling + float(field)) for up in ups])
        table = _quantise(log_odds, beta, bits)
        return _line_up(np.repeat(table, layout.block).astype(dtype)), 0
    field = np.broadcast_to(field.reshape(-1), (layout.sites,))
    # Straight into the blocks, one number of neighbours after the other: tables are the largest
    # arrays of a run, and one more copy would decide about its memory.
    out = aligned((layout.rows, layout.padded // layout.block, len(ups), layout.block), dtype)
    for up in sorted(set(ups)):
        log_odds = 2.0 * ((2 * up - count + lacking) * coupling + field)
        rows = layout.to_rows(_quantise(log_odds, beta, bits), dtype)
        blocks = rows.reshape(layout.rows, -1, layout.block)
        for plane in np.flatnonzero(np.array(ups) == up):
            out[:, :, plane] = blocks
    return out.reshape(-1), 1


def _line_up(array):
    return aligned(array.shape, array.dtype, array)


def _quantise(log_odds, beta, bits):
    """Return probabilities in units of 2^-bits, clipped so that no value is certain."""
    out = np.empty(log_odds.size, np.int64)
    fill_binary_table(log_odds, beta, out)
    if bits == 32:
        return out
    half = 1 << (31 - bits)
    return np.clip((out + half) >> (32 - bits), 1, (1 << bits) - 1)
