"""A progress bar with rate and time left, drawn at most ten times a second."""

import sys
import time
from typing import Any

from heeler.run.session import Limits, Session

SHOW_AFTER = 2.0  # seconds: shorter runs show nothing unless asked
REFRESH = 0.1


class Progress:
    """Watches a session and shows how far it is.

    Parameters
    ----------
    limits
        When the run stops.
    always
        True: from the first moment; None: after two seconds on a terminal.
    """

    def __init__(self, limits: Limits, always: bool | None) -> None:
        """Show nothing yet."""
        self.limits = limits
        self.wanted = always
        self.begin = time.perf_counter()
        self.next_look = self.begin + (0.0 if always else SHOW_AFTER)
        self.bar: Any = None
        self.task: Any = None
        self.first_pass: int | None = None

    def __call__(self, session: Session) -> None:
        """Look, if it is time to."""
        now = time.perf_counter()
        if self.first_pass is None:
            self.first_pass = session.passes
        if now < self.next_look:
            return
        self.next_look = now + REFRESH
        if self.bar is None:
            if self.wanted is None and not sys.stderr.isatty():
                self.next_look = float("inf")
                return
            self.bar = self._open()
            self.task = self.bar.add_task("", total=1.0, rate="", left="")
        elapsed = now - self.begin
        share = self._share(session, elapsed)
        updates = session.rate * len(session.model.free) * session.engine.lanes
        left = f"{elapsed * (1 / share - 1):.0f} s left" if share > 0 else ""
        self.bar.update(
            self.task,
            completed=share,
            description=f"{session.passes:,} sweeps",
            rate=f"{updates / 1e6:.3g} M updates/s",
            left=left,
            refresh=True,
        )

    def _share(self, session: Session, elapsed: float) -> float:
        """Estimate the done part of the work, by the limit that will be reached first."""
        shares = []
        if self.limits.sweeps:
            begin = self.first_pass or 0
            total = self.limits.sweeps + session.settings.burn_in - begin
            shares.append((session.engine.passes - begin) / max(total, 1))
        if self.limits.seconds:
            shares.append(elapsed / self.limits.seconds)
        return min(max(shares, default=0.0), 1.0)

    def _open(self) -> Any:
        """Draw an empty bar."""
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn
        from rich.progress import Progress as Bar

        bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f}%"),
            TextColumn("{task.fields[rate]}"),
            TextColumn("{task.fields[left]}"),
            console=Console(stderr=True),
            transient=True,
            auto_refresh=False,
        )
        bar.start()
        return bar

    def close(self) -> None:
        """Take the bar away."""
        if self.bar is not None:
            self.bar.stop()
