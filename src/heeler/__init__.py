"""Sampling from discrete probability models: Gibbs, herded Gibbs and optimised scans.

The public names are found lazily, so that importing heeler costs no more than importing numpy.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

# Public name -> "module:attribute", or "module" alone for a public subpackage.
_PUBLIC = {
    "Certificate": "heeler.estimate.certificate:Certificate",
    "CompleteBounds": "heeler.estimate.herded:CompleteBounds",
    "Coupled": "heeler.estimate.coupled:Coupled",
    "DoGS": "heeler.scan.dogs:DoGS",
    "EmptyBounds": "heeler.estimate.herded:EmptyBounds",
    "ExactDraws": "heeler.estimate.past:ExactDraws",
    "FullBounds": "heeler.estimate.herded:FullBounds",
    "Greedy": "heeler.driver:Greedy",
    "Herded": "heeler.driver:Herded",
    "Metropolis": "heeler.driver:Metropolis",
    "Model": "heeler.model.base:Model",
    "Modified": "heeler.driver:Modified",
    "NoStateFound": "heeler.model.start:NoStateFound",
    "NotCoalesced": "heeler.estimate.past:NotCoalesced",
    "NotMonotone": "heeler.estimate.monotone:NotMonotone",
    "Kernel": "heeler.run.step:Kernel",
    "Mixture": "heeler.run.kernels.composite:Mixture",
    "Conditionals": "heeler.run.kernels.proposals:Conditionals",
    "Cycle": "heeler.run.kernels.composite:Cycle",
    "Density": "heeler.model.density:Density",
    "Global": "heeler.run.kernels.continuous:Global",
    "SamplingError": "heeler.run.careful:SamplingError",
    "Slice": "heeler.run.kernels.continuous:Slice",
    "Walk": "heeler.run.kernels.continuous:Walk",
    "Proposal": "heeler.run.kernels.proposals:Proposal",
    "Quasi": "heeler.driver:Quasi",
    "Random": "heeler.driver:Random",
    "ReadError": "heeler.io:ReadError",
    "Run": "heeler.run.result:Run",
    "SingleSite": "heeler.run.kernels.single_site:SingleSite",
    "Swap": "heeler.run.kernels.proposals:Swap",
    "State": "heeler.run.step:State",
    "Tempering": "heeler.run.kernels.tempering:Tempering",
    "anneal": "heeler.annealing.anneal:anneal",
    "bayes_net": "heeler.model.bayes_net:bayes_net",
    "boltzmann": "heeler.model.boltzmann:boltzmann",
    "certify": "heeler.estimate.certify:certify",
    "chain": "heeler.model.chain:chain",
    "compare_scans": "heeler.scan.compare:compare_scans",
    "couple": "heeler.estimate.coupled:couple",
    "coupling_bounds": "heeler.scan.variation:coupling_bounds",
    "driver": "heeler.driver",
    "exact": "heeler.exact",
    "exact_draws": "heeler.estimate.past:exact_draws",
    "factor_graph": "heeler.model.factor_graph:factor_graph",
    "herd": "heeler.herding:herd",
    "herded_bounds": "heeler.estimate.herded:herded_bounds",
    "influence": "heeler.scan.influence.bounds:influence",
    "io": "heeler.io",
    "ising": "heeler.model.ising:ising",
    "lab": "heeler.exact.lab",
    "lattice": "heeler.model.lattice:lattice",
    "load": "heeler.run.saving:load",
    "log_z": "heeler.annealing.log_z:log_z",
    "mean_field": "heeler.exact.mean_field:mean_field",
    "model": "heeler.model",
    "optimise_scan": "heeler.scan.optimise:optimise_scan",
    "potts": "heeler.model.potts:potts",
    "rbm": "heeler.model.rbm:rbm",
    "read": "heeler.io:read",
    "sample": "heeler.run.sample:sample",
    "scan": "heeler.scan",
    "shortest_scan": "heeler.scan.optimise:shortest_scan",
    "variation": "heeler.scan.variation:variation",
    "write": "heeler.io:write",
}

__all__ = ["__version__", *_PUBLIC]  # noqa: PLE0604 (the table holds strings only)


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for."""
    try:
        place = _PUBLIC[name]
    except KeyError:
        raise AttributeError(f"module 'heeler' has no attribute {name!r}") from None
    module, _, attribute = place.partition(":")
    value: Any = import_module(module)
    if attribute:
        value = getattr(value, attribute)
    globals()[name] = value  # the next access does not come here
    return value


def __dir__() -> list[str]:
    """List the public names, also those not imported yet."""
    return sorted(__all__)
