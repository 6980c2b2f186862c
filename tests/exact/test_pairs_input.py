"""What `exact.pairs` takes and refuses."""

import numpy as np
import pytest

import heeler
from heeler import exact


def test_pairs_must_be_pairs_of_known_variables():
    model = heeler.factor_graph([2, 2], [((0, 1), np.ones(4))], names=["rain", "wet"])
    for bad in ([("rain",)], ["rain"], [(0, 1, 1)]):
        with pytest.raises(ValueError, match="'pairs' parameter"):
            exact.pairs(model, bad)
    with pytest.raises(ValueError, match="rian"):
        exact.pairs(model, [("rian", "wet")])
    found = exact.pairs(model, [("wet", "rain")])
    with pytest.raises(TypeError, match="two variables"):
        found["wet"]
    assert len(found) == 1
    assert repr(found) == "Pairs(1 pairs of 2 variables)"
    assert not found["wet", "rain"].flags.writeable
