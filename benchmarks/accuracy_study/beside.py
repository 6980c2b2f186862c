"""Time to an error beside other packages, where they are installed."""

import gzip
import time
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import heeler
from accuracy_study import families
from accuracy_study.measure import HERDED, RANDOM, curve, target_of, total_variation

Record = dict[str, Any]
SWEEPS_BETWEEN = 30  # of a read of the annealer at one temperature: enough to forget its start


def others(quick: bool) -> list[Record]:
    """Measure seconds and errors of two neighbours and of heeler on the same models.

    Parameters
    ----------
    quick
        Whether to leave this out.

    Returns
    -------
    list of dict
        Records; none where a neighbour is not installed.
    """
    if quick:
        return []
    records = []
    if find_spec("dwave.samplers") if find_spec("dwave") else None:
        models = [families.signed("10x10 grid", 0.5, seed, 0.5) for seed in range(1, 6)]
        records += ours("10x10 grid +-0.5", models, (100, 1_000, 10_000, 100_000))
        records.append(
            median_of("10x10 grid +-0.5", "dwave-samplers, Gibbs", [dwave(m) for m in models])
        )
    if find_spec("pyagrum") and (families.DATA / "bayesnets").is_dir():
        known = dict(families.networks())
        for name in ("alarm given 5", "hepar2 given 5", "sachs given 4"):
            records += ours(name, [known[name]] * 5, (1_000, 10_000, 100_000))
            runs = [agrum(known[name], name.split()[0], seed) for seed in range(1, 6)]
            records.append(median_of(name, "pyAgrum, Gibbs", runs))
    return records


def ours(name: str, models: list[heeler.Model], sweeps: tuple[int, ...]) -> list[Record]:
    """Measure our random and herded runs.

    Parameters
    ----------
    name
        The models' name.
    models
        Instances.
    sweeps
        When to look.

    Returns
    -------
    list of dict
        Records.
    """
    records = []
    for setting in (RANDOM, HERDED["binned(64)"]):
        runs = []
        for seed, model in enumerate(models, start=1):
            target = target_of(model)
            curve(model, target, setting, (10,))  # kernels are loaded before the clock runs
            found = curve(model, target, setting, sweeps, seed=seed)
            runs.append([(point["seconds"], point["site"]) for point in found])
        records.append(median_of(name, f"heeler, {setting.label}", runs))
    return records


def median_of(name: str, label: str, runs: list[list[tuple[float, float]]]) -> Record:
    """Take medians of seconds and errors over instances."""
    middle = np.median(np.array(runs), axis=0)
    seconds, site = middle[:, 0].tolist(), middle[:, 1].tolist()
    return {"model": name, "label": label, "seconds": seconds, "site": site}


def dwave(model: heeler.Model) -> list[tuple[float, float]]:
    """Sample an Ising model with dwave-samplers at one temperature, one state per read.

    Parameters
    ----------
    model
        The model.

    Returns
    -------
    list of (float, float)
        Seconds and errors of 100, 1,000 and 10,000 reads.
    """
    from dwave.samplers import SimulatedAnnealingSampler

    target = target_of(model)
    spins: Any = model
    row = np.repeat(np.arange(spins.n_variables), np.diff(spins.pointer))
    # Energies are minimised there: signs turn.
    couplings = {
        (int(i), int(j)): -float(v)
        for i, j, v in zip(row, spins.column, spins.coupling, strict=True)
        if i < j
    }
    fields = {i: -float(h) for i, h in enumerate(np.asarray(spins.field))}
    out = []
    for reads in (100, 1_000, 10_000):
        start = time.perf_counter()
        found = SimulatedAnnealingSampler().sample_ising(
            fields,
            couplings,
            num_reads=reads,
            beta_schedule_type="custom",
            beta_schedule=[1.0],
            num_sweeps=SWEEPS_BETWEEN,
            num_sweeps_per_beta=SWEEPS_BETWEEN,
            proposal_acceptance_criteria="Gibbs",
            seed=reads,
        )
        order = [found.variables.index(i) for i in range(spins.n_variables)]
        up = (found.record.sample[:, order] > 0).mean(axis=0)
        seconds = time.perf_counter() - start
        gaps = total_variation(np.stack([1 - up, up], axis=1), target.marginals)
        out.append((seconds, float(gaps.mean())))
    return out


def agrum(model: heeler.Model, network: str, seed: int) -> list[tuple[float, float]]:
    """Sample a Bayesian network with pyAgrum's Gibbs sampler for one second and for three.

    Parameters
    ----------
    model
        The model with evidence.
    network
        The file's name.
    seed
        Seed of pyAgrum's generator.

    Returns
    -------
    list of (float, float)
        Seconds and errors.
    """
    import pyagrum

    target = target_of(model)
    pyagrum.initRandom(seed)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "network.bif"
        path.write_bytes(
            gzip.decompress((families.DATA / "bayesnets" / f"{network}.bif.gz").read_bytes())
        )
        net = pyagrum.loadBN(str(path))
    known = {
        model.names[i]: model.value_names[i][int(v)] for i, v in enumerate(model.evidence) if v >= 0
    }
    out = []
    for limit in (1.0, 3.0):
        engine = pyagrum.GibbsSampling(net)
        engine.setEvidence(known)
        engine.setEpsilon(1e-12)
        engine.setMinEpsilonRate(1e-12)
        engine.setMaxIter(10_000_000)
        engine.setMaxTime(limit)
        start = time.perf_counter()
        engine.makeInference()
        seconds = time.perf_counter() - start
        gaps = [difference(engine.posterior(model.names[i]), model, i, target) for i in model.free]
        out.append((seconds, float(np.mean(gaps))))
    return out


def difference(found: Any, model: heeler.Model, variable: int, target: Any) -> float:
    """Compare a posterior of pyAgrum with the exact one, value by value name."""
    labels = found.variable(0).labels()
    estimate = dict(zip(labels, found.toarray(), strict=True))
    values = model.value_names[variable]
    ordered = np.array([estimate[value] for value in values])
    return float(total_variation(ordered, target.marginals[variable][: len(values)]))
