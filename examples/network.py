"""Ask a Bayesian network: read it, observe something, compare with the exact answer."""

from pathlib import Path

import numpy as np

import heeler

network = heeler.read(Path(__file__).with_name("cancer.bif"))
cases = {
    "nothing is known": {},
    "a smoker": {"Smoker": "yes"},
    "a smoker with a positive X-ray": {"Smoker": "yes", "Xray": "positive"},
}

# One run for every set of evidence, in one call.
runs = heeler.sample(network, sweeps=20_000, seed=1, evidence=list(cases.values()))
for (case, evidence), run in zip(cases.items(), runs, strict=True):
    estimate = run.marginals["Cancer"][0]
    error = run.errors["Cancer"][0]
    exact = heeler.exact.marginals(network.given(evidence))["Cancer"][0]
    print(f"{case:31} P(cancer) = {estimate:.4f} +- {error:.4f}, exactly {exact:.4f}")
    if np.abs(estimate - exact) > 10 * max(error, 1e-4):
        print(
            "  the error bar does not cover the difference: herding's bias, or a model with zeros"
        )
