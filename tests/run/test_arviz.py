"""Runs handed to the real ArviZ, whichever version is installed."""

import json
import sys
import warnings

import numpy as np
import pytest

import heeler
from heeler.run.arviz import to_arviz


@pytest.fixture(scope="module")
def arviz():
    with warnings.catch_warnings():
        # ArviZ 0.23 announces its version 1 when it is imported.
        warnings.simplefilter("ignore")
        return pytest.importorskip("arviz", reason="ArviZ is not installed")


AGREE = [[3.0, 1.0], [1.0, 3.0]]
NAMES = ["rain", "chain", "wet/dry", "wet_dry"]


def network(names):
    edges = [((0, 1), AGREE), ((1, 2), AGREE), ((2, 3), AGREE), ((3,), [1.0, 2.0])]
    return heeler.factor_graph([2] * 4, edges, names=names)


def group(data, name):
    """Give a group as a dataset from either version."""
    found = data[name]
    return found.to_dataset() if hasattr(found, "to_dataset") else found


def sampled(model, **more):
    return heeler.sample(model, sweeps=40, thin=2, seed=3, keep="samples", progress=False, **more)


def test_named_variables(arviz):
    run = sampled(network(NAMES), driver="random")
    data = run.to_arviz()
    posterior = group(data, "posterior")
    # "chain" is a dimension, "/" would be a path, and "wet_dry" is taken.
    assert set(posterior.data_vars) == {"rain", "chain_", "wet_dry_", "wet_dry"}
    for v, name in enumerate(["rain", "chain_", "wet_dry_", "wet_dry"]):
        assert posterior[name].dims == ("chain", "draw")
        assert posterior[name].dtype == np.int64
        np.testing.assert_array_equal(posterior[name].values, run.samples[:, :, v])
    assert json.loads(posterior.attrs["renamed"]) == {"chain_": "chain", "wet_dry_": "wet/dry"}
    assert json.loads(posterior.attrs["value_names"])["rain"] == ["0", "1"]
    assert posterior.attrs["inference_library"] == "heeler"
    assert posterior.attrs["deterministic"] == 0
    assert posterior.attrs["seed"] == "3"
    assert "observed_data" not in (data.children if hasattr(data, "children") else data.groups())
    scores = group(data, "sample_stats")["lp"].values
    for chain, draw in ((0, 0), (3, 19), (1, 7)):
        assert scores[chain, draw] == pytest.approx(run.model.log_score(run.samples[chain, draw]))
    known = group(data, "constant_data")
    np.testing.assert_array_equal(known["marginal"].values, run.marginals.array)
    np.testing.assert_array_equal(known["marginal_error"].values, run.errors.array)
    assert arviz.__version__


@pytest.mark.parametrize("driver", ["herded", "greedy"])
def test_deterministic_chains_say_so(arviz, driver):
    data = to_arviz(sampled(network(NAMES), driver=driver))
    for attrs in (data.attrs, group(data, "posterior").attrs):
        assert attrs["deterministic"] == 1
        assert "R-hat" in attrs["deterministic_note"]
        assert attrs["driver"] == driver
    assert arviz.__version__


def test_evidence_is_observed(arviz):
    data = sampled(network(NAMES).given({"rain": 1}), driver="random").to_arviz()
    assert "rain" not in group(data, "posterior")
    assert group(data, "observed_data")["rain"].values.item() == 1
    assert arviz.__version__


def test_lattices_keep_their_shape(arviz):
    lattice = heeler.lattice((3, 5), coupling=0.2, field=0.1)
    run = sampled(lattice, driver="random")
    x = group(run.to_arviz(), "posterior")["x"]
    assert x.shape == (4, 20, 3, 5)
    np.testing.assert_array_equal(x.values.reshape(run.samples.shape), run.samples)
    clamped = sampled(lattice.given({4: 1}), driver="random").to_arviz()
    assert group(clamped, "posterior")["x"].shape == (4, 20, 15)
    assert group(clamped, "observed_data")["x_observed"].values.tolist().count(-1) == 14
    assert arviz.__version__


def test_arviz_can_work_with_it(arviz, tmp_path):
    """A summary has the means of the states; a file gives back what was written."""
    run = sampled(network(["a", "b", "c", "d"]), driver="random")
    data = run.to_arviz()
    summary = arviz.summary(data, round_to="none")
    expected = run.samples.mean(axis=(0, 1))
    np.testing.assert_allclose(summary.loc[["a", "b", "c", "d"], "mean"].astype(float), expected)
    for writer in ("h5netcdf", "h5py"):
        pytest.importorskip(writer, reason=f"{writer} is not installed")
    path = tmp_path / "run.nc"
    data.to_netcdf(str(path), engine="h5netcdf")
    again = arviz.from_netcdf(str(path), engine="h5netcdf")
    for name in "abcd":
        np.testing.assert_array_equal(
            group(again, "posterior")[name].values, group(data, "posterior")[name].values
        )


def test_runs_without_states_are_refused(monkeypatch):
    with pytest.raises(ValueError, match="keep='samples'"):
        to_arviz(heeler.sample(network(NAMES), sweeps=3, progress=False))
    short = heeler.sample(network(NAMES), sweeps=3, thin=9, keep="samples", progress=False)
    with pytest.raises(ValueError, match="after 9 sweeps"):
        to_arviz(short)
    monkeypatch.setitem(sys.modules, "arviz", None)
    with pytest.raises(ImportError, match=r"heeler\[arviz\]"):
        to_arviz(sampled(network(NAMES)))


@pytest.mark.usefixtures("arviz")
def test_densities():
    def logp(x):
        return -0.5 * (x[1] - x[0]) ** 2

    density = heeler.Density(logp, 2, discrete={"label": 2}, names=["label", "place"])
    run = heeler.sample(density, sweeps=30, chains=2, seed=1, keep="samples")
    data = run.to_arviz()
    posterior = group(data, "posterior")
    assert np.array_equal(posterior["place"].values, run.samples[:, :, 1])
    assert posterior["label"].values.dtype == np.int64
    scores = density.log_score(run.samples.reshape(-1, 2)).reshape(2, 30)
    assert np.allclose(group(data, "sample_stats")["lp"].values, scores)
    means = group(data, "constant_data")["mean"].values
    assert means.tolist() == run.means.array.tolist()
    plain = heeler.sample(heeler.Density(lambda x: -float(x @ x), 3), sweeps=5, keep="samples")
    assert group(plain.to_arviz(), "posterior")["x"].shape == (4, 5, 3)
