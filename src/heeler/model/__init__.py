"""Models: what a distribution is, in the representation that suits it best."""

from heeler.model.base import Model
from heeler.model.factor_graph import FactorGraph, factor_graph
from heeler.model.ising import Ising

__all__ = ["FactorGraph", "Ising", "Model", "factor_graph"]
