"""What `heeler.certify` answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from heeler.estimate.chains import COUPLED
from heeler.estimate.coupled import Coupled, couple
from heeler.model.base import Model


@dataclass(frozen=True)
class Certificate:
    """A proved bound on a distance, or the reason why there is none; made by `heeler.certify`.

    Attributes
    ----------
    certified : bool
        Whether there is a bound that says something. False where no theorem applies, and where the
        bound is vacuous: as large as the largest possible distance.
    theorem : str or None
        What the bound was proved by.
    bound : float or None
        The distance is at most this after `sweeps`; None where no theorem applies.
    sweeps : int or None
        Passes of the scan: those asked about, or those that are enough for `epsilon`.
    steps : int or None
        Single updates: with `epsilon` these are enough already, where that is known.
    epsilon : float or None
        The distance that was asked for.
    distance : str
        What is bounded.
    vacuous : bool
        Whether a theorem applies and says nothing.
    reason : str or None
        Why there is no certificate.
    details : dict
        Constants of the theorem, and the bounds of other theorems.
    notes : tuple of str
        What the bound takes for granted.
    model : Model
        The model.
    settings : dict
        Driver, scan, context and temperature.
    """

    certified: bool
    theorem: str | None
    bound: float | None
    sweeps: int | None
    steps: int | None
    epsilon: float | None
    distance: str
    vacuous: bool
    reason: str | None
    details: dict[str, Any]
    notes: tuple[str, ...]
    model: Model
    settings: dict[str, Any]
    _asked: dict[str, Any] = field(repr=False)

    def couple(self, **options: Any) -> Coupled:
        """Estimate the same distance by coupled chains: no proof, but an answer for any model.

        Parameters
        ----------
        **options
            Further arguments of `heeler.couple`: pairs, seed, lag, most_sweeps.

        Returns
        -------
        Coupled
            The estimate.
        """
        return couple(self.model, **self._asked, **options)

    def to_dict(self) -> dict[str, Any]:
        """Give the answer by name.

        Returns
        -------
        dict
            Plain numbers and texts.
        """
        names = ("certified", "theorem", "bound", "sweeps", "steps", "epsilon", "distance")
        names += ("vacuous", "reason", "details", "settings")
        return {name: getattr(self, name) for name in names} | {"notes": list(self.notes)}

    def __repr__(self) -> str:
        """Show the answer, what proves it, and what it takes for granted."""
        how = ", ".join(f"{key} {value}" for key, value in self.settings.items())
        if self.certified:
            lines = [f"certified: distance <= {self.bound:.4g} after {self.sweeps} sweeps"]
            if self.epsilon is not None and self.steps is not None:
                lines[0] += f"; {self.steps} updates are enough for {self.epsilon:g}"
        elif self.vacuous:
            lines = [f"vacuous: {self.theorem} bounds the distance by {self.bound:.4g} only"]
        elif self.bound is not None:
            gives = f"{self.theorem} gives {self.bound:.4g}, more than {self.epsilon:g}"
            lines = [f"no certificate: {gives}"]
        else:
            lines = ["no certificate"]
        lines.append(f"  distance: {self.distance}")
        lines.append(f"  run: {how}")
        if self.certified:
            lines.append(f"  by: {self.theorem}")
        if self.reason is not None:
            lines.append(f"  because {self.reason}")
        lines += [f"  note: {note}" for note in self.notes]
        if not self.certified and isinstance(self._asked["driver"], COUPLED):
            lines.append("  for an estimate by coupled chains: .couple()")
        return "\n".join(lines)
