"""Linear chains, many at once: Viterbi and forward-backward over a packed batch.

All chains of a batch are advanced together, position by position. They are packed by position,
longest chain first, so that the chains that have a position t are one slice and nothing is padded.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from heeler.exact.errors import Contradiction


class Smoothing(NamedTuple):
    """What forward-backward finds out about one chain."""

    log_z: float
    """Natural log of the partition function."""
    node: np.ndarray
    """(positions, K): marginals of each position."""
    edge: np.ndarray
    """(positions - 1, K, K): joint marginals of neighbouring positions."""


class Batch(NamedTuple):
    """Chains with one number of labels, packed by position, longest first."""

    chains: list[int]
    """Where each chain of the batch stood in the caller's list, longest first."""
    lengths: np.ndarray
    """Lengths in that order."""
    begin: np.ndarray
    """(longest + 1,): where each position's slice begins."""
    row: np.ndarray
    """For every token, chain after chain, its row in the packed arrays."""
    node: np.ndarray
    """(tokens, K) log potentials."""
    edge: np.ndarray
    """(tokens, K, K): of the edge into a token; unused at position 0."""


def viterbi(chains: Any) -> tuple[Any, Any]:
    """Find a most probable labelling of one chain, or of each chain of a list.

    Parameters
    ----------
    chains
        A chain (`heeler.chain`) or a list of them, of any lengths. Evidence is respected; chains
        with skip factors go through the junction tree.

    Returns
    -------
    state : (T,) int64
        A best state; for a list of chains, a list of states.
    score : float
        Its log score; for a list, a list of floats.

    Raises
    ------
    Contradiction
        If every state of a chain is impossible.
    """
    listed, single = as_list(chains)
    states: list[Any] = [None] * len(listed)
    scores: list[Any] = [None] * len(listed)
    for place, chain in enumerate(listed):
        if chain.skip:
            from heeler.exact.oracle import map_state

            states[place], scores[place] = map_state(chain)
    for batch in pack([(p, c) for p, c in enumerate(listed) if not c.skip]):
        labels, best = best_labels(batch)
        refuse_impossible(batch, best)
        ends = np.cumsum(batch.lengths)
        ordered = np.split(labels[batch.row], ends[:-1])
        for place, state, score in zip(batch.chains, ordered, best.tolist(), strict=True):
            states[place], scores[place] = state, score
    return (states[0], scores[0]) if single else (states, scores)


def forward_backward(chains: Any) -> Smoothing | list[Smoothing]:
    """Compute log Z, marginals and neighbour marginals of one chain, or of each of a list.

    Parameters
    ----------
    chains
        A chain (`heeler.chain`) or a list of them, of any lengths, without skip factors.

    Returns
    -------
    Smoothing or list of Smoothing
        ``log_z``, ``node`` (T, K) and ``edge`` (T - 1, K, K).

    Raises
    ------
    Contradiction
        If every state of a chain is impossible.
    """
    listed, single = as_list(chains)
    for place, chain in enumerate(listed):
        if chain.skip:
            raise ValueError(
                "The 'chains' parameter must hold chains without skip factors; "
                f"heeler.exact.marginals takes them. Got {len(chain.skip)} skip factors in chain "
                f"{place}."
            )
    results: list[Any] = [None] * len(listed)
    for batch in pack(list(enumerate(listed))):
        log_z, node, edge = smooth(batch)
        ends = np.cumsum(batch.lengths)
        nodes = np.split(node[batch.row], ends[:-1])
        edges = np.split(edge[batch.row], ends[:-1])
        for k, place in enumerate(batch.chains):
            results[place] = Smoothing(float(log_z[k]), nodes[k], edges[k][1:])
    return results[0] if single else results


def as_list(chains: Any) -> tuple[list[Any], bool]:
    """Tell one chain from a list of them, and check that they are chains."""
    single = hasattr(chains, "node") and hasattr(chains, "edge")
    if not single and not isinstance(chains, Sequence):
        raise TypeError(
            "The 'chains' parameter must be a chain or a list of chains. "
            f"Got {type(chains).__name__} instead."
        )
    listed = [chains] if single else list(chains)
    for place, chain in enumerate(listed):
        if not (hasattr(chain, "node") and hasattr(chain, "edge")):
            raise TypeError(
                "The 'chains' parameter must be a chain or a list of chains. "
                f"Got {type(chain).__name__} at place {place}."
            )
    return listed, single


def pack(chains: list[tuple[int, Any]]) -> list[Batch]:
    """Put chains with the same number of labels into one batch each."""
    by_labels: dict[int, list[tuple[int, Any]]] = {}
    for place, chain in chains:
        by_labels.setdefault(chain.node.shape[1], []).append((place, chain))
    return [pack_batch(group) for group in by_labels.values()]


