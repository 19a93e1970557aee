"""What a simulation is made of: bodies, what holds, joins and loads them, and what is recorded of them."""

from __future__ import annotations

import math
import os
from typing import Any, Callable, Mapping, Sequence, cast

import numpy as np
from numpy.typing import ArrayLike

from . import _pliant
from ._activation import Activations
from ._base import Base, BodyLike, Floats, Path, Where, free_name
from ._body import Body
from ._drivers import Driver, Functions
from ._material import Material
from ._origin import caller
from ._pliant import InputError, TetMesh
from ._selection import resolve


class Parts(Base):
    """What is added to a simulation; see `Simulation`."""

    def add_body(
        self,
        mesh: TetMesh | Path | None,
        material: Material | str | None = None,
        *,
        name: str | None = None,
        density: float = 1000.0,
        order: int | None = None,
        velocity: ArrayLike | None = None,
        angular_velocity: ArrayLike | None = None,
        regions: Mapping[str, Material | Mapping[str, Any]] | None = None,
        **keys: Any,
    ) -> Body:
        """Adds a deformable body.

        mesh:     a TetMesh, a mesh file, or None with a generator among the keys, such as box={...}.
        material: what `pliant.material` makes, or the name of a law with its parameters as keys.
        density:  kg/m^3.
        order:    polynomial order of the elements, 1 (unless told), 2 or 3.
        velocity, angular_velocity: at the start, m/s and rad/s about the centre of mass.
        young, poisson: in place of the material's, a number or (m,) numbers, one for each element.
        fibres:   a list of dicts as in a scene's [[body.fibres]]; `direction` may be (m, 3), one for each element.
        regions:  parts with their own material: the name of a vertex set or a region number of the mesh to a material,
                  or any name to a dict with `where` (see `pin`) and stiffness.

        Further keys are those of a scene's [[body]]: scale, rotate, translate, ...
        """
        origin = caller()
        if isinstance(material, str):
            keys, material = {"material": material, **keys}, None
        names = self._tree.names("body")
        name = name or free_name("body", names)
        table: dict[str, Any] = {"name": name}
        if isinstance(mesh, TetMesh):
            mesh, keys = _per_element(mesh, material, keys)
            table["mesh"] = f"mesh of {name}"
            self._tree.add_mesh(table["mesh"], mesh)
        elif mesh is not None:
            table["mesh"] = os.path.abspath(os.fspath(mesh))
        if material is not None:
            table.update({"material": material.law, **material.parameters})
            for key in keys.keys() & {"young", "poisson"}:
                table.pop({"young": "E", "poisson": "nu"}[key], None)
        table.update({"density": density, "order": order})
        table.update({"velocity": velocity, "angular_velocity": angular_velocity})
        moved = any(keys.get(key) is not None for key in ("scale", "rotate", "translate"))
        body = self._made(name, mesh if isinstance(mesh, TetMesh) and not moved else None)
        if regions is not None:
            selectable = mesh if isinstance(mesh, TetMesh) else None  # masks need to know the vertices
            table["regions"] = {str(key): self._region(selectable, key, region) for key, region in regions.items()}
        table.update({key.rstrip("_"): value for key, value in keys.items()})
        self._tree.append("body", table, origin)
        self._changed = True
        self._bodies.insert(len(names), body)  # rigid bodies come last
        return body

    def add_shell(
        self,
        vertices: ArrayLike,
        triangles: ArrayLike,
        *,
        thickness: float,
        young: float,
        poisson: float = 0.3,
        bending: float | None = None,
        strain_limit: float | None = None,
        density: float = 1000.0,
        name: str | None = None,
        **keys: Any,
    ) -> Body:
        """Adds a thin shell of triangles from arrays: cloth, paper, skin. From a file: add_body("flag.obj", shell={...}).

        vertices:     (n, 3) places at rest, m; triangles: (k, 3) their numbers. What shares no vertices is not joined.
        thickness:    m.
        young:        Pa; density: kg/m^3.
        bending:      what its resistance to bending is multiplied by; 1 unless told.
        strain_limit: how far it stretches before it becomes much stiffer, 0.1 for a tenth; without one, no limit.

        Further keys are those of a scene's [[body]]: scale, rotate, translate, velocity, damping, ...
        """
        names = self._tree.names("body")
        name = name or free_name("body", names)
        surface = f"surface of {name}"
        self._tree.add_surface(surface, vertices, triangles)
        shell = {"thickness": thickness, "bending": bending, "strain_limit": strain_limit}
        table = {"name": name, "mesh": surface, "shell": {k: v for k, v in shell.items() if v is not None}}
        table.update({"young": young, "poisson": poisson, "density": density})
        self._tree.append("body", {**table, **{key.rstrip("_"): value for key, value in keys.items()}}, caller())
        self._changed = True
        body = self._made(name)
        self._bodies.insert(len(names), body)  # rigid bodies come last
        return body

    def add_rod(
        self,
        points: ArrayLike,
        *,
        radius: float,
        young: float,
        density: float = 1000.0,
        segments: int | None = None,
        closed: bool | None = None,
        bending: float | None = None,
        rest_curvature: float | None = None,
        name: str | None = None,
        **keys: Any,
    ) -> Body:
        """Adds a thin rod, wire or rope along a line of points.

        points:         (n, 3) places of its middle line at rest, m.
        radius:         of its round cross section, m.
        young:          Pa; density: kg/m^3.
        segments:       how many straight pieces it is divided into, 40 unless told; each stretch between two points has
                        one at least.
        closed:         whether the last point is joined to the first.
        bending:        what its resistance to bending is multiplied by; 1 unless told.
        rest_curvature: how it is bent at rest, 1/m; unless told, as its points have it. 0 is straight.

        Further keys are those of a scene's [[rod]]: rotate, translate, velocity, damping, ...
        """
        name = name or free_name("rod", self._tree.names("rod"))
        table = {"name": name, "points": points, "radius": radius, "young": young, "density": density}
        table.update({"segments": segments, "closed": closed, "bending": bending, "rest_curvature": rest_curvature})
        self._tree.append("rod", {**table, **keys}, caller())
        self._changed = True
        return self._insert_rod(name)

    def _insert_rod(self, name: str) -> Body:
        """Behind the bodies and the other rods, before rigid bodies. Its table is in the scene already."""
        body = self._made(name)
        self._bodies.insert(len(self._tree.names("body")) + len(self._tree.names("rod")) - 1, body)
        return body

    def add_rigid(
        self,
        mesh: TetMesh | Path | None = None,
        *,
        name: str | None = None,
        density: float = 1000.0,
        young: float | None = None,
        friction: float | None = None,
        velocity: ArrayLike | None = None,
        angular_velocity: ArrayLike | None = None,
        **keys: Any,
    ) -> Body:
        """Adds a rigid body. `Body.pose` and `Body.surface_positions` tell where it is.

        mesh:     a file with a closed surface or with tetrahedra, a TetMesh, or None with a shape among the keys:
                  sphere={"centre": ..., "radius": ...}, box={"centre": ..., "size": ...}, cylinder={...}, capsule={...}.
        density:  kg/m^3; mass and inertia are those of the shape.
        young:    what keeps it in shape, Pa; 1e8 unless told.
        friction: Coulomb's coefficient against all others; by default that of contact.
        velocity, angular_velocity: at the start, m/s and rad/s about the centre of mass.

        Further keys are those of a scene's [[rigid]]: scale, rotate, translate.
        """
        name = name or free_name("rigid", self._tree.names("rigid"))
        table: dict[str, Any] = {"name": name}
        if isinstance(mesh, TetMesh):
            table["mesh"] = f"mesh of {name}"
            self._tree.add_mesh(table["mesh"], mesh)
        elif mesh is not None:
            table["mesh"] = os.path.abspath(os.fspath(mesh))
        table.update({"density": density, "young": young, "friction": friction})
        table.update({"velocity": velocity, "angular_velocity": angular_velocity, **keys})
        self._tree.append("rigid", table, caller())
        self._changed = True
        body = self._made(name)
        self._bodies.append(body)
        return body

    def add_joint(
        self,
        body: BodyLike,
        at: ArrayLike,
        *,
        kind: str = "ball",
        to_body: BodyLike = None,
        axis: ArrayLike | None = None,
        stiffness: float | None = None,
        limits: ArrayLike | None = None,
        motor: Sequence[Mapping[str, float]] | None = None,
        motor_stiffness: float | None = None,
        name: str | None = None,
    ) -> str:
        """Joins a rigid body to the world, or to `to_body`. Returns the joint's name.

        at, axis: where it is and which way, as bodies are at rest.
        kind:     "fixed", "hinge", "ball" or "slider".
        limits:   (least, most) of a hinge, degrees, or of a slider, m.
        motor:    where it is taken over time: [{"time": 0, "angle": 0}, ...] in degrees, of a slider "distance" in m.
        """
        name = name or free_name("joint", self._tree.names("joint"))
        table = {"name": name, "body": self._body_of(body).name, "kind": kind, "at": at, "axis": axis}
        table["to_body"] = None if to_body is None else self._body_of(to_body).name
        table.update({"stiffness": stiffness, "limits": limits, "motor": motor, "motor_stiffness": motor_stiffness})
        self._tree.append("joint", table, caller())
        self._changed = True
        return name

    def _region(self, mesh: TetMesh | None, name: str, region: Material | Mapping[str, Any]) -> dict[str, Any]:
        if isinstance(region, Material):
            return region.parameters
        table = dict(region)
        where = table.get("where")
        if callable(where) and mesh is not None:
            where = where(mesh.vertices)
        if where is not None and not isinstance(where, (str, dict)) and mesh is not None:
            table["where"] = self._store_vertices(where, len(mesh.vertices), f"region '{name}'")
        return table

    def pin(self, body: BodyLike, where: Where, axes: str = "xyz", *, name: str | None = None) -> str:
        """Holds vertices of a body at their rest positions, for the whole run. Returns the pin's name.

        where: a mask over the mesh's vertices, vertex numbers, a function from (n, 3) vertices to a mask, the name of a
               vertex set, a comparison such as "x < 0.1 and y > 0", a dict as in a scene file
               ({"box": {"min": ..., "max": ...}}, sphere, plane), or a list of those, which are united.
        axes:  the directions held.
        """
        return self._add("pin", body, where, name, {"axes": axes})

    def move(
        self,
        body: BodyLike,
        where: Where,
        displacement: Callable[..., ArrayLike] | None = None,
        *,
        position: Callable[..., ArrayLike] | None = None,
        translate: ArrayLike | None = None,
        rotate: Mapping[str, Any] | None = None,
        keyframes: Sequence[Mapping[str, Any]] | None = None,
        times: Sequence[float] | None = None,
        start: float | None = None,
        release: float | None = None,
        imposition: str | None = None,
        sigma: float | None = None,
        name: str | None = None,
        **keys: Any,
    ) -> str:
        """Moves vertices of a body on a prescribed path. Returns the script's name.

        displacement: a function of the time in s that returns a displacement from rest in m, three numbers or (n, 3).
        position:     the same for positions, (n, 3).
                      Either may take a second argument, the (n, 3) rest positions. It is called once before each step,
                      with the time at the end of the step, and never during one.
        translate, rotate, keyframes: motion in the words of a scene's [[script]]: displacement in m, axis with angle in
                      degrees, and instants with either.
        times:        when translate and rotate begin and end, s.
        start, release: when the vertices are taken and let go, s.
        imposition:   "penalty" or "direct"; sigma is the penalty's stiffness per mass, 1/s^2.
        where:        as for `pin`.
        """
        table = {"translate": translate, "rotate": rotate, "keyframes": keyframes, "times": times, "start": start}
        table.update({"release": release, "imposition": imposition, "sigma": sigma, **keys})
        if displacement is None and position is None:
            moves = translate is not None or (rotate is not None and keyframes is None) or "velocity" in keys
            if moves and times is None and release is None and not self._has_end():
                raise InputError(f"{caller()}: say when the motion begins and ends, for example: times=(0, 1)")
            return self._add("script", body, where, name, table)
        if displacement is not None and position is not None:
            raise InputError(f"{caller()}: 'displacement' and 'position' exclude each other; give one")
        script = name or free_name("script", self._tree.names("script"))
        function = displacement if displacement is not None else position
        driver = Driver(script, function, position is not None, self._tree.drive(script))
        try:
            self._add("script", body, where, script, table)
        except InputError:
            self._tree.stop_driving("script", script)
            raise
        self._drivers[script] = driver
        return script

    def add_load(
        self,
        body: BodyLike,
        where: Where,
        force: ArrayLike | None = None,
        *,
        traction: ArrayLike | None = None,
        pressure: float | None = None,
        body_force: ArrayLike | None = None,
        gas: Mapping[str, Any] | None = None,
        follows: bool | None = None,
        factor: Callable[[float], float] | None = None,
        keyframes: Sequence[Mapping[str, Any]] | None = None,
        name: str | None = None,
    ) -> str:
        """What pulls or presses from outside. Returns the load's name.

        where:      as for `pin`; a surface is the faces whose corners are all selected.
        force:      a force in all, N, spread evenly over the selected nodes.
        traction:   a force per area of the surface, Pa.
        pressure:   on the surface, Pa; negative pulls.
        body_force: a force per volume, N/m^3, of the elements whose corners are all selected.
        gas:        in a cavity, of which `where` selects the whole wall: {"pressure": ..., "outside": ..., "exponent": ...}.
        follows:    whether pressure (by default yes) and traction (by default no) act on the surface as it deforms.
        factor:     a function of the time in s that the load is multiplied by; called once before each step, with the
                    time at its end.
        keyframes:  the same as instants: [{"time": 0, "factor": 0}, {"time": 1, "factor": 1}].
        """
        table = {"force": force, "traction": traction, "pressure": pressure, "body_force": body_force, "gas": gas}
        table.update({"follows": follows, "keyframes": keyframes})
        if factor is None:
            return self._add("load", body, where, name, table)
        if keyframes is not None:
            raise InputError(f"{caller()}: 'factor' and 'keyframes' exclude each other; give one")
        load = name or free_name("load", self._tree.names("load"))
        driven = self._tree.drive_load(load)
        try:
            self._add("load", body, where, load, table)
        except InputError:
            self._tree.stop_driving("load", load)
            raise
        self._load_drivers[load] = (factor, driven)
        return load

    def add_spring(
        self,
        body: BodyLike,
        at: ArrayLike,
        to: ArrayLike,
        *,
        stiffness: float,
        to_body: BodyLike = None,
        rest_length: float | None = None,
        damping: float | None = None,
        name: str | None = None,
    ) -> str:
        """A spring from a place of a body to a place of the world or of another body. Returns its name.

        at:          where it holds the body, as this is at rest: the nearest part of the body moves it, m.
        to, to_body: its other end: a place of the world, or with `to_body` one of that body at rest, m.
        stiffness:   N/m.
        rest_length: m; by default as long as where bodies are at rest. Zero ties the two places together.
        damping:     resistance to the speed at which its length changes, N s/m.
        """
        name = name or free_name("spring", self._tree.names("spring"))
        table = {"name": name, "body": self._body_of(body).name, "at": at, "to": to, "stiffness": stiffness}
        table["to_body"] = None if to_body is None else self._body_of(to_body).name
        self._tree.append("spring", {**table, "rest_length": rest_length, "damping": damping}, caller())
        self._changed = True
        return name

    def attach(
        self,
        body: BodyLike,
        where: Where,
        to_body: BodyLike = None,
        *,
        along: ArrayLike | None = None,
        across: ArrayLike | None = None,
        stiffness: float | None = None,
        damping: float | None = None,
        name: str | None = None,
    ) -> str:
        """Ties vertices of a body to another body, each to the place of it that is nearest at rest. Returns its name.

        where:     as for `pin`. Meshes need not match.
        along:     a direction: each vertex slides along a line through where it is at rest, of `to_body`, with which the
                   line moves, or without one of the world.
        across:    a normal: each slides over a plane through where it is at rest, of a rigid `to_body` or of the world.
        stiffness: of each tie, N/m; by default a hundred times that of an element of the softer body.
        damping:   of each tie, N s/m; what slides is resisted along its way.
        """
        other = None if to_body is None else self._body_of(to_body).name
        table = {"to_body": other, "along": along, "across": across, "stiffness": stiffness, "damping": damping}
        return self._add("attachment", body, where, name, table)

    def add_probe(
        self,
        body: BodyLike = None,
        where: Where = "all",
        quantities: str | Sequence[str] | None = None,
        *,
        spring: str | None = None,
        attachment: str | None = None,
        joint: str | None = None,
        name: str | None = None,
    ) -> str:
        """Records numbers of a part of a body after every step, as a scene's [[probe]]: see `probes`. Returns its name.

        quantities: one or several of position, displacement (unless told), velocity, reaction, contact_force, stress,
                    volume, cavity, energy.
        spring, attachment, joint: the name of one to look at in place of a body; quantities are then force (unless
                    told), by which it pulls its first body, and length.
        """
        chosen = [quantities] if isinstance(quantities, str) else quantities if quantities is None else list(quantities)
        ties = {"spring": spring, "attachment": attachment, "joint": joint}
        if all(tie is None for tie in ties.values()):
            return self._add("probe", body, where, name, {"quantities": chosen})
        if body is not None:
            raise InputError(f"{caller()}: a probe looks at a body, or at a spring, attachment or joint; give one")
        name = name or free_name("probe", self._tree.names("probe"))
        self._tree.append("probe", {"name": name, "quantities": chosen, **ties}, caller())
        self._changed = True
        return name

    @property
    def probes(self) -> dict[str, Floats]:
        """What the probes have seen: arrays over the steps taken, by the names of their columns, with "step" and "time".

        A column is named as in probes.csv, "tip.displacement_x (m)". What is not known is NaN: reactions before the first
        step, and what a probe would have seen before it was added.
        """
        core = self._ready()
        self._sample()
        columns = ["step", "time", *core.probe_columns()]
        table = np.array(self._probe_rows, dtype=float).reshape(-1, len(columns))
        return {column: table[:, k].copy() for k, column in enumerate(columns)}

    def _sample(self) -> None:
        """Adds a row for the present state, unless it has one."""
        core = self._core
        if core is None or not self._tree.names("probe"):
            return
        columns = core.probe_columns()
        if columns != self._probe_names:
            before = {name: 2 + k for k, name in enumerate(self._probe_names)}
            kept = [before.get(name) for name in columns]
            self._probe_rows = [[*row[:2], *(math.nan if k is None else row[k] for k in kept)] for row in self._probe_rows]
            self._probe_names = columns
            if self._probe_rows and self._probe_rows[-1][0] == core.state.step:
                now = core.sample_probes()
                self._probe_rows[-1][2:] = [now[i] if k is None else old for i, (k, old) in enumerate(zip(kept, self._probe_rows[-1][2:]))]
        if not self._probe_rows or self._probe_rows[-1][0] != core.state.step:
            self._probe_rows.append([core.state.step, core.state.time, *core.sample_probes()])

    def add_collider(
        self,
        *,
        stiffness: float | None = None,
        friction: float | None = None,
        name: str | None = None,
        **keys: Any,
    ) -> str:
        """An obstacle of simple shape that bodies do not enter, as a scene's [[collider]]. Returns its name.

        One key is its shape: plane={"point": ..., "normal": ...}, sphere={"centre": ..., "radius": ...}, box, cylinder,
        capsule, torus or bowl; lengths in m. Others move it: translate, velocity, rotate, keyframes, times, as in `move`.

        stiffness: of the penalty per mass of a vertex, 1/s^2.
        friction:  Coulomb's coefficient.
        """
        return self.add("collider", name=name, stiffness=stiffness, friction=friction, **keys)

    def set_contact(self, /, **keys: Any) -> None:
        """Contact that never passes through, as a scene's [contact]: bodies with each other, themselves and colliders.

        Keys are those of the scene file: dhat (m), friction, eps_v (m/s), kappa (Pa), self, pair, ... Surfaces must be
        apart where they start.
        """
        self.set("contact", **keys)

    def add_muscle(
        self,
        name: str | None = None,
        activation: Callable[[float], float] | Sequence[Sequence[float]] | None = None,
    ) -> str:
        """A muscle that fibres of bodies contract by: add_body(..., fibres=[{..., "muscle": name}]). Returns its name.

        activation: how far it is contracted, 0 to 1: instants and values [(0, 0), (0.5, 1)], a function of the time in s
                    that is called before each step, or None, when `activation` of the simulation sets it.
        """
        name = name or free_name("muscle", self._tree.names("muscle"))
        keys = None if activation is None or callable(activation) else [list(pair) for pair in activation]
        self._tree.append("muscle", {"name": name, "activation": keys}, caller())
        if callable(activation):
            self._muscle_drivers[name] = activation
        self._changed = True
        return name

    @property
    def activation(self) -> Activations:
        """The muscles' activations by name, 0 to 1: sim.activation["biceps"] = 0.5. Keyframes overwrite them."""
        return Activations(self._ready())

    def add(self, kind: str, **keys: Any) -> str:
        """Adds a part in the words of a scene file: sim.add("collider", ...) is [[collider]]. Returns its name.

        For bodies, pins and the like there are methods of their own, which also take arrays and functions.
        """
        name = keys.pop("name", None) or free_name(kind, self._tree.names(kind))
        self._tree.append(kind, {"name": name, **{key.rstrip("_"): value for key, value in keys.items()}}, caller())
        self._changed = True
        if kind == "body":
            self._bodies.insert(len(self._tree.names("body")) - 1, self._made(name))
        if kind == "rod":
            self._insert_rod(name)
        if kind == "rigid":
            self._bodies.append(self._made(name))
        return name

    def add_energy(
        self,
        stencils: ArrayLike,
        function: Callable[..., tuple[ArrayLike, ArrayLike]],
        hessian: Callable[..., ArrayLike] | None = None,
        *,
        body: BodyLike = None,
        parameters: Any = None,
        name: str = "custom",
    ) -> None:
        """Adds a potential of your own: a sum over n stencils of k nodes each.

        stencils:   (n, k) node numbers: of all bodies, or with `body` those of that body. Its first nodes are the
                    mesh's vertices.
        function:   from positions (n, k, 3) to a tuple of values (n,), J, and gradients (n, k, 3), N. A value may be
                    infinite: the line search keeps away from it.
        hessian:    from positions to second derivatives (n, 3 k, 3 k), N/m, ordered as the flattened positions of a
                    stencil. Without it they are central differences of the gradient, which takes 6 k calls of `function`
                    and leaves some ten correct digits of a smooth one.
        parameters: passed to both as a second argument when given.

        Functions are called with all stencils at once, by the thread that steps. Their Hessians are projected by an
        eigendecomposition where the solver projects. An exception in one of them ends the step, leaves the state as it
        was, and reaches the caller.
        """
        nodes = np.asarray(stencils)
        if body is not None:
            nodes = nodes + self._body_of(body).nodes.start
        if parameters is not None:
            function = _with_parameters(function, parameters)
            hessian = None if hessian is None else _with_parameters(hessian, parameters)
        functions = Functions(function, hessian)
        self._tree.add_energy(_pliant.Energy(name, nodes, functions))
        self._functions.append(functions)
        self._changed = True

    def _add(self, kind: str, body: BodyLike, where: Where, name: str | None, table: dict[str, Any]) -> str:
        origin = caller()
        owner = self._body_of(body)
        name = name or free_name(kind, self._tree.names(kind))
        selection = resolve(cast(Any, self), owner, where, f"{origin}: {kind} '{name}'")
        self._tree.append(kind, {"name": name, "body": owner.name, "where": selection, **table}, origin)
        self._changed = True
        return name

    def _store_vertices(self, vertices: ArrayLike, count: int, what: str) -> str:
        self._counter += 1
        name = f"vertices #{self._counter}"
        self._tree.add_vertices(name, vertices, count, what)
        return name

    def _has_end(self) -> bool:
        simulation = self._tree.as_dict()["simulation"]
        return "duration" in simulation or "frames" in simulation


