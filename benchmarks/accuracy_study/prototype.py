"""Numbers of the prototypes that came before the library, to be found again.

They counted states (no Rao-Blackwellisation, unless said) and began herding from uniform random
weights.
"""

# (graph, label) -> {sweeps: (joint, site)}; couplings and fields +-0.5, medians of 5.
SMALL: dict[tuple[str, str], dict[int, tuple[float, float]]] = {
    ("K6", "random"): {10_000: (2.3e-2, 3.5e-3), 1_000_000: (2.7e-3, 4.9e-4)},
    ("K6", "herded full"): {10_000: (1.6e-3, 2.1e-4), 1_000_000: (1.8e-5, 3.1e-6)},
    ("3x3 grid", "random"): {10_000: (7.4e-2, 2.8e-3), 1_000_000: (7.7e-3, 6.7e-4)},
    ("3x3 grid", "herded neighbours"): {
        10_000: (7.6e-2, 2.0e-4),
        1_000_000: (1.0e-2, 2.0e-5),
        10_000_000: (7e-3, 1.8e-5),
    },
    ("3x3 grid", "herded radius(2)"): {
        10_000: (6.5e-2, 3.0e-4),
        1_000_000: (6.3e-3, 4.2e-6),
        10_000_000: (2.6e-3, 2.8e-6),
    },
    ("3x3 grid", "herded full"): {
        10_000: (1.3e-2, 1.0e-3),
        1_000_000: (1.3e-4, 6.9e-6),
        10_000_000: (1.3e-5, 8e-7),
    },
    ("3x3 grid", "herded neighbours, uniform scan"): {
        10_000: (7.4e-2, 3.9e-3),
        1_000_000: (7.9e-3, 4.0e-4),
    },
    ("chain of 8", "random"): {10_000: (5.1e-2, 3.9e-3), 1_000_000: (5.7e-3, 4.0e-4)},
    ("chain of 8", "herded neighbours"): {10_000: (5.3e-2, 1.9e-4), 1_000_000: (9.2e-3, 2.5e-5)},
    ("chain of 8", "herded radius(2)"): {10_000: (5.1e-2, 1.2e-4), 1_000_000: (6.4e-3, 2.6e-6)},
    ("chain of 8", "herded full"): {10_000: (6.4e-3, 3.6e-4), 1_000_000: (6.3e-5, 3.0e-6)},
    ("4-cycle", "herded neighbours"): {10_000: (1.2e-2, 1.9e-4), 1_000_000: (4.3e-3, 2.6e-5)},
}

# strength -> label -> site error after 10^6 sweeps, 3x3 grids.
STRENGTHS: dict[str, dict[str, float]] = {
    "0.25": {
        "random": 4.7e-4,
        "herded neighbours": 5.2e-6,
        "herded radius(2)": 3.2e-6,
        "herded full": 4.6e-6,
    },
    "0.5": {
        "random": 6.7e-4,
        "herded neighbours": 2.0e-5,
        "herded radius(2)": 4.2e-6,
        "herded full": 6.9e-6,
    },
    "1": {
        "random": 9.8e-4,
        "herded neighbours": 1.8e-4,
        "herded radius(2)": 1.8e-5,
        "herded full": 2.2e-5,
    },
    "2": {
        "random": 1.5e-3,
        "herded neighbours": 1.2e-3,
        "herded radius(2)": 2.1e-4,
        "herded full": 1.0e-4,
    },
}

# family -> label -> {sweeps: (site, pair)}, means of 8.
GRIDS: dict[str, dict[str, dict[int, tuple[float, float]]]] = {
    "4x4 grid +-0.25": {
        "random": {2**10: (1.2e-2, 1.2e-2), 2**22: (2.0e-4, 2.2e-4)},
        "herded neighbours": {2**10: (1.0e-3, 2.1e-3), 2**22: (4.2e-6, 2.6e-5)},
    },
    "4x4 grid +-0.5": {
        "random": {2**10: (1.3e-2, 1.1e-2), 2**22: (1.8e-4, 1.9e-4)},
        "herded neighbours": {2**10: (1.4e-3, 2.8e-3), 2**22: (3.7e-5, 1.1e-4)},
    },
    "4x4 grid +-1": {
        "random": {2**10: (1.7e-2, 1.4e-2), 2**22: (2.9e-4, 2.1e-4)},
        "herded neighbours": {2**10: (4.0e-3, 4.3e-3), 2**22: (3.4e-4, 3.3e-4)},
    },
    "4x4 grid +-2": {
        "random": {2**10: (8.1e-2, 3.2e-2), 2**22: (1.2e-3, 5.1e-4)},
        "herded neighbours": {2**10: (2.6e-2, 9.5e-3), 2**22: (1.4e-3, 5.2e-4)},
    },
    "K10 +-0.25": {
        "random": {2**10: (1.2e-2, 1.4e-2), 2**22: (2.1e-4, 1.9e-4)},
        "herded neighbours": {2**10: (7.9e-3, 6.1e-3), 2**22: (3.9e-6, 2.9e-6)},
    },
}

# label -> site errors after 10^2, 10^3, 10^4, 10^5 sweeps; n = 16, scale 1, Rao-Blackwellised.
DENSE: dict[str, tuple[float, ...]] = {
    "random": (8.5e-3, 2.3e-3, 7.6e-4, 2.5e-4),
    "herded binned(4)": (1.6e-3, 2.9e-4, 8e-5, 7e-5),
    "herded binned(16)": (2.5e-3, 3.2e-4, 6e-5, 2e-5),
    "herded binned(64)": (4.4e-3, 4.6e-4, 8e-5, 2e-5),
}

# (beta, label) -> bias of the energy per site after 2^15 sweeps, 64x64 torus.
TORUS: dict[tuple[str, str], float] = {
    ("0.3", "random"): 8e-5,
    ("0.3", "herded neighbours"): 6.2e-4,
    ("0.3", "herded shared"): 6.6e-3,
    ("0.44", "random"): -3e-3,
    ("0.44", "herded neighbours"): -1.6e-2,
    ("0.44", "herded shared"): -5.7e-2,
}

# strength -> {label: (plain, Rao-Blackwellised)} after 10,000 sweeps; 10x10 grids, fields +-0.5.
LARGE: dict[str, dict[str, tuple[float, float]]] = {
    "0.25": {"random": (4.4e-3, 1.1e-3), "herded neighbours": (1.6e-4, 7.9e-5)},
    "0.5": {"random": (4.6e-3, 2.3e-3), "herded neighbours": (4.1e-4, 3.8e-4)},
    "1": {"random": (9.2e-3, 7.8e-3), "herded neighbours": (2.7e-3, 2.7e-3)},
}
