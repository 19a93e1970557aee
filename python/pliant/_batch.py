from __future__ import annotations

import operator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _pliant
from ._pliant import InputError
from ._reports import StepReport
from ._simulation import BodyLike, Simulation


class Batch:
    """Many states of one simulation's model, stepped side by side on all cores.

    >>> batch = pliant.Batch(sim, 64)
    >>> batch.velocities = batch.velocities + kicks                  # (64, n, 3)
    >>> reports = batch.step(100)
    >>> batch.positions                                              # (64, n, 3), m

    Every state begins where the simulation is, and goes on with the bits that the simulation itself would have. Bodies,
    loads and solver are those of the simulation when the batch was made; functions of the time (of loads, motions and
    muscles) are not called.
    """

    def __init__(self, simulation: Simulation, count: int):
        functions = simulation._drivers or simulation._load_drivers or simulation._muscle_drivers or simulation._gravity_driver
        if functions or simulation._functions:
            raise InputError("a batch takes no functions: give motions, loads, gravity and muscles as keyframes, and leave out energies")
        try:
            count = operator.index(count)
        except TypeError:
            raise InputError(f"a batch has a whole number of states, not {count!r}") from None
        self.simulation = simulation
        self._core = _pliant.Batch(simulation._ready(), count)

    def __len__(self) -> int:
        return len(self._core)

    @property
    def time(self) -> float:
        """Of the states, s."""
        return self._core.time

    @property
    def positions(self) -> NDArray[np.float64]:
        """(states, nodes, 3), m: a copy. Assigning an array of the same shape moves all nodes."""
        return self._core.get_positions()

    @positions.setter
    def positions(self, x: ArrayLike) -> None:
        self._core.set_positions(np.ascontiguousarray(x, dtype=float))

    @property
    def velocities(self) -> NDArray[np.float64]:
        """(states, nodes, 3), m/s, likewise."""
        return self._core.get_velocities()

    @velocities.setter
    def velocities(self, v: ArrayLike) -> None:
        self._core.set_velocities(np.ascontiguousarray(v, dtype=float))

    def positions_of(self, body: BodyLike) -> NDArray[np.float64]:
        """(states, nodes of the body, 3), m."""
        return self.positions[:, self.simulation._body_of(body).nodes]

    def step(self, steps: int = 1) -> list[StepReport]:
        """Takes so many steps of every state. Returns the last report of each; a state whose step fails stops there."""
        if steps < 1:
            raise InputError(f"'steps' must be at least 1, but is {steps}")
        return [StepReport._from(values) for values in self._core.step(int(steps))]
