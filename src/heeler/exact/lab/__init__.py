"""The laboratory: small Markov chains as whole matrices.

`transition_matrix` gives the matrix of a kernel on a small model, `analyse` all that can be known
about it or about a matrix of one's own, `herded_kernel` the empirical kernel of a herded run,
`perron` the bounds on the largest eigenvalue of any matrix without negative entries.
"""

from heeler.exact.lab.analysis import Analysis, analyse
from heeler.exact.lab.herded import HerdedKernel, herded_kernel
from heeler.exact.lab.limits import TooLarge
from heeler.exact.lab.matrix import TransitionMatrix, transition_matrix
from heeler.exact.lab.spectrum import Minorisation, Perron, perron
from heeler.exact.lab.structure import Balance, CommunicatingClass

__all__ = [
    "Analysis",
    "Balance",
    "CommunicatingClass",
    "HerdedKernel",
    "Minorisation",
    "Perron",
    "TooLarge",
    "TransitionMatrix",
    "analyse",
    "herded_kernel",
    "perron",
    "transition_matrix",
]
