"""What all models share: names, evidence, digest, text, immutability, sizes."""

import hashlib
import subprocess
import sys

import numpy as np
import pytest

import heeler
from zoo import ZOO

RAIN = {
    "cardinalities": [2, 3],
    "factors": [(("wet", "sky"), np.arange(6.0))],
    "names": ["wet", "sky"],
    "value_names": [["no", "yes"], ["sun", "cloud", "storm"]],
}


def test_names_and_indices_mean_the_same():
    model = heeler.factor_graph(**RAIN)
    assert model.given({"sky": "storm"}).digest == model.given({1: 2}).digest
    assert model.index("sky") == model.index(np.int64(1)) == 1
    assert model.value_index("sky", "cloud") == 1
    assert list(model.value_names[1]) == ["sun", "cloud", "storm"]
    np.testing.assert_array_equal(model.blanket("sky"), [0])


def test_default_names_are_numbers():
    model = heeler.lattice((1000, 1000), 0.1)
    assert len(model.names) == 10**6
    assert model.names[123456] == "123456"
    assert model.index("123456") == model.index((123, 456)) == 123456
    assert list(model.value_names[5]) == ["0", "1"]
    assert "007" not in model.names
    assert model.names[-1] == "999999"


@pytest.mark.parametrize(
    ("evidence", "text"),
    [
        ({"skye": 0}, "Did you mean 'sky'"),
        ({"sky": "strom"}, "Did you mean 'storm'"),
        ({2: 0}, "from 0 to 1"),
        ({-1: 0}, "from 0 to 1"),
        ({"sky": 3}, "from 0 to 2"),
        ({"sky": 0, 1: 1}, "contradicts itself"),
        (np.array([0, 3]), "Got 3"),
        (np.array([0, 1, 0]), "shape"),
    ],
)
def test_wrong_evidence_is_named(evidence, text):
    with pytest.raises(ValueError, match=text):
        heeler.factor_graph(**RAIN).given(evidence)


@pytest.mark.parametrize("evidence", [None, [0, 1], {1.5: 0}, {0: None}])
def test_evidence_of_a_wrong_type_is_refused(evidence):
    with pytest.raises(TypeError):
        heeler.factor_graph(**RAIN).given(evidence)


def test_evidence_adds_up_and_the_first_model_stays():
    model = heeler.factor_graph(**RAIN)
    one = model.given({"wet": "yes"})
    both = one.given(np.array([-1, 2]))
    assert model.evidence is None
    np.testing.assert_array_equal(one.evidence, [1, -1])
    np.testing.assert_array_equal(both.evidence, [1, 2])
    np.testing.assert_array_equal(one.free, [1])
    assert both.free.size == 0
    assert both.log_score([1, 2]) == model.log_score([1, 2])
    assert both.log_score([0, 2]) == -np.inf
    np.testing.assert_array_equal(one.conditional("wet", [0, 0]), [0, 1])
    assert one.given({"wet": 1}).digest == one.digest
    assert model.given({}).digest == model.digest
    with pytest.raises(ValueError, match=r"'wet' is clamped to 'yes' and cannot be 'no'"):
        one.given({"wet": "no"})


@pytest.mark.parametrize("kind", ZOO)
def test_models_are_immutable_and_show_themselves(kind):
    model = ZOO[kind](np.random.default_rng(0))
    with pytest.raises(AttributeError, match="immutable"):
        model.cardinalities = None
    with pytest.raises(AttributeError, match="immutable"):
        del model.cardinalities
    arrays = [value for value in vars(model).values() if isinstance(value, np.ndarray)]
    assert arrays
    assert not any(array.flags.writeable for array in arrays)
    assert model.cardinalities.dtype == np.int32
    text = repr(model.given({0: 0}))
    assert "\n" not in text
    assert text.startswith(type(model).__name__)
    assert text.endswith(", 1 clamped)")


@pytest.mark.parametrize("kind", ZOO)
def test_digests_see_every_number_and_the_evidence(kind):
    model = ZOO[kind](np.random.default_rng(1))
    again = ZOO[kind](np.random.default_rng(1))
    assert model.digest == again.digest
    seen = {model.digest, model.given({0: 0}).digest, model.given({1: 0}).digest}
    count = 3
    for name, value in model._parts().items():
        if name in model.__dict__ and isinstance(value, np.ndarray) and value.size:
            for place in {0, value.size - 1}:
                other = ZOO[kind](np.random.default_rng(1))
                changed = value.copy()
                old = changed.flat[place]
                smallest = changed.dtype.kind == "f" and np.isfinite(old)
                changed.flat[place] = np.nextafter(old, 9) if smallest else max(old, -1) + 1
                other.__dict__[name] = changed
                seen.add(other.digest)
                count += 1
    assert len(seen) == count
    assert all(len(digest) == len(hashlib.sha256().hexdigest()) for digest in seen)


def test_digest_is_the_same_in_another_process():
    code = "import heeler; print(heeler.ising([(0, 1, 0.5), (2, 1, -0.25)], 0.125).digest)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    model = heeler.ising([(1, 2, -0.25), (0, 1, 0.5)], [0.125] * 3)
    assert found.stdout.strip() == model.digest


def test_digest_is_pinned():
    # A stored checkpoint names the digest of its model: it must not change unnoticed.
    digest = heeler.ising([(0, 1, 0.5)], -0.0).digest
    assert digest == heeler.ising([(0, 1, 0.5)], 0.0).digest
    assert digest == "5fc2355aa37d8d4ffd5cc57c3d7e6b28d6f9ac54c60ca20ba41d9212ae860b1a"


def test_the_users_arrays_stay_the_users():
    field, weights = np.zeros(3), np.zeros((3, 3))
    model, machine = heeler.ising([(0, 1, 1.0)], field), heeler.boltzmann(weights, field)
    table = np.ones(2)
    graph = heeler.factor_graph([2], [((0,), table)], log=True)
    field[0] = weights[0, 1] = table[0] = 9
    assert model.field[0] == machine.bias[0] == machine.weights[0, 1] == 0
    assert graph.log_tables[0] == 1


def test_importing_heeler_is_light():
    code = (
        "import sys, heeler; heeler.lattice((3, 3), 0.1).log_score([0] * 9);"
        "heeler.ising(([0], [1], [0.5])); print(sorted({'numba', 'scipy'} & set(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_public_names_can_be_listed_and_found():
    assert {"ising", "lattice", "factor_graph", "bayes_net", "rbm"} <= set(dir(heeler))
    assert heeler.ising is heeler.ising
    with pytest.raises(AttributeError, match="isink"):
        _ = heeler.isink


def test_a_million_sites_fit_in_16_megabytes():
    import tracemalloc

    field = np.zeros((1000, 1000))
    tracemalloc.start()
    model = heeler.lattice((1000, 1000), 0.4, field)
    model.given({0: 1})
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak <= 16 * 2**20
