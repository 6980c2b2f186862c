"""Clean a noisy picture: the posterior of an Ising prior, herded.

A disc is seen through noise. The model says that neighbouring pixels tend to agree; the field of
each pixel is half the log odds that what was seen there gives on its own.
"""

import numpy as np

import heeler

SIDE, NOISE, COUPLING = 40, 1.5, 0.6

y, x = np.mgrid[0:SIDE, 0:SIDE] - SIDE / 2
picture = (np.hypot(x, y) < SIDE / 3).astype(int)
seen = 2 * picture - 1 + NOISE * np.random.default_rng(1).standard_normal(picture.shape)

model = heeler.lattice(seen.shape, coupling=COUPLING, field=seen / NOISE**2)
run = heeler.sample(model, driver="herded", sweeps=100, burn_in=20, seed=1)
probability = run.marginals.array[:, 1].reshape(picture.shape)

for row in probability[::2]:
    print("".join(" .:#"[min(int(4 * p), 3)] for p in row))
print(f"wrong pixels: {np.mean((seen > 0) != picture):.1%} as seen, ", end="")
print(f"{np.mean((probability > 0.5) != picture):.1%} after {run.stats['sweeps']} sweeps")
