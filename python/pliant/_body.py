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

    def _forget_mesh(self) -> None:
        """It may have been cut or changed."""
        self._mesh = None

    @property
    def simulation(self) -> Simulation:
        return self._simulation

    @property
    def name(self) -> str:
        return self._name

    @property
    def mesh(self) -> TetMesh:
        """The mesh as it is in the model, moved and scaled as the body says. A network of springs has none.

        Of several processes, each has its part of it from the first step on, and all have the whole before.
        """
        if self._mesh is None:
            self._mesh = self._simulation._whole_mesh(self)
        if self._mesh is None and self.is_rigid:
            raise InputError(f"body '{self._name}' is rigid, and has no mesh; it has vertices and a surface")
        if self._mesh is None:
            self._mesh = self._simulation._body_data(self)["mesh"]
        if self._mesh is None:
            is_rod = self._name in self._simulation._tree.names("rod")
            kind = "rod" if is_rod else "network of springs"
            raise InputError(f"body '{self._name}' is a {kind}, which has no mesh; it has vertices")
        return self._mesh

    @property
    def vertices(self) -> NDArray[np.float64]:
        """(n, 3) rest positions of the vertices, m: what masks select from. Of a rigid body, those of its surface."""
        if self._mesh is None:
            self._mesh = self._simulation._whole_mesh(self)
        if self._mesh is not None:
            return self._mesh.vertices
        if self.is_rigid:
            return self._carried()[0]
        return self.rest_positions[: self._simulation._body_data(self)["vertices"]]

    @property
    def is_rigid(self) -> bool:
        """Whether `add_rigid` made it: its four nodes carry a surface."""
        return self._simulation._body_data(self)["carried"] is not None

    def _carried(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        carried = self._simulation._body_data(self)["carried"]
        if carried is None:
            raise InputError(f"body '{self._name}' is not rigid; its nodes are where `positions` says")
        return carried

    @property
    def surface_positions(self) -> NDArray[np.float64]:
        """(n, 3) positions of the vertices that `surface` names, m: of a rigid body, of what its nodes carry."""
        if self.is_rigid:
            return self._carried()[1] @ self.positions
        return self.positions

    @property
    def pose(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Where a rigid body is: its centre of mass (3,), m, and the rotation (3, 3) that took it from rest there."""
        self._carried()
        rest, now = self.rest_positions, self.positions
        centre = now.mean(axis=0)
        u, _, vt = np.linalg.svd((now - centre).T @ np.linalg.pinv((rest - rest.mean(axis=0)).T))
        return centre, u @ np.diag([1.0, 1.0, np.linalg.det(u @ vt)]) @ vt

    @property
    def surface(self) -> NDArray[np.int32]:
        """(k, 3) triangles of the surface, by vertices."""
        return self._simulation._body_data(self)["surface"]

    @property
    def visual(self) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
        """(n, 3) present positions, m, and (k, 3) triangles of the finer surface that moves with it (key `visual`)."""
        shown = self._simulation._ready().visual(self._simulation._index(self))
        if shown is None:
            raise InputError(f"body '{self._name}' has no visual mesh; give it one: add_body(..., visual=\"fine.obj\")")
        return shown

    @property
    def nodes(self) -> slice:
        """Where its nodes are among those of all bodies. The first nodes are the mesh's vertices, in their order."""
        data = self._simulation._body_data(self)
        return slice(data["begin"], data["end"])

    @property
    def elements(self) -> NDArray[np.int32]:
        """(m, k) nodes of the elements, counted within the body; k is 4, 10 or 20 for order 1, 2 or 3, 3 for shells,
        2 for springs and rods."""
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
