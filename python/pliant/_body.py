from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ._pliant import InputError, TetMesh

if TYPE_CHECKING:
    from ._simulation import Simulation


class Body:
    """A body of a simulation: what `Simulation.add_body` returns and `Simulation.bodies` lists."""

    def __init__(self, simulation: Simulation, name: str, mesh: TetMesh | None = None):
        self._simulation = simulation
        self._name = name
        self._mesh = mesh

    @property
    def simulation(self) -> Simulation:
        return self._simulation

    @property
    def name(self) -> str:
        return self._name

    @property
    def mesh(self) -> TetMesh:
        """The mesh as it is in the model, moved and scaled as the body says. A network of springs has none."""
        if self._mesh is None:
            self._mesh = self._simulation._body_data(self)["mesh"]
        if self._mesh is None:
            raise InputError(f"body '{self._name}' is a network of springs, which has no mesh; it has vertices")
        return self._mesh

    @property
    def vertices(self) -> NDArray[np.float64]:
        """(n, 3) rest positions of the vertices, m: what masks select from."""
        if self._mesh is not None:
            return self._mesh.vertices
        return self.rest_positions[: self._simulation._body_data(self)["vertices"]]

    @property
    def surface(self) -> NDArray[np.int32]:
        """(k, 3) triangles of the surface, by vertices."""
        return self._simulation._body_data(self)["surface"]

    @property
    def nodes(self) -> slice:
        """Where its nodes are among those of all bodies. The first nodes are the mesh's vertices, in their order."""
        data = self._simulation._body_data(self)
        return slice(data["begin"], data["end"])

    @property
    def elements(self) -> NDArray[np.int32]:
        """(m, k) nodes of the elements, counted within the body; k is 4, 10 or 20 for order 1, 2 or 3, 2 for springs."""
        return self._simulation._body_data(self)["elements"]

    @property
    def order(self) -> int:
        return self._simulation._body_data(self)["order"]

    @property
    def rest_positions(self) -> NDArray[np.float64]:
        """(n, 3) rest positions of the nodes, m."""
        return self._simulation.rest_positions(self)

    @property
    def positions(self) -> NDArray[np.float64]:
        """(n, 3) positions, m: a writable view of the state."""
        return self._simulation.positions(self)

    @property
    def velocities(self) -> NDArray[np.float64]:
        """(n, 3) velocities, m/s: a writable view of the state."""
        return self._simulation.velocities(self)

    def __repr__(self) -> str:
        return f"<pliant.Body {self._name!r}>"
