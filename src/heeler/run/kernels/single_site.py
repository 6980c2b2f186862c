"""Single-site updates as a kernel: Gibbs, herded Gibbs, Metropolis and their relatives."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from heeler.driver import as_driver
from heeler.model.base import Model
from heeler.run.auto import choose, warn_of
from heeler.run.build import build_engine
from heeler.run.sample import resolve
from heeler.run.session import Limits
from heeler.run.settings import Settings
from heeler.run.step import Kernel
from heeler.scan import Sequence, Uniform, Weighted, as_scan

PLAIN_TEMPERATURE = 1.0  # as long as it is this very object, the run's temperature holds


@dataclass(frozen=True)
class SingleSite(Kernel):
    """The kernel of single-site updates: Gibbs, herded Gibbs, Metropolis and their relatives.

    With a random driver every pass leaves the model's distribution invariant; a pass costs one
    update of every site in the scan.

    Parameters
    ----------
    driver, scan, context, temperature
        As in `heeler.sample`.
    """

    name: ClassVar[str] = "single_site"
    driver: Any = "random"
    scan: Any = "systematic"
    context: Any = "auto"
    temperature: Any = PLAIN_TEMPERATURE

    def __post_init__(self) -> None:
        """Check the driver's and the scan's names."""
        if not (isinstance(self.driver, str) and self.driver == "auto"):
            as_driver(self.driver)
        if not (isinstance(self.scan, str) and self.scan == "auto"):
            as_scan(self.scan)

    @property
    def chance(self) -> str:  # type: ignore[override]
        """What the spread of chains means."""
        auto = isinstance(self.driver, str) and self.driver == "auto"
        return "random" if auto else as_driver(self.driver).chance

    @property
    def title(self) -> str:
        """What to call the kernel among others: by its driver."""
        auto = isinstance(self.driver, str) and self.driver == "auto"
        return "auto" if auto else as_driver(self.driver).name

    def settings(self, model: Model, options: dict[str, Any]) -> Settings:
        """Resolve the settings of a run with this kernel.

        Parameters
        ----------
        model
            The model.
        options
            As `heeler.sample` checks them.

        Returns
        -------
        Settings
            What will be run.
        """
        mine = {
            "driver": self.driver,
            "scan": self.scan,
            "context": self.context,
            "temperature": self.temperature,
        }
        return resolve(model, options | mine, Limits())

    def engine(
        self, model: Model, settings: Settings, states: NDArray[Any], sweeps: int | None = None
    ) -> Any:
        """Make running chains, as a part of another kernel.

        Parameters
        ----------
        model
            The model, evidence included.
        settings
            Chains, seed, temperature, what is kept.
        states
            First states (lanes, n).
        sweeps
            Passes after burn-in, where known.

        Returns
        -------
        engine
            See the engine's contract in the design page.
        """
        if model.kind == "density":
            return self._discrete(model, settings, states)
        options = {"driver": self.driver, "scan": self.scan, "context": self.context}
        driver, scan, context, _ = choose(model, options, settings.keep, settings.temperature)
        mine = replace(settings, driver=driver, scan=scan, context=context, kernel=None)
        warn_of(model, mine)
        return build_engine(model, mine, states, sweeps)

    def _discrete(self, model: Any, settings: Settings, states: NDArray[Any]) -> Any:
        """Make running chains that update the discrete variables of a density."""
        from heeler.kernel.density_engine import FLIP, GIBBS
        from heeler.run.kernels.continuous import make_engine

        name = self.driver if isinstance(self.driver, str) else as_driver(self.driver).name
        kinds = {"random": GIBBS, "gibbs": GIBBS, "metropolis": FLIP}
        chosen = np.flatnonzero(model.values)
        if name not in kinds or not len(chosen) or self.scan not in ("auto", "systematic"):
            raise ValueError(
                "Single-site kernels on a density are 'gibbs' and 'metropolis', for its discrete "
                f"variables in their order. Got driver {name!r} and scan {self.scan!r} for "
                f"{len(chosen)} discrete variables."
            )
        return make_engine(model, settings, states, kinds[name], chosen)

    def words(self) -> dict[str, Any]:
        """Describe the kernel in plain values."""
        from heeler.run.saving import driver_words

        auto = isinstance(self.driver, str) and self.driver == "auto"
        context = getattr(self.context, "name", self.context)
        return {
            "name": self.name,
            "driver": "auto" if auto else driver_words(as_driver(self.driver)),
            "scan": _scan_words(self.scan),
            "context": context,
        }

    @staticmethod
    def from_words(words: dict[str, Any]) -> "SingleSite":
        """Make a kernel again.

        Parameters
        ----------
        words
            What `words` gave.

        Returns
        -------
        SingleSite
            The kernel.
        """
        from heeler.run.saving import driver_from

        driver = words["driver"]
        return SingleSite(
            driver if driver == "auto" else driver_from(driver),
            _scan_from(words["scan"]),
            words["context"],
        )


def _scan_words(scan: Any) -> Any:
    """Describe a scan: a name, or what makes it again."""
    if isinstance(scan, str):
        return scan
    scan = as_scan(scan)
    if isinstance(scan, Sequence):
        order = scan.order
        return {"order": [v if isinstance(v, str) else int(v) for v in order]}
    if isinstance(scan, Weighted):
        return {"weights": [float(w) for w in scan.weights], "steps": scan.steps}
    return {"uniform": scan.steps} if isinstance(scan, Uniform) else scan.name


def _scan_from(words: Any) -> Any:
    """Make a scan that `_scan_words` described."""
    if isinstance(words, str):
        return words
    if "order" in words:
        return Sequence(words["order"])
    if "weights" in words:
        return Weighted(words["weights"], words["steps"])
    return Uniform(words["uniform"])
