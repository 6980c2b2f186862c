"""Markdown tables of the measured numbers."""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from accuracy_study import prototype
from accuracy_study.measure import slope

Records = list[dict[str, Any]]


def number(value: float | None) -> str:
    """Write an error with two digits: 1.2e-3."""
    if value is None or math.isnan(value):
        return "-"
    if value == 0:
        return "0"
    mantissa, power = f"{value:.1e}".split("e")
    return f"{mantissa}e{int(power)}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Lay a table out; columns after the first are aligned to the right."""
    lines = ["| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(head) - 1)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines)


def sweeps_name(count: float) -> str:
    """Write a number of sweeps as a power of ten or two."""
    count = int(count)
    for base in (10, 2):
        power = 1
        while base**power < count:
            power += 1
        if base**power == count:
            return f"10^{power}" if base == 10 else f"2^{power}"
    return f"{count:,}"


def models_of(records: Records) -> list[str]:
    """List the models in their order."""
    return list(dict.fromkeys(record["model"] for record in records))


def at(record: dict[str, Any], name: str, sweeps: float) -> float | None:
    """Look a number up by sweeps."""
    if sweeps not in record["sweeps"] or name not in record:
        return None
    return record[name][record["sweeps"].index(sweeps)]


def find(records: Records, model: str, label: str) -> dict[str, Any] | None:
    """Find a record."""
    for record in records:
        if record["model"] == model and record["label"] == label:
            return record
    return None


def curves(records: Records, quantities: Sequence[str]) -> str:
    """Make a table per model: settings down, numbers of sweeps across.

    Parameters
    ----------
    records
        Records of a study.
    quantities
        What a cell holds, in order; slopes of the first come last.

    Returns
    -------
    str
        Markdown.
    """
    parts = []
    for model in models_of(records):
        chosen = [r for r in records if r["model"] == model]
        looks = [t for r in chosen if r["driver"] != "quasi" for t in r["sweeps"]]
        columns = sorted(set(looks))
        head = [model, *map(sweeps_name, columns), "slope"]
        rows = []
        for record in chosen:
            cells = []
            for place, column in enumerate(columns):
                own = record["sweeps"]
                # Quasi runs have periods of their own and stand under the nearest column.
                count = own[place] if record["driver"] == "quasi" and place < len(own) else column
                values = [number(at(record, q, count)) for q in quantities]
                cells.append("" if values[0] == "-" else " / ".join(values))
            rows.append([record["label"], *cells, slope_of(record, quantities)])
        parts.append(table(head, rows))
    return "\n\n".join(parts)


def slope_of(record: dict[str, Any], quantities: Sequence[str]) -> str:
    """Write the slopes of a record's curves."""
    found = [slope(record["sweeps"], record[q]) for q in quantities if q in record]
    return " / ".join("-" if math.isnan(s) else f"{s:.2f}".replace("-0.", "-.") for s in found)


def small_again(records: Records) -> str:
    """Put the small graphs beside the prototype."""
    rows = []
    for (model, label), known in prototype.SMALL.items():
        record = find(records, model, label)
        for sweeps, (joint, site) in known.items():
            if record is None or sweeps not in record["sweeps"]:
                continue
            cells = [at(record, "plain", sweeps), site, at(record, "joint", sweeps), joint]
            rows.append([f"{model}, {label}", sweeps_name(sweeps), *map(number, cells)])
    head = ["model, driver", "sweeps", "site, counted", "prototype", "joint", "prototype"]
    return table(head, rows)


def strengths(records: Records) -> str:
    """Make the table of 3x3 grids by coupling, with the prototype's numbers."""
    labels = list(dict.fromkeys(r["label"] for r in records))
    last = max(records[0]["sweeps"])
    rows = []
    for model in models_of(records):
        known = prototype.STRENGTHS[model.split("+-")[1]]
        cells = []
        for label in labels:
            record = find(records, model, label)
            assert record is not None
            value = number(record["plain"][-1] if label == "quasi" else at(record, "plain", last))
            cells.append(f"{value} ({number(known[label])})" if label in known else value)
        rows.append([model, *cells])
    return table([f"{sweeps_name(last)} sweeps", *labels], rows)


def grids_again(records: Records) -> str:
    """Put 4x4 grids and K10 beside the prototype."""
    rows = []
    for model, known in prototype.GRIDS.items():
        for label, numbers in known.items():
            for sweeps, (site, pair) in numbers.items():
                record = find(records, model, label)
                longest = None if record is None else at(record, "plain", sweeps)
                if record is None or longest is None:
                    continue
                cells = [longest, site, at(record, "pair", sweeps), pair]
                rows.append([f"{model}, {label}", sweeps_name(sweeps), *map(number, cells)])
    head = ["model, driver", "sweeps", "site, counted", "prototype", "pair", "prototype"]
    return table(head, rows)


def dense_again(records: Records) -> str:
    """Put dense graphs beside the prototype."""
    rows = []
    for label, known in prototype.DENSE.items():
        record = find(records, "units, n = 16, scale 1", label)
        if record is None:
            continue
        cells = [f"{number(a)} ({number(b)})" for a, b in zip(record["site"], known, strict=False)]
        rows.append([label, *cells])
    if not rows:
        return ""
    width = len(rows[0]) - 1
    return table(["n = 16, scale 1", *["10^2", "10^3", "10^4", "10^5"][:width]], rows)


def large_again(records: Records) -> str:
    """Put 10x10 grids beside the prototype."""
    rows = []
    for strength, known in prototype.LARGE.items():
        for label, (plain, blackwell) in known.items():
            record = find(records, f"10x10 grid +-{strength}", label)
            if record is not None and 10_000 in record["sweeps"]:
                cells = [at(record, "plain", 10_000), plain, at(record, "site", 10_000), blackwell]
                rows.append([f"+-{strength}, {label}", *map(number, cells)])
    head = ["10^4 sweeps", "counted", "prototype", "Rao-Blackwellised", "prototype"]
    return table(head, rows)


def torus(records: Records) -> str:
    """Make the table of energies."""
    models = models_of(records)
    betas = [m.split("beta ")[1] for m in models]
    rows = []
    for label in dict.fromkeys(r["label"] for r in records):
        cells = []
        for model, beta in zip(models, betas, strict=True):
            record = find(records, model, label)
            assert record is not None
            text = number(record["bias"][0])
            if record["error"][0] is not None:
                text += f" +- {number(record['error'][0])}"
            known = prototype.TORUS.get((beta, label))
            cells.append(text if known is None else f"{text} ({number(known)})")
        rows.append([label, *cells])
    return table(["bias of the energy per site", *(f"beta {b}" for b in betas)], rows)


def real(records: Records) -> str:
    """Make the table of networks or instances: a row per model, its longest run."""
    labels = list(dict.fromkeys(r["label"] for r in records))
    rows = []
    for model in models_of(records):
        chosen = [find(records, model, label) for label in labels]
        first = chosen[0]
        assert first is not None
        values = [None if r is None else r["site"][-1] for r in chosen]
        least = number(min(v for v in values if v is not None))
        texts = ["" if v is None else number(v) for v in values]
        cells = [f"**{text}**" if text == least else text for text in texts]
        size = f"{first['variables']} of <= {first['values']}"
        zeros = "yes" if first["zeros"] else "no"
        last = sweeps_name(first["sweeps"][-1])
        slopes = [slope(r["sweeps"], r["site"], 100) for r in chosen[0:3:2] if r is not None]
        slopes_text = " / ".join("-" if math.isnan(s) else f"{s:.2f}" for s in slopes)
        rows.append([model, size, zeros, last, *cells, slopes_text, first["auto"]])
    head = ["model", "variables", "zeros", "sweeps", *labels, "slopes", "auto takes"]
    return table(head, rows)


def sentences(records: Records) -> str:
    """Make the table of sentences: errors, and how often the best labelling was met."""
    columns = sorted({t for r in records if r["driver"] != "quasi" for t in r["sweeps"]})
    rows = []
    for record in records:
        cells = []
        for column in columns:
            near = [t for t in record["sweeps"] if 0.5 * column <= t <= 2 * column]
            if record["driver"] == "quasi":
                near = [t for t in record["sweeps"] if column / 2.6 <= t <= 2.6 * column]
            cells.append(number(at(record, "site", near[0])) if near else "")
        rows.append([record["label"], *cells, f"{record['found']:.2f}"])
    return table([records[0]["model"], *map(sweeps_name, columns), "best met"], rows)


def beside(records: Records) -> str:
    """Make the table of seconds and errors beside other packages."""
    rows = []
    for record in records:
        points = zip(record["seconds"], record["site"], strict=True)
        text = ", ".join(f"{number(e)} in {s:.2g} s" for s, e in points)
        rows.append([record["model"], record["label"], text])
    return table(["model", "sampler", "error in seconds"], rows)


def short(records: Records) -> str:
    """Make a short table: a row per model, errors by sweeps in a cell."""
    labels = list(dict.fromkeys(r["label"] for r in records))
    rows = []
    for model in models_of(records):
        chosen = [find(records, model, label) for label in labels]
        rows.append([model, *(" / ".join(map(number, r["site"])) for r in chosen if r)])
    head = " / ".join(map(sweeps_name, records[0]["sweeps"]))
    return table([f"{head} sweeps", *(label.split(",")[0] for label in labels)], rows)


TABLES: dict[str, tuple[str, Callable[[Records], str]]] = {
    "small": ("small", lambda r: curves(r, ("site", "joint"))),
    "small beside the prototype": ("small", small_again),
    "strengths": ("strengths", strengths),
    "grids": ("grids", lambda r: curves(r, ("site", "pair"))),
    "grids beside the prototype": ("grids", grids_again),
    "dense": ("dense", lambda r: curves(r, ("site",))),
    "dense beside the prototype": ("dense", dense_again),
    "large": ("large", lambda r: curves(r, ("site", "pair"))),
    "large beside the prototype": ("large", large_again),
    "torus": ("torus", torus),
    "fields": ("fields", short),
    "networks": ("networks", real),
    "round": ("round", short),
    "competition": ("competition", real),
    "sentences": ("sentences", sentences),
    "neighbours": ("neighbours", beside),
}
