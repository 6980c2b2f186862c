"""Engines for tests: the general one of any model, made as `heeler.sample` makes it."""

from unittest.mock import patch

import numpy as np

from heeler.driver import as_driver
from heeler.kernel import choice
from heeler.kernel.general import GeneralEngine
from heeler.run import build
from heeler.run.settings import Keep, Settings
from heeler.scan import as_scan


def general(model, driver="random", scan="systematic", states=None, sweeps=None, **options):
    """Make a general engine, whatever faster one `heeler.sample` might choose.

    Options are those of `Settings`; `pairs` and `joint` go into what is kept. With ``fastest=True``
    it is the engine that `heeler.sample` would choose.
    """
    make = choice.engine_for if options.pop("fastest", False) else GeneralEngine
    lanes = options.pop("lanes", 1 if states is None else len(states))
    keep = Keep(
        pairs=np.array(options.pop("pairs", ())).reshape(-1, 2).astype(np.int64),
        joint=options.pop("joint", False),
    )
    driver = as_driver(driver)
    context = options.pop("context", "auto" if driver.name == "herded" else None)
    settings = Settings(
        driver, as_scan(scan), context, lanes, options.pop("seed", 1), keep=keep, **options
    )
    if states is None:
        from heeler.model import first_state

        states = first_state(model, settings.seed, lanes)
    with patch.object(choice, "engine_for", make):
        return build._general_engine(model, settings, states, sweeps)
