"""Coverage of log Z by annealed importance sampling, against the junction tree.

Every model of ../shared/data that the junction tree solves is estimated with several seeds. Of the
estimates that call themselves reliable, the share whose 90 % interval has the truth is counted; of
the others it is said why they do not.

    python benchmarks/log_z.py --seeds 10 --sweeps 1000
"""

from __future__ import annotations

import argparse
import io
import json
import tarfile
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import heeler

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
MEMORY = 1 << 30
# Larger models take minutes each; they are left out, and named.
MOST_VARIABLES = 1200


def models() -> Iterator[tuple[str, Any]]:
    """Read networks, also with evidence, and the competition's instances."""
    for path in sorted((DATA / "bayesnets").glob("*.bif.gz")):
        yield path.name.partition(".")[0], heeler.read(path)
    with tarfile.open(DATA / "uai" / "uai2014.tar.xz") as archive:
        files = {Path(m.name).name: m for m in archive.getmembers() if m.isfile()}
        for name in sorted(files):
            if not name.endswith(".uai"):
                continue
            with tempfile.TemporaryDirectory() as folder:
                for part in (name, f"{name}.evid"):
                    data = archive.extractfile(files[part])
                    assert data is not None
                    (Path(folder) / part).write_bytes(data.read())
                model = heeler.read(Path(folder) / name)
                known = heeler.io.uai.read_evidence(
                    Path(folder) / f"{name}.evid", model.cardinalities
                )
            yield name.removesuffix(".uai"), model.given(known[0]) if known and known[0] else model
    random = np.random.default_rng(1)
    for side, strength in ((6, 0.5), (8, 1.0), (10, 0.5), (10, 1.0), (12, 0.7), (10, 2.0)):
        shape = (side, side)
        bonds = tuple(
            random.uniform(-strength, strength, s) for s in ((side - 1, side), (side, side - 1))
        )
        field = random.uniform(-0.5, 0.5, shape)
        yield f"grid {side} +-{strength}", heeler.lattice(shape, bonds, field)
        yield f"Ising {side} {strength / 2}", heeler.lattice(shape, strength / 2)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--sweeps", type=int, default=1000)
    parser.add_argument("--chains", type=int, default=64)
    parser.add_argument("--only", default="")
    parser.add_argument("--positive", action="store_true", help="leave out models with zeros")
    parser.add_argument("--json", type=Path)
    words = parser.parse_args()
    records: list[dict[str, Any]] = []
    for name, model in models():
        if words.only not in name or (words.positive and model.has_zeros):
            continue
        if model.n_variables > MOST_VARIABLES:
            print(f"{name}: left out, {model.n_variables} variables", flush=True)
            continue
        try:
            truth = heeler.exact.log_z(model, memory_limit=MEMORY)
        except heeler.exact.TooWide as wide:
            print(f"{name}: left out, width {wide.width}", flush=True)
            continue
        for seed in range(words.seeds):
            begin = time.perf_counter()
            found = heeler.log_z(model, sweeps=words.sweeps, chains=words.chains, seed=seed)
            records.append(
                {"model": name, "zeros": model.has_zeros, "truth": truth, "seed": seed}
                | found.to_dict()
                | {"seconds": time.perf_counter() - begin}
            )
        print(line_of(records[-words.seeds :]), flush=True)
    print(summary(records))
    if words.json:
        text = io.StringIO()
        json.dump(records, text, default=float)
        words.json.write_text(text.getvalue())


def covered(record: dict[str, Any]) -> bool:
    """Say whether the interval has the truth."""
    return record["low"] <= record["truth"] <= record["high"]


def line_of(mine: list[dict[str, Any]]) -> str:
    """Describe a model's estimates."""
    off = np.array([r["value"] - r["truth"] for r in mine])
    gap = np.mean([r["details"]["gap"] for r in mine])
    count = len(mine)
    return (
        f"{mine[0]['model']:20} zeros {mine[0]['zeros']!s:5} truth {mine[0]['truth']:.3f}  "
        f"rms off {np.sqrt(np.mean(off**2)):.3g}  gap {gap:.3g}  "
        f"covered {sum(map(covered, mine))}/{count}  "
        f"reliable {sum(r['reliable'] for r in mine)}/{count}  "
        f"{np.mean([r['seconds'] for r in mine]):.2g} s"
    )


def summary(records: list[dict[str, Any]]) -> str:
    """Say how often the truth was inside."""
    trusted = [r for r in records if r["reliable"]]
    close = [r for r in records if abs(r["details"]["gap"]) < 1 and not r["zeros"]]
    others = [r for r in records if not r["reliable"]]
    lines = []
    for name, some in (
        ("reliable", trusted),
        ("gap below 1, no zeros", close),
        ("unreliable", others),
    ):
        if some:
            inside = sum(map(covered, some))
            lines.append(f"{name}: {inside} of {len(some)} intervals have the truth "
                         f"({inside / len(some):.1%})")  # fmt: skip
    false = [r for r in trusted if abs(r["value"] - r["truth"]) > 1]
    lines.append(f"reliable, yet off by more than 1: {len(false)}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
