"""What is changed between steps, and the equation that the next one solves."""

from __future__ import annotations

import math
import os
from typing import Any, Mapping

import numpy as np
from numpy.typing import ArrayLike

from . import _pliant
from ._base import Base, BodyLike, Floats, Path
from ._grab import Grab
from ._origin import caller
from ._pliant import InputError


class Changes(Base):
    """What is changed between steps; see `Simulation`."""

    def set(self, section: str, /, **keys: Any) -> None:
        """Changes keys of a section of the scene, for example sim.set("solver", tolerance=0.1).

        Sections are simulation, solver and output; a new solver's name drops the settings of the old one. With None a key
        returns to its default. Gravity may be a function of time here, too, as in Simulation().
        """
        if not isinstance(section, str):
            raise InputError(f"name a section, simulation, solver or output, in quotes; {section!r:.40} is none")
        table = dict(self._tree.as_dict().get(section, {}))
        if section == "solver" and keys.get("name", table.get("name")) != table.get("name"):
            table = {}
        for one, other in (("dt", "fps"), ("fps", "dt"), ("duration", "frames"), ("frames", "duration")):
            if one in keys:
                table.pop(other, None)
        if section == "simulation" and ("gravity" in keys or "gravity_keyframes" in keys):
            table.pop("gravity" if "gravity_keyframes" in keys else "gravity_keyframes", None)
            gravity = keys.get("gravity")
            self._drive_gravity(gravity if callable(gravity) else None)
            if callable(gravity):
                keys["gravity"] = None
        self._tree.set_table(section, {**table, **keys}, caller())
        self._changed = True

    def change(self, kind: str, name: str, /, **keys: Any) -> None:
        """Changes keys of a part that is there, between steps: sim.change("body", "beam", young=2e6).

        kind: "body", "pin", "load", "spring", "collider", ...; name: as given or returned when it was added. With None a
        key returns to its default. The model is built anew before the next step; bodies keep positions and velocities.
        """
        self._tree.change(kind, name, {key.rstrip("_"): value for key, value in keys.items()}, caller())
        self._changed = True

    def remove(self, kind: str, name: str, /) -> None:
        """Takes a part away, between steps: sim.remove("pin", "left")."""
        self._tree.remove(kind, name, caller())
        for of_kind, drivers in (("script", self._drivers), ("load", self._load_drivers), ("muscle", self._muscle_drivers)):
            if kind == of_kind:
                drivers.pop(name, None)
        if kind in ("body", "rod", "rigid"):
            self._bodies = [body for body in self._bodies if body.name != name]
            for grab in self._grabs:
                if grab.body.name == name:
                    grab.release()
        self._changed = True

    @property
    def dt(self) -> float:
        """Time step, s."""
        return self._described().dt

    @property
    def solver(self) -> dict[str, Any]:
        """The solver's name and all its settings."""
        return self._described().solver

    def cut(
        self,
        body: BodyLike = None,
        *,
        plane: Mapping[str, Any] | None = None,
        surface: Path | tuple[ArrayLike, ArrayLike] | None = None,
        now: bool = True,
    ) -> None:
        """Cuts a body open along the faces of its elements that come nearest to a plane or a surface. It keeps its motion.

        plane:   {"point": ..., "normal": ...}, with "radius" a disc of it, m.
        surface: (vertices, triangles), or an OBJ, PLY or STL file.
        now:     whether these are given where the body is now; otherwise where it is at rest.

        `restore` of a snapshot from before undoes it, as long as nothing else of the scene is changed.

        For cuts at a set time there is sim.add("cut", time=..., plane=...).
        """
        if (plane is None) == (surface is None):
            raise InputError(f"{caller()}: a cut is made by a plane or a surface; give one of them")
        core = self._ready()
        owner = self._body_of(body)
        vertices: Any = None
        triangles: Any = None
        points, radius = None, math.inf
        if plane is not None:
            points = [_triple(plane, "point"), _triple(plane, "normal")]
            radius = float(plane.get("radius", math.inf))
        elif isinstance(surface, tuple):
            vertices, triangles = surface
        elif surface is not None:
            vertices, triangles = _pliant.read_surface(os.fspath(surface))
        tree, key = self._tree.copy(), core.scene_key()
        bodies_before = core.cut_bodies()
        mesh, origin = core.cut(self._index(owner), points, radius, vertices, triangles, now)
        self._adopt_cuts(bodies_before)
        self._tree.adopt_mesh(owner.name, mesh, origin, caller())
        self._scene = self._tree.scene()
        self._around_cuts[key] = tree
        self._around_cuts[core.scene_key()] = self._tree.copy()
        self._read_bodies(core)

    def grab(
        self,
        body: BodyLike = None,
        at: ArrayLike | int | None = None,
        to: ArrayLike | None = None,
        *,
        stiffness: float | None = None,
    ) -> Grab:
        """Takes hold of a vertex of a body, as a hand does; it is pulled by a spring until it is released.

        at:        a place, of which the nearest vertex of the body is taken where it is now, or a vertex number.
        to:        where it is pulled to, m; at first where it is, unless told. Assign `target` of the result to move it.
        stiffness: N/m; by default a pull by a metre is a hundred times the body's weight.
        """
        owner = self._body_of(body)
        if owner.is_rigid:
            raise InputError(
                f"{caller()}: body '{owner.name}' is rigid; hold it by add_spring, which takes any place of it"
            )
        places = owner.positions[: len(owner.vertices)]
        if at is None:
            raise InputError(f"{caller()}: say where to take hold: at=(x, y, z), or the number of a vertex")
        if isinstance(at, (int, np.integer)):
            if not 0 <= at < len(places):
                raise InputError(f"{caller()}: body '{owner.name}' has {len(places)} vertices; none has number {at}")
            vertex = int(at)
        else:
            vertex = int(np.argmin(np.linalg.norm(places - np.asarray(at, dtype=float), axis=1)))
        if stiffness is None:
            stiffness = 981.0 * float(self._part(self._ready().masses(), owner).sum())
        if not (stiffness > 0 and math.isfinite(stiffness)):
            raise InputError(f"{caller()}: the stiffness of a grab must be positive (N/m)")
        grab = Grab(owner, vertex, places[vertex] if to is None else to, stiffness)
        self._grabs.append(grab)
        return grab

    @property
    def grabs(self) -> list[Grab]:
        """What is held now."""
        return [grab for grab in self._grabs if grab._is_held]

    def _hold(self, core: _pliant.Simulation) -> None:
        """Tells the state which grabs there are."""
        self._grabs = self.grabs
        for g in self._grabs:
            if g.vertex >= len(g.body.vertices):
                raise InputError(f"{g!r} holds a vertex that is no longer there; release it")
        core.set_grabs(
            [
                (g.body.nodes.start + g.vertex, (float(g.target[0]), float(g.target[1]), float(g.target[2])), g.stiffness)
                for g in self._grabs
            ]
        )

    def gradient(self, of: str = "energy") -> Floats:
        """(n, 3) the gradient at the present state, N, of what `of` names.

        of: "energy", what is stored in bodies, springs and added energies: the forces on the nodes with their sign
            turned; or "step", the function whose minimum is the next state, with inertia, gravity, loads, damping,
            contact and scripts, zero where positions are prescribed.
        """
        return self._ready().gradient(_is_of_step(of))

    def hessian(self, of: str = "energy", *, projected: bool = False) -> Any:
        """The Hessian at the present state as a symmetric scipy.sparse matrix (3 n, 3 n), N/m: x, y, z of each node.

        of:        as for `gradient`; of a step, rows of prescribed unknowns are those of the identity, and what gas couples
                   is left out, since it is not sparse.
        projected: with the negative eigenvalues of every element taken away.
        """
        try:
            from scipy import sparse
        except ImportError as error:
            raise ImportError("hessian() returns a scipy.sparse matrix; install scipy") from error
        starts, columns, blocks = self._ready().hessian(_is_of_step(of), projected)
        n = 3 * (len(starts) - 1)
        upper = sparse.bsr_matrix((blocks, columns, starts), shape=(n, n)).tocsr()
        return sparse.triu(upper) + sparse.triu(upper, k=1).T


def _triple(table: Mapping[str, Any], key: str) -> tuple[float, float, float]:
    value = np.asarray(table.get(key, ()), dtype=float)
    if value.shape != (3,):
        raise InputError(f"{caller()}: '{key}' of a cutting plane must be three numbers")
    return float(value[0]), float(value[1]), float(value[2])


def _is_of_step(of: str) -> bool:
    if of not in ("energy", "step"):
        raise InputError(f'{caller()}: there is a gradient and a Hessian of "energy" and of "step", not of "{of}"')
    return of == "step"
