"""Models: what a distribution is, in the representation that suits it best."""

from heeler.model.base import Model
from heeler.model.bayes_net import BayesNet
from heeler.model.boltzmann import Boltzmann
from heeler.model.chain import Chain
from heeler.model.factor_graph import FactorGraph
from heeler.model.ising import Ising
from heeler.model.lattice import Lattice
from heeler.model.potts import Potts
from heeler.model.rbm import RBM
from heeler.model.start import NoStateFound, first_state

__all__ = [
    "RBM",
    "BayesNet",
    "Boltzmann",
    "Chain",
    "FactorGraph",
    "Ising",
    "Lattice",
    "Model",
    "NoStateFound",
    "Potts",
    "first_state",
]
