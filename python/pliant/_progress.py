"""A line on a terminal that says how far a run is and how long it will take."""

from __future__ import annotations

import sys
import time

from ._reports import StepReport


def _format_seconds(seconds: float) -> str:
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600} h {whole // 60 % 60:02} min"


class Progress:
    """Shows at most ten lines a second, each over the one before."""

    def __init__(self, first_step: int, last_step: int, shown: bool | None):
        self._steps = last_step - first_step
        self._on = sys.stderr.isatty() if shown is None else shown
        self._begin = self._last = time.monotonic()
        self._taken = 0

    def update(self, report: StepReport, t: float) -> None:
        self._taken += 1
        now = time.monotonic()
        if not self._on or (self._taken < self._steps and now - self._last < 0.1):
            return
        self._last = now
        mean = (now - self._begin) / self._taken
        width = 24
        full = width * self._taken // max(self._steps, 1)
        iterations = f"{report.iterations} iteration{'' if report.iterations == 1 else 's'}"
        left = _format_seconds(mean * (self._steps - self._taken))
        sys.stderr.write(
            f"\r[{'#' * full}{'.' * (width - full)}] step {self._taken}/{self._steps}  t = {t:.3f} s  {iterations}  "
            f"{1e3 * mean:.1f} ms a step  {left} left\x1b[K"
        )
        sys.stderr.flush()

    def end(self) -> None:
        if self._on and self._taken:
            sys.stderr.write("\n")
            sys.stderr.flush()
