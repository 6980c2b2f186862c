"""Drivers: which value an update takes, given the probabilities of the values."""

from heeler.driver.contexts import Binned, Context, Full, Neighbours, Radius, Shared, as_context
from heeler.driver.drivers import (
    Driver,
    Greedy,
    Herded,
    Metropolis,
    Modified,
    Quasi,
    Random,
    as_driver,
)

__all__ = [
    "Binned",
    "Context",
    "Driver",
    "Full",
    "Greedy",
    "Herded",
    "Metropolis",
    "Modified",
    "Neighbours",
    "Quasi",
    "Radius",
    "Random",
    "Shared",
    "as_context",
    "as_driver",
]
