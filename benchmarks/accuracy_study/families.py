"""Random models of the study, small enough for exact answers.

A model is named by its seed alone, so every table can be made again.
"""

from pathlib import Path

import numpy as np

import heeler

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"


def grid_edges(rows: int, columns: int) -> np.ndarray:
    """List the bonds of an open grid, (edges, 2)."""
    site = np.arange(rows * columns).reshape(rows, columns)
    across = np.column_stack([site[:, :-1].ravel(), site[:, 1:].ravel()])
    down = np.column_stack([site[:-1].ravel(), site[1:].ravel()])
    return np.concatenate([across, down])


def complete_edges(n: int) -> np.ndarray:
    """List the edges of the complete graph, (edges, 2)."""
    return np.column_stack(np.triu_indices(n, 1))


def path_edges(n: int, closed: bool = False) -> np.ndarray:
    """List the edges of a path or a cycle, (edges, 2)."""
    first = np.arange(n if closed else n - 1)
    return np.column_stack([first, (first + 1) % n])


GRAPHS = {
    "K6": complete_edges(6),
    "3x3 grid": grid_edges(3, 3),
    "chain of 8": path_edges(8),
    "4-cycle": path_edges(4, closed=True),
    "4x4 grid": grid_edges(4, 4),
    "10x10 grid": grid_edges(10, 10),
    "K10": complete_edges(10),
}


def signed(graph: str, strength: float, seed: int, field: float | None = None) -> heeler.Model:
    """Make an Ising model with couplings uniform on +-strength.

    Parameters
    ----------
    graph
        A name of `GRAPHS`.
    strength
        Largest coupling.
    seed
        The instance.
    field
        Largest field; None stands for the couplings' strength.

    Returns
    -------
    Ising
        The model.
    """
    edges = GRAPHS[graph]
    rng = np.random.default_rng([seed, 1])
    coupling = rng.uniform(-strength, strength, len(edges))
    widest = strength if field is None else field
    fields = rng.uniform(-widest, widest, int(edges.max()) + 1)
    return heeler.ising((edges[:, 0], edges[:, 1], coupling), fields)


def dense(n: int, scale: float, seed: int, units: bool = True) -> heeler.Model:
    """Make a complete model with couplings N(0, scale^2 / n) and biases N(0, 0.5^2).

    Parameters
    ----------
    n
        Variables.
    scale
        Strength of the couplings.
    seed
        The instance.
    units
        Whether values are 0 and 1 (a Boltzmann machine) instead of spins -1 and 1, whose
        couplings bind four times as strongly.

    Returns
    -------
    Boltzmann or Ising
        The model.
    """
    rng = np.random.default_rng([seed, 2])
    weights = np.triu(rng.normal(0.0, scale / np.sqrt(n), (n, n)), 1)
    bias = rng.normal(0.0, 0.5, n)
    make = heeler.boltzmann if units else heeler.ising
    return make(weights + weights.T, bias)


def lattice(coupling: float, width: float, seed: int) -> heeler.Model:
    """Make an open 12x12 lattice with one coupling.

    Parameters
    ----------
    coupling
        The coupling.
    width
        Fields are uniform on +-width; 0 stands for the field 0.1 everywhere.
    seed
        The instance.

    Returns
    -------
    Lattice
        The model.
    """
    rng = np.random.default_rng([seed, 3])
    field = rng.uniform(-width, width, (12, 12)) if width else 0.1
    return heeler.lattice((12, 12), coupling=coupling, field=field)


def networks() -> list[tuple[str, heeler.Model]]:
    """Read the Bayesian networks, each as it is and with evidence on a few leaves.

    Returns
    -------
    list of (str, Model)
        Names and models; empty where the data are absent.
    """
    import gzip
    import json

    folder = DATA / "bayesnets"
    if not folder.is_dir():
        return []
    with gzip.open(folder / "exact_marginals.json.gz", "rt") as file:
        known = json.load(file)
    out = []
    for path in sorted(folder.glob("*.bif.gz")):
        name = path.name.removesuffix(".bif.gz")
        model = heeler.read(path)
        out.append((name, model))
        evidence = known[name].get("evidence") or {}
        renamed = {b: a for a, b in known[name].get("label_renaming") or []}
        if evidence:
            words = {v: renamed.get(value, value) for v, value in evidence.items()}
            out.append((f"{name} given {len(words)}", model.given(words)))
    return out


# Instances of the UAI 2014 competition whose junction trees take seconds at most.
UAI = (
    "Alchemy_11",
    "Segmentation_11",
    "Segmentation_15",
    "Pedigree_13",
    *(f"Promedus_{number}" for number in (13, 15, 21, 29, 31, 33, 35)),
)


def competition() -> list[tuple[str, heeler.Model]]:
    """Read the solvable competition instances with their evidence.

    Returns
    -------
    list of (str, Model)
        Names and models; empty where the data are absent.
    """
    import tarfile
    import tempfile

    archive = DATA / "uai" / "uai2014.tar.xz"
    if not archive.is_file():
        return []
    out = []
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(archive) as tar:
            tar.extractall(folder, filter="data")
        for name in UAI:
            path = next(Path(folder).rglob(f"{name}.uai"))
            model = heeler.read(path)
            evidence = heeler.io.uai.read_evidence(f"{path}.evid", model.cardinalities)
            out.append((name, model.given(evidence[0]) if evidence[0] else model))
    return out


def sentences(step: int) -> list[heeler.Model]:
    """Read every step-th sentence of the named-entity potentials as a chain.

    Parameters
    ----------
    step
        Distance between sentences taken.

    Returns
    -------
    list of Chain
        Chains of two tokens and more; empty where the data are absent.
    """
    path = DATA / "ner" / "ieer_crf_potentials.npz"
    if not path.is_file():
        return []
    potentials = np.load(path)
    node = potentials["node"].astype(np.float64)
    edge = potentials["edge"].astype(np.float64)
    start = [*map(int, potentials["sent_start"]), len(node)]
    chains = []
    for k in range(0, len(start) - 1, step):
        a, b = start[k], start[k + 1]
        if b - a > 1:
            first = node[a:b].copy()
            first[0] += edge[a, 0]  # the label before the first token is fixed
            chains.append(heeler.chain(first, edge[a + 1 : b]))
    return chains
