"""An analysis in words and in plain numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

_SHOWN = 6  # classes, eigenvalues and states that a text shows


def _number(value: float) -> str:
    """Show a number briefly."""
    if math.isinf(value):
        return "infinite"
    return f"{value:.0f}" if value == int(value) and abs(value) < 1e15 else f"{value:.6g}"


def _eigenvalue(value: complex) -> str:
    """Show an eigenvalue."""
    if isinstance(value, complex) and abs(value.imag) > 1e-9:
        return f"{value.real:.4f}{value.imag:+.4f}i"
    return f"{value.real:.6f}"


def report_of(analysis: Any) -> str:
    """Write the report.

    Parameters
    ----------
    analysis : Analysis
        What is known.

    Returns
    -------
    str
        Some lines.
    """
    a = analysis
    lines = [
        f"{a.matrix.description or 'a given chain'}",
        f"  states          {len(a)}, {a.matrix.nnz} transitions of positive probability",
        *_structure(a),
        *_stationary(a),
        *_balance(a),
        *_spectrum(a),
        *_bounds(a),
        *_hitting(a),
    ]
    return "\n".join(lines)


def _structure(a: Any) -> list[str]:
    """Say what the classes are."""
    if a.irreducible:
        kind = "aperiodic: ergodic" if a.period == 1 else f"period {a.period}: not ergodic"
        return [f"  classes         one: irreducible, {kind}"]
    verdict = "ergodic" if a.ergodic else "not ergodic"
    closed = len(a.closed_classes)
    lines = [f"  classes         {len(a.classes)}, of which {closed} closed: reducible, {verdict}"]
    lines += [f"                  {c!r}" for c in a.classes[:_SHOWN]]
    if len(a.classes) > _SHOWN:
        lines.append(f"                  … {len(a.classes) - _SHOWN} more")
    return lines


def _stationary(a: Any) -> list[str]:
    """Say what stays the same."""
    lines = []
    pi = a.stationary
    if pi is None:
        lines.append(f"  stationary      {len(a.closed_classes)} independent distributions")
    else:
        top = np.argsort(-pi, kind="stable")[:_SHOWN]
        shown = "   ".join(f"{a.labels[int(k)]} {pi[k]:.4g}" for k in top)
        more = "   …" if len(pi) > len(top) else ""
        lines.append(f"  stationary      {shown}{more}")
    if a.target is not None:
        verdict = "is invariant" if a.invariant else "is NOT invariant"
        lines.append(
            f"  target          {verdict}: a pass moves it by {a.drift:.2g} "
            f"(rounding explains {a.tolerance:.2g})"
        )
        if not a.invariant and a.bias is not None:
            lines.append(f"  bias            {a.bias:.6g} in total variation")
    return lines


def _balance(a: Any) -> list[str]:
    """Say whether detailed balance holds."""
    b = a.balance
    if b.holds:
        return [f"  balance         detailed balance holds (circulation {b.circulation:.2g})"]
    return [
        f"  balance         detailed balance does not hold, circulation {b.circulation:.4g}; worst",
        f"                  {b.names[0]} -> {b.names[1]} flows {b.there:.6g}, back {b.back:.6g}",
    ]


def _spectrum(a: Any) -> list[str]:
    """Say how fast distances fall."""
    shown = ", ".join(_eigenvalue(v) for v in a.eigenvalues[:_SHOWN].tolist())
    more = ", …" if len(a) > _SHOWN else ""
    near, nearer = _number(a.mixing_time()), _number(a.mixing_time(0.01))
    return [
        f"  eigenvalues     {shown}{more}",
        f"  spectral gap    {a.spectral_gap:.6g}, relaxation time {_number(a.relaxation_time)}",
        f"  mixing time     to 1/4: {near} passes; to 1/100: {nearer}",
    ]


def _bounds(a: Any) -> list[str]:
    """Say what is known without eigenvalues."""
    m = a.minorisation
    if m.holds:
        of = "one pass" if m.steps == 1 else f"{m.steps} passes"
        power = "t" if m.steps == 1 else f"floor(t / {m.steps})"
        bound = f"distance at most (1 - v)^{power}, v = {m.v:.4g} of {of}"
    else:
        bound = (
            f"none: v = 0, as {m.names[0]} does not reach {m.names[1]} in one pass "
            "(and not all states reach all in 64)"
        )
    rows = a.matrix.sum(axis=1)
    return [
        f"  notes' bound    {bound}",
        f"  Dobrushin       {a.dobrushin:.6g}: two starts come closer by this factor every pass",
        f"  Perron root     1, between the row sums {rows.min():.12g} and {rows.max():.12g}",
    ]


def _hitting(a: Any) -> list[str]:
    """Say how long it takes to the likeliest state."""
    mode = int(np.argmax(a.reference))  # the likeliest state
    times = a.hitting_times(mode)
    worst, mean = _number(float(times.max())), _number(_mean(times, a.reference))
    where = f"{a.labels[mode]}: {worst} passes from the worst start, {mean} on average"
    lines = [f"  hitting time    of {where}"]
    if a.irreducible:
        lines.append(f"  any state       {_number(a.mean_hitting_time)} passes (Kemeny's constant)")
    return lines


def _mean(times: Any, pi: Any) -> float:
    """Average over starts that occur: infinity times nothing is nothing."""
    some = pi > 0
    return float(times[some] @ pi[some])


def numbers_of(analysis: Any) -> dict[str, Any]:
    """Give an analysis as plain numbers.

    Parameters
    ----------
    analysis : Analysis
        What is known.

    Returns
    -------
    dict
        Ready for JSON; infinities are floats.
    """
    a = analysis
    b, m = a.balance, a.minorisation
    values = a.eigenvalues
    mode = int(np.argmax(a.reference))
    times = a.hitting_times(mode)
    pi = a.stationary
    rows = a.matrix.sum(axis=1)
    return {
        "kernel": a.matrix.description,
        "states": len(a),
        "labels": [a.labels[k] for k in range(len(a))],
        "transitions": int(a.matrix.nnz),
        "updates": a.matrix.updates,
        "irreducible": a.irreducible,
        "period": a.period,
        "ergodic": a.ergodic,
        "classes": [
            {"members": c.members.tolist(), "closed": c.closed, "period": c.period}
            for c in a.classes
        ],
        "stationary": None if pi is None else pi.tolist(),
        "target": None if a.target is None else a.target.tolist(),
        "invariant": a.invariant,
        "drift": a.drift,
        "tolerance": a.tolerance,
        "bias": a.bias,
        "detailed_balance": {
            "holds": b.holds,
            "circulation": b.circulation,
            "worst": list(b.names),
            "there": b.there,
            "back": b.back,
        },
        "eigenvalues": {"real": values.real.tolist(), "imaginary": values.imag.tolist()},
        "spectral_gap": a.spectral_gap,
        "relaxation_time": a.relaxation_time,
        "mixing_time": {"0.25": a.mixing_time(), "0.01": a.mixing_time(0.01)},
        "minorisation": {"v": m.v, "steps": m.steps, "holds": m.holds, "worst": list(m.names)},
        "dobrushin": a.dobrushin,
        "row_sums": [float(rows.min()), float(rows.max())],
        "hitting_time": {
            "goal": a.labels[mode],
            "worst": float(times.max()),
            "mean": _mean(times, a.reference),
        },
        "mean_hitting_time": a.mean_hitting_time,
    }
