"""Ctrl-C that waits for the end of a chunk."""

import signal
import threading
from types import FrameType
from typing import Any, Self


class Interrupt:
    """While entered, Ctrl-C sets `pressed` instead of raising; a second press raises at once.

    Only the main thread can watch for it; elsewhere nothing changes.
    """

    def __init__(self) -> None:
        """Start unpressed."""
        self.pressed = False
        self._old: Any = None
        self._watching = False

    def __enter__(self) -> Self:
        """Take the signal over."""
        if threading.current_thread() is threading.main_thread():
            self._old = signal.signal(signal.SIGINT, self._press)
            self._watching = True
        return self

    def __exit__(self, *_: object) -> None:
        """Give the signal back."""
        if self._watching:
            signal.signal(signal.SIGINT, self._old)

    def _press(self, number: int, frame: FrameType | None) -> None:
        """Remember the first press; hand the second on."""
        if self.pressed:
            signal.signal(signal.SIGINT, self._old)
            if callable(self._old):
                self._old(number, frame)
        self.pressed = True