def _per_element(mesh: TetMesh, material: Material | None, keys: dict[str, Any]) -> tuple[TetMesh, dict[str, Any]]:
    """Arrays among the keys become element fields of a copy of the mesh, which the keys then name."""
    fields: dict[str, ArrayLike] = {}
    keys = dict(keys)
    known = {**(material.parameters if material is not None else {}), **keys}
    if any(np.ndim(keys.get(key, 0.0)) > 0 for key in ("young", "poisson")):
        for key, alias in (("young", "E"), ("poisson", "nu")):
            value = known.get(key, known.get(alias))
            if value is not None:
                fields[f"{key} of the body"] = np.broadcast_to(value, len(mesh.tets)) if np.ndim(value) == 0 else value
                keys[f"{key}_field"] = f"{key} of the body"
            keys.pop(key, None)
    fibres = []
    for number, table in enumerate(keys.get("fibres") or ()):
        table = dict(table)
        if np.ndim(table.get("direction", 0.0)) == 2:
            fields[f"fibres {number} of the body"] = table.pop("direction")
            table["element_field"] = f"fibres {number} of the body"
        fibres.append(table)
    if not fields:
        return mesh, keys
    if fibres:
        keys["fibres"] = fibres
    made = TetMesh(
        mesh.vertices,
        mesh.tets,
        mesh.regions if len(mesh.regions) else None,
        mesh.sets,
        region_names=mesh.region_names,
        element_fields={**mesh.element_fields, **fields},
        source=mesh.source,
    )
    return made, keys


def _with_parameters(function: Callable[..., Any], parameters: Any) -> Callable[[Any], Any]:
    return lambda x: function(x, parameters)