def pack_batch(group: list[tuple[int, Any]]) -> Batch:
    """Pack chains with one number of labels."""
    lengths = np.array([len(chain.node) for _, chain in group])
    longest_first = np.argsort(-lengths, kind="stable")
    ordered = [group[k] for k in longest_first.tolist()]
    lengths = lengths[longest_first]
    labels = ordered[0][1].node.shape[1]
    starts = np.concatenate(([0], np.cumsum(lengths)))
    tokens = int(starts[-1])
    # How many chains reach each position; lengths fall, so these chains come first.
    reaching = np.searchsorted(-lengths, -np.arange(lengths[0]), side="left")
    begin = np.concatenate(([0], np.cumsum(reaching)))
    position = np.arange(tokens) - np.repeat(starts[:-1], lengths)
    row = begin[position] + np.repeat(np.arange(len(lengths)), lengths)
    node = np.empty((tokens, labels))
    node[row] = np.concatenate([chain.node for _, chain in ordered])
    edge = np.zeros((tokens, labels, labels))
    edges = [np.reshape(chain.edge, (-1, labels, labels)) for _, chain in ordered]
    edge[row[position > 0]] = np.concatenate(edges)
    for k, (_, chain) in enumerate(ordered):
        if chain.evidence is not None:
            clamped = np.flatnonzero(chain.evidence >= 0)
            other = np.arange(labels) != chain.evidence[clamped, None]
            rows = row[starts[k] + clamped]
            node[rows] = np.where(other, -np.inf, node[rows])
    return Batch([place for place, _ in ordered], lengths, begin, row, node, edge)


def refuse_impossible(batch: Batch, score: np.ndarray) -> None:
    """Raise for the first chain whose states are all impossible."""
    impossible = [batch.chains[k] for k in np.flatnonzero(score == -np.inf)]
    if impossible:
        raise Contradiction(
            f"no state of chain {min(impossible)} has positive probability under its evidence"
        )


def best_labels(batch: Batch) -> tuple[np.ndarray, np.ndarray]:
    """Run Viterbi; return the packed labels and every chain's best score."""
    node, edge, begin = batch.node, batch.edge, batch.begin
    score = node.copy()
    come_from = np.zeros(node.shape, dtype=np.int32)
    for t in range(1, len(begin) - 1):
        here = slice(begin[t], begin[t + 1])
        before = slice(begin[t - 1], begin[t - 1] + begin[t + 1] - begin[t])
        arriving = edge[here] + score[before, :, None]
        come_from[here] = arriving.argmax(axis=1)
        score[here] += arriving.max(axis=1)
    labels = np.empty(len(node), dtype=np.int64)
    best = np.empty(len(batch.lengths))
    following = 0
    for t in range(len(begin) - 2, -1, -1):
        low, high = begin[t], begin[t + 1]
        ending = score[low + following : high]
        labels[low + following : high] = ending.argmax(axis=1)
        best[following : high - low] = ending.max(axis=1)
        if following:
            after = slice(begin[t + 1], begin[t + 1] + following)
            labels[low : low + following] = come_from[after][np.arange(following), labels[after]]
        following = high - low
    return labels, best


def log_sum(table: np.ndarray, axis: int) -> np.ndarray:
    """Add probabilities given as logs along an axis; -inf stays exact."""
    top = table.max(axis=axis, keepdims=True)
    top = np.where(top == -np.inf, 0.0, top)
    return np.log(np.exp(table - top).sum(axis=axis)) + np.squeeze(top, axis)


def smooth(batch: Batch) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Run forward-backward; return log Z per chain and packed node and edge marginals."""
    node, edge, begin = batch.node, batch.edge, batch.begin
    forward = node.copy()
    backward = np.zeros_like(node)
    with np.errstate(divide="ignore"):
        for t in range(1, len(begin) - 1):
            here = slice(begin[t], begin[t + 1])
            before = slice(begin[t - 1], begin[t - 1] + begin[t + 1] - begin[t])
            forward[here] += log_sum(edge[here] + forward[before, :, None], axis=1)
        for t in range(len(begin) - 2, 0, -1):
            here = slice(begin[t], begin[t + 1])
            before = slice(begin[t - 1], begin[t - 1] + begin[t + 1] - begin[t])
            leaving = node[here] + backward[here]
            backward[before] = log_sum(edge[here] + leaving[:, None, :], axis=2)
        last = begin[batch.lengths - 1] + np.arange(len(batch.lengths))
        log_z = log_sum(forward[last], axis=1)
    refuse_impossible(batch, log_z)
    chain_of = np.concatenate([np.arange(n) for n in np.diff(begin)])
    single = normalised(forward + backward - log_z[chain_of, None])
    joint = np.zeros_like(edge)
    count = len(node) - begin[1]
    if count:
        # A token's row minus the size of the slice before it is its predecessor's row.
        width = np.repeat(np.diff(begin)[:-1], np.diff(begin)[1:])
        before_rows = np.arange(begin[1], len(node)) - width
        after = slice(begin[1], None)
        weight = (
            edge[after]
            + forward[before_rows, :, None]
            + (node[after] + backward[after] - log_z[chain_of[after], None])[:, None, :]
        )
        joint[after] = normalised(weight.reshape(count, -1)).reshape(weight.shape)
    return log_z, single, joint


def normalised(weight: np.ndarray) -> np.ndarray:
    """Turn rows of logs that nearly are probabilities into rows that sum to one."""
    probability = np.exp(weight)
    return probability / probability.sum(axis=1, keepdims=True)
