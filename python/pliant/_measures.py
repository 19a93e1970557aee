"""The state of a simulation, and what is measured of it.

Of several processes (docs/scale.md), each has the nodes and elements of its part, and arrays are of those; `gather` puts
them together. What is a number is of the whole, and all processes ask for it together.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._base import Base, BodyLike, Floats
from ._pliant import InputError, Snapshot, State
from ._reports import Energies


class Measures(Base):
    """What there is to read; see `Simulation`."""

    @property
    def state(self) -> State:
        """Positions, velocities, time and activations: the living state. Assigning copies a state into it.

        It is what there is to see and to change. Some solvers keep more from step to step (a matrix, the colours of a grid),
        which stays as it is when a state is assigned; to go back and take the same steps again to the last bit, use
        `snapshot` and `restore`.
        """
        return self._ready().state

    @state.setter
    def state(self, state: State) -> None:
        self._ready().set_state(state)

    def snapshot(self) -> Snapshot:
        """Everything that the steps to come depend on: state, cuts made, and what the solver keeps from step to step.

        It can be pickled, or written with `to_bytes`. What functions of time prescribe is not in it, as they are called
        before each step anyway.
        """
        return self._ready().snapshot()

    def restore(self, snapshot: Snapshot) -> None:
        """Goes on from a snapshot, with the same bits; one of another scene is refused, and nothing has changed then.

        It also goes back to before cuts, and forward again: over those by `cut` as long as nothing else of the scene has been
        changed since they were made.
        """
        core = self._ready()
        if not self._return_over_cuts(core, snapshot):
            core.restore(snapshot)

    @property
    def time(self) -> float:
        """s"""
        return self.state.time

    @property
    def steps_taken(self) -> int:
        return self.state.step

    def positions(self, body: BodyLike = None) -> Floats:
        """(n, 3) positions in m of a body's nodes, or of all: a writable view, which each step overwrites.

        Writing to it between steps moves the nodes. It stays valid, but shows the present state only until a
        body is added or cut.
        """
        return self._part(self._ready().state.x, body)

    def velocities(self, body: BodyLike = None) -> Floats:
        """(n, 3) velocities in m/s: a writable view, as `positions`."""
        return self._part(self._ready().state.v, body)

    def node_numbers(self, body: BodyLike = None) -> NDArray[np.int32]:
        """(n,) the number that each node has in the whole body, or among those of all bodies: 0, 1, 2, ... unless several
        processes have a part each."""
        numbers = self._part(self._ready().numbering()[0], body)
        return numbers if body is None else numbers - self._body_data(self._body_of(body))["whole"][0]

    def owned(self, body: BodyLike = None) -> NDArray[np.bool_]:
        """(n,) which nodes are this process's own: each is of one of them, though neighbours have copies. True for all
        where there are no others."""
        return self._part(self._ready().numbering()[1], body).astype(bool)

    def gather(self, values: ArrayLike | None = None, body: BodyLike = None) -> Floats | None:
        """What all processes have by node, in the order of the whole body's nodes: on the first, None on the others.

        values: (n,) or (n, ...) numbers by the nodes that this process has, of `body` or of all; positions unless told.

        All processes call it together. Without others it returns a copy.
        """
        core = self._ready()
        given = np.asarray(self.positions(body) if values is None else values, dtype=float)
        nodes = slice(0, len(core.numbering()[0])) if body is None else self._body_of(body).nodes
        if given.ndim == 0 or len(given) != nodes.stop - nodes.start:
            raise InputError(f"gather() takes a number or more for each of {nodes.stop - nodes.start} nodes, not {given.shape}")
        width = int(np.prod(given.shape[1:]))
        everywhere = np.zeros((len(core.numbering()[0]), width))
        everywhere[nodes] = given.reshape(-1, width)
        whole = core.gather(everywhere)
        if whole is None:
            return None
        begin, end = (0, len(whole)) if body is None else self._body_data(self._body_of(body))["whole"]
        part: Floats = whole[begin:end].reshape(-1, *given.shape[1:])
        return part

    def rest_positions(self, body: BodyLike = None) -> Floats:
        """(n, 3) rest positions, m."""
        return self._part(self._ready().rest(), body)

    def masses(self, body: BodyLike = None) -> Floats:
        """(n,) lumped masses, kg."""
        return self._part(self._ready().masses(), body)

    def forces(self, body: BodyLike = None) -> Floats:
        """(n, 3) forces of all potentials (elasticity and added energies) on the nodes, N."""
        return self._part(self._ready().internal_forces(), body)

    def contact_forces(self, body: BodyLike = None) -> Floats:
        """(n, 3) forces of contact and friction in the last step, N; zero without contact."""
        return self._part(self._node_values("contact_force", 3), body)

    def contact_pressures(self, body: BodyLike = None) -> Floats:
        """(n,) pressure of contact on the nodes of the surface in the last step, Pa; zero without contact."""
        return self._part(self._node_values("contact_pressure", 1)[:, 0], body)

    def _node_values(self, name: str, components: int) -> Floats:
        simulation = self._ready()
        for field, values in simulation.node_values():
            if field == name:
                return np.asarray(values).reshape(-1, components)
        return np.zeros((len(simulation.masses()), components))

    def external_forces(self, body: BodyLike = None) -> Floats:
        """(n, 3) gravity and loads, N."""
        return self._part(self._ready().external_forces(), body)

    def reactions(self, body: BodyLike = None) -> Floats:
        """(n, 3) forces by which pins and scripts hold the nodes at the end of the last step, N; zero elsewhere."""
        return self._part(self._ready().support_forces(), body)

    def residuals(self, body: BodyLike = None) -> Floats:
        """(n, 3) what the last step has left unbalanced, N; zero where positions are prescribed.

        The norm over all nodes is `residuals.force` of the step's report.
        """
        return self._part(self._ready().unbalanced_forces(), body)

    def deformation_gradients(self, body: BodyLike = None) -> Floats:
        """(m, 3, 3) deformation gradients F at the centroids of a body's elements."""
        index = self._index(body)
        return self._ready().stresses(index)[0]

    def stresses(self, body: BodyLike = None, measure: str = "cauchy") -> Floats:
        """Stresses at the centroids of a body's elements, Pa.

        measure: "cauchy" (m, 3, 3), "piola" (the first, (m, 3, 3)), or "von-mises" (m,).
        """
        if measure not in ("cauchy", "piola", "von-mises"):
            raise InputError(f'measure must be "cauchy", "piola" or "von-mises", not "{measure}"')
        index = self._index(body)
        F, P = self._ready().stresses(index)
        if measure == "piola":
            return P
        sigma: Floats = P @ F.transpose(0, 2, 1) / np.linalg.det(F)[:, None, None]
        if measure == "cauchy":
            return sigma
        deviator = sigma - np.trace(sigma, axis1=1, axis2=2)[:, None, None] / 3 * np.eye(3)
        stress: Floats = np.sqrt(1.5) * np.linalg.norm(deviator, axis=(1, 2))
        return stress

    def stretches(self, body: BodyLike = None) -> Floats:
        """(m, 3) principal stretches at the centroids of a body's elements, largest first."""
        stretches: Floats = np.linalg.svd(self.deformation_gradients(body), compute_uv=False)
        return stretches

    def element_energies(self, body: BodyLike = None) -> Floats:
        """(m,) elastic energies of a body's elements, J."""
        index = self._index(body)
        return self._ready().element_energies(index)

    def energies(self) -> Energies:
        """Kinetic, elastic, external and added energies of the state, J."""
        values = self._ready().energies()
        total = self._ready().sum
        elastic = {body.name: total(float(self.element_energies(body).sum())) for body in self._bodies}
        return Energies(values["kinetic"], elastic, values["external"], values["more"])
