from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._pliant import InputError

if TYPE_CHECKING:
    from ._body import Body


class Grab:
    """A vertex of a body that a hand holds: what `Simulation.grab` returns. Move it by `target`, let go by `release`."""

    def __init__(self, body: Body, vertex: int, target: ArrayLike, stiffness: float):
        self._body = body
        self._vertex = vertex
        self._stiffness = float(stiffness)
        self._is_held = True
        self.target = np.asarray(target, dtype=float)

    @property
    def body(self) -> Body:
        return self._body

    @property
    def vertex(self) -> int:
        """The number of the vertex in its body."""
        return self._vertex

    @property
    def stiffness(self) -> float:
        """N/m"""
        return self._stiffness

    @property
    def target(self) -> NDArray[np.float64]:
        """Where it is pulled to, m; assign to move it."""
        return self._target

    @target.setter
    def target(self, place: ArrayLike) -> None:
        target = np.array(place, dtype=float)
        if target.shape != (3,) or not np.isfinite(target).all():
            raise InputError(f"a grab is pulled to a place, three finite numbers, not {place!r}")
        self._target = target

    @property
    def force(self) -> NDArray[np.float64]:
        """(3,) by which it pulls the vertex now, N; zero when it has been released."""
        if not self._is_held:
            return np.zeros(3)
        force: NDArray[np.float64] = self._stiffness * (self._target - self._body.positions[self._vertex])
        return force

    def release(self) -> None:
        """Lets go, from the next step on."""
        self._is_held = False

    def __repr__(self) -> str:
        return f"<pliant.Grab: vertex {self._vertex} of {self._body.name!r} to {self._target.tolist()}>"
