"""The same networks for pgmpy's BIF reader and writer, where pgmpy is installed."""

import warnings

import numpy as np
import pytest

from heeler import io
from io_models import random_network


@pytest.fixture(scope="module")
def pgmpy_bif():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        readwrite = pytest.importorskip("pgmpy.readwrite", reason="pgmpy is not installed")
    return readwrite


def tables_by_name(model):
    """Return heeler's tables as {child: (parents, table)} with names."""
    return {
        model.names[child]: ([model.names[parent] for parent in parents], table)
        for child, parents, table in model.cpts
    }


def assert_same_tables(model, other):
    ours = tables_by_name(model)
    assert set(ours) == set(other.nodes())
    for cpd in other.get_cpds():
        parents, table = ours[cpd.variable]
        theirs = cpd.values.transpose(
            [cpd.variables.index(name) for name in [*parents, cpd.variable]]
        )
        for axis, name in enumerate([*parents, cpd.variable]):
            # Their states may be in another order; labels decide.
            names = [str(label) for label in cpd.state_names[name]]
            wanted = list(model.value_names[model.index(name)])
            theirs = np.take(theirs, [names.index(label) for label in wanted], axis)
        np.testing.assert_allclose(theirs, table, rtol=1e-12)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.filterwarnings("ignore")
def test_pgmpy_reads_what_is_written(tmp_path, pgmpy_bif, seed):
    cardinalities = np.random.default_rng(seed).integers(2, 5, 6)
    values = [[f"s{v}_{k}" for k in range(count)] for v, count in enumerate(cardinalities)]
    model = random_network(seed, 6, [f"v{v}" for v in range(6)], values, cardinalities)
    path = tmp_path / "net.bif"
    io.write(model, path)
    assert_same_tables(model, pgmpy_bif.BIFReader(str(path)).get_model())


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.filterwarnings("ignore")
def test_what_pgmpy_writes_is_read(tmp_path, pgmpy_bif, seed):
    cardinalities = np.random.default_rng(seed).integers(2, 5, 6)
    values = [[f"s{v}_{k}" for k in range(count)] for v, count in enumerate(cardinalities)]
    model = random_network(seed, 6, [f"v{v}" for v in range(6)], values, cardinalities)
    first, second = tmp_path / "first.bif", tmp_path / "second.bif"
    io.write(model, first)
    theirs = pgmpy_bif.BIFReader(str(first)).get_model()
    second.write_text(str(pgmpy_bif.BIFWriter(theirs)))
    assert_same_tables(io.read(second), theirs)
