"""UAI files: models, evidence, queries and results of the inference competitions.

The model format, free in its white space: the word `MARKOV` or `BAYES`; the number of variables
and their cardinalities; the number of functions and for each the size of its scope and the scope;
then for each function the number of entries and the entries, the scope's last variable fastest. In
`BAYES` files every function is the distribution of its scope's last variable given the others.
Lines that begin with `c`, and everything from `#` to the end of a line, are comments.
"""

from heeler.io.uai.evidence import read_evidence, read_query, write_evidence
from heeler.io.uai.model import UaiModel, parse, read
from heeler.io.uai.results import (
    Results,
    read_results,
    write_log_z,
    write_marginals,
    write_state,
)
from heeler.io.uai.writer import write

__all__ = [
    "Results",
    "UaiModel",
    "parse",
    "read",
    "read_evidence",
    "read_query",
    "read_results",
    "write",
    "write_evidence",
    "write_log_z",
    "write_marginals",
    "write_state",
]
