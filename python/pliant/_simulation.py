from __future__ import annotations

import contextlib
import inspect
import math
import os
import warnings
from typing import Any, Callable, Mapping, Sequence, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _pliant
from ._activation import Activations
from ._body import Body
from ._material import Material
from ._origin import caller
from ._pliant import InputError, Snapshot, State, TetMesh
from ._progress import Progress
from ._reports import Energies, RunReport, RunTotals, StepReport
from ._selection import resolve

Floats = NDArray[np.float64]
BodyLike = Union[Body, str, int, None]
Where = Any  # text, dict, mask, indices, callable, or a list of those
Path = Union[str, "os.PathLike[str]"]

_MOST_STEPS = 1_000_000_000  # of a run, as everywhere


class Simulation:
    """Bodies, what holds and moves them, a solver, and the state they are in.

    dt:         time step, s (or fps: steps per second).
    gravity:    acceleration of every body, m/s^2, or that over time: [{"time": 0, "gravity": (0, -9.81, 0)}, ...].
    solver:     a solver's name, or a dict of its name and settings; `pliant.solvers()` lists them.
    mass:       "lumped" (diagonal) or "consistent".
    integrator: "implicit-euler", or "quasistatic", where every step is an equilibrium.
    colliders:  "barrier", which nothing passes, or "penalty"; counts without set_contact().
    duration:   how long run() simulates when it is not told, s.
    output:     what run() writes, as in a scene's [output]: every, fields, pictures, checkpoint_every, history.

    The words and their meaning are those of a scene file, and so are the messages of `pliant.InputError` when something
    is wrong, except that they name a line of Python. Bodies, pins, motions and loads are collected; the model is built at
    the first step, or when something asks for it. They may be changed later too: the model is then rebuilt, and bodies
    that were there keep their positions and velocities.
    """

    def __init__(
        self,
        dt: float | None = None,
        gravity: ArrayLike | Sequence[Mapping[str, Any]] = (0.0, -9.81, 0.0),
        solver: str | Mapping[str, Any] = "pod-newton",
        mass: str = "lumped",
        *,
        fps: float | None = None,
        integrator: str | None = None,
        colliders: str = "barrier",
        duration: float | None = None,
        output: Mapping[str, Any] | None = None,
        name: str = "simulation",
        title: str | None = None,
    ):
        origin = caller()
        self._begin(_pliant.SceneTree(name, "."))
        is_timed = isinstance(gravity, Sequence) and len(gravity) > 0 and isinstance(gravity[0], Mapping)
        simulation = {"dt": dt, "fps": fps, "mass": mass, "integrator": integrator}
        simulation["gravity_keyframes" if is_timed else "gravity"] = gravity
        self._tree.set_table("simulation", {**simulation, "colliders": colliders, "duration": duration}, origin)
        self._tree.set_table("solver", _solver_table(solver), origin)
        if output is not None:
            self._tree.set_table("output", dict(output), origin)
        if title is not None:
            self._tree.set_text("title", title, origin)

    def _begin(self, tree: _pliant.SceneTree) -> None:
        self._tree = tree
        self._core: _pliant.Simulation | None = None
        self._scene: _pliant.Scene | None = None
        self._changed = True
        self._running = False
        self._drivers: list[_Driver] = []
        self._functions: list[_Functions] = []
        self._muscle_drivers: dict[str, Callable[[float], float]] = {}
        self._load_drivers: list[tuple[Callable[[float], float], _pliant.DrivenFactor]] = []
        self._probe_names: list[str] = []
        self._probe_rows: list[list[float]] = []
        self._bodies = [Body(self, name) for kind in ("body", "rigid") for name in tree.names(kind)]
        self._counter = 0

    @classmethod
    def from_scene(
        cls,
        path: Path,
        overrides: Mapping[str, Any] | Sequence[str] = (),
        *,
        solver: str = "",
    ) -> Simulation:
        """The simulation of a scene file, which may be added to as any other.

        overrides: what the command line takes after --set, as {"body.0.young": 1e6} or ["body.0.young=1e6"].
        solver:    another solver, as after --solver; settings it does not have are left out, with a warning.
        """
        self = cls.__new__(cls)
        self._begin(_pliant.SceneTree.read(os.fspath(path), _override_list(overrides), solver))
        for notice in self._described().notices:
            warnings.warn(notice, stacklevel=2)
        return self

    # ---- what there is -------------------------------------------------------------------------------------------

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
        name = name or _free_name("body", names)
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
        body = Body(self, name, mesh if isinstance(mesh, TetMesh) and not moved else None)
        if regions is not None:
            selectable = mesh if isinstance(mesh, TetMesh) else None  # masks need to know the vertices
            table["regions"] = {str(key): self._region(selectable, key, region) for key, region in regions.items()}
        table.update({key.rstrip("_"): value for key, value in keys.items()})
        self._tree.append("body", table, origin)
        self._changed = True
        self._bodies.insert(len(names), body)  # rigid bodies come last
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
        name = name or _free_name("rigid", self._tree.names("rigid"))
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
        body = Body(self, name)
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
        name = name or _free_name("joint", self._tree.names("joint"))
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
        script = name or _free_name("script", self._tree.names("script"))
        function = displacement if displacement is not None else position
        driver = _Driver(function, position is not None, self._tree.drive(script))
        self._add("script", body, where, script, table)
        self._drivers.append(driver)
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
        load = name or _free_name("load", self._tree.names("load"))
        driven = self._tree.drive_load(load)
        self._add("load", body, where, load, table)
        self._load_drivers.append((factor, driven))
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
        name = name or _free_name("spring", self._tree.names("spring"))
        table = {"name": name, "body": self._body_of(body).name, "at": at, "to": to, "stiffness": stiffness}
        table["to_body"] = None if to_body is None else self._body_of(to_body).name
        self._tree.append("spring", {**table, "rest_length": rest_length, "damping": damping}, caller())
        self._changed = True
        return name

    def attach(
        self,
        body: BodyLike,
        where: Where,
        to_body: BodyLike,
        *,
        stiffness: float | None = None,
        damping: float | None = None,
        name: str | None = None,
    ) -> str:
        """Ties vertices of a body to another body, each to the place of it that is nearest at rest. Returns its name.

        where:     as for `pin`. Meshes need not match.
        stiffness: of each tie, N/m; by default a hundred times that of an element of the softer body.
        damping:   of each tie, N s/m.
        """
        table = {"to_body": self._body_of(to_body).name, "stiffness": stiffness, "damping": damping}
        return self._add("attachment", body, where, name, table)

    def add_probe(
        self,
        body: BodyLike,
        where: Where = "all",
        quantities: str | Sequence[str] = "displacement",
        *,
        name: str | None = None,
    ) -> str:
        """Records numbers of a part of a body after every step, as a scene's [[probe]]: see `probes`. Returns its name.

        quantities: one or several of position, displacement, velocity, reaction, contact_force, stress, volume, cavity,
                    energy.
        """
        chosen = [quantities] if isinstance(quantities, str) else list(quantities)
        return self._add("probe", body, where, name, {"quantities": chosen})

    @property
    def probes(self) -> dict[str, Floats]:
        """What the probes have seen: arrays over the steps taken, by the names of their columns, with "step" and "time".

        A column is named as in probes.csv, "tip.displacement_x (m)". What is not known is NaN: reactions before the first
        step. Adding a probe begins all of them anew.
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
            self._probe_names, self._probe_rows = columns, []
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

        Keys are those of the scene file: dhat (m), friction, eps_v (m/s), kappa (Pa), self, pair, ... For solvers of the
        Newton family; surfaces must be apart where they start.
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
        name = name or _free_name("muscle", self._tree.names("muscle"))
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
        name = keys.pop("name", None) or _free_name(kind, self._tree.names(kind))
        self._tree.append(kind, {"name": name, **{key.rstrip("_"): value for key, value in keys.items()}}, caller())
        self._changed = True
        if kind == "body":
            self._bodies.insert(len(self._tree.names("body")) - 1, Body(self, name))
        if kind == "rigid":
            self._bodies.append(Body(self, name))
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
        functions = _Functions(function, hessian)
        self._tree.add_energy(_pliant.Energy(name, nodes, functions))
        self._functions.append(functions)
        self._changed = True

    def _add(self, kind: str, body: BodyLike, where: Where, name: str | None, table: dict[str, Any]) -> str:
        origin = caller()
        owner = self._body_of(body)
        name = name or _free_name(kind, self._tree.names(kind))
        selection = resolve(self, owner, where, f"{origin}: {kind} '{name}'")
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

    # ---- settings ------------------------------------------------------------------------------------------------

    def set(self, section: str, /, **keys: Any) -> None:
        """Changes keys of a section of the scene, for example sim.set("solver", tolerance=0.1).

        Sections are simulation, solver and output; a new solver's name drops the settings of the old one. With None a key
        returns to its default.
        """
        if not isinstance(section, str):
            raise InputError(f"name a section, simulation, solver or output, in quotes; {section!r:.40} is none")
        table = dict(self._tree.as_dict().get(section, {}))
        if section == "solver" and keys.get("name", table.get("name")) != table.get("name"):
            table = {}
        for one, other in (("dt", "fps"), ("fps", "dt"), ("duration", "frames"), ("frames", "duration")):
            if one in keys:
                table.pop(other, None)
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
        if kind == "body":
            self._bodies = [body for body in self._bodies if body.name != name]
        self._changed = True

    @property
    def dt(self) -> float:
        """Time step, s."""
        return self._described().dt

    @property
    def solver(self) -> dict[str, Any]:
        """The solver's name and all its settings."""
        return self._described().solver

    # ---- the model ------------------------------------------------------------------------------------------------

    def build(self) -> None:
        """Builds the model now, so that errors show now. Otherwise the first step builds it."""
        self._ready()

    def _described(self) -> _pliant.Scene:
        if self._scene is None or self._changed:
            self._scene = self._tree.scene()
        return self._scene

    def _ready(self) -> _pliant.Simulation:
        if self._core is not None and not self._changed:
            return self._core
        if self._running:
            raise InputError("the simulation cannot be changed while run() is at work; end it first (return True)")
        scene = self._described()
        if self._core is None:
            self._core = _pliant.Simulation(scene)
        else:
            self._core.rebuild(scene)
        self._scene = scene
        self._changed = False
        self._read_bodies(self._core)
        for driver in self._drivers:
            driver.begin()
        return self._core

    def _read_bodies(self, core: _pliant.Simulation) -> None:
        self._data = {data["name"]: data for data in core.bodies()}
        self._cuts = core.cuts_made()

    def _body_of(self, body: BodyLike) -> Body:
        if isinstance(body, Body):
            if body.simulation is not self:
                raise InputError(f"body '{body.name}' belongs to another simulation")
            return body
        if body is None:
            if len(self._bodies) != 1:
                raise InputError(f"say which body: there are {len(self._bodies)}")
            return self._bodies[0]
        if isinstance(body, (int, np.integer)):
            return self._bodies[body]
        for known in self._bodies:
            if known.name == body:
                return known
        raise InputError(f"there is no body '{body}'; this simulation has {', '.join(b.name for b in self._bodies)}")

    def _body_data(self, body: Body) -> _pliant.BodyData:
        core = self._ready()
        if core.cuts_made() != self._cuts:
            self._read_bodies(core)
        return self._data[body.name]

    def _index(self, body: BodyLike) -> int:
        return self._bodies.index(self._body_of(body))

    def _part(self, array: Floats, body: BodyLike) -> Floats:
        return array if body is None else array[self._body_of(body).nodes]

    @property
    def bodies(self) -> list[Body]:
        return list(self._bodies)

    def body(self, name: str) -> Body:
        """The body of this name."""
        return self._body_of(name)

    def describe(self) -> str:
        """What would run, for people: bodies, sizes, boundaries, solver."""
        return self._ready().describe()

    def solvers_that_fit(self) -> list[str]:
        """The names of the solvers that can run this simulation as it is."""
        return [name for name, refusal in _pliant.solver_fits(self._described()) if refusal is None]

    def solver_refusals(self) -> dict[str, str]:
        """For each solver that cannot run this simulation, the reason in words."""
        return {name: refusal for name, refusal in _pliant.solver_fits(self._described()) if refusal is not None}

    def scene(self) -> dict[str, Any]:
        """The scene as a dict, as it would be in a file, without what only code can give."""
        return self._tree.as_dict()

    # ---- the state ------------------------------------------------------------------------------------------------

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
        """Goes on from a snapshot, with the same bits; one of another scene is refused, and nothing has changed then."""
        self._ready().restore(snapshot)

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
        elastic = {body.name: float(self.element_energies(body).sum()) for body in self._bodies}
        return Energies(values["kinetic"], elastic, values["external"], values["more"])

    # ---- time ------------------------------------------------------------------------------------------------------

    def step(self) -> StepReport:
        """Advances the state by dt. A step that does not converge leaves the state as it was, unless the solver's
        on_failure is "continue"; the report says so."""
        core = self._ready()
        self._sample()
        self._drive(core.state.time + self._described().dt)
        values = core.step()
        self._sample()
        return StepReport._from(values)

    def run(
        self,
        duration: float | None = None,
        *,
        steps: int | None = None,
        out: Path | None = None,
        resume: bool = False,
        replace: bool = False,
        callback: Callable[[Simulation, StepReport], Any] | None = None,
        progress: bool | None = None,
    ) -> RunReport:
        """Steps for a duration in s, a number of steps, or as long as the scene says.

        out:      a folder for results as the command line writes them: frames for ParaView, reports, pictures,
                  checkpoints. It must be empty, unless `replace` or `resume` is true.
        resume:   goes on from the checkpoint in the folder; duration and steps are those of the whole run then.
        callback: called after each step with the simulation and the step's report; a true result ends the run.
        progress: whether to show a line on the terminal; by default when there is one.

        The run ends with the first step that fails; see `RunReport.end`. Ctrl-C ends it after the current step, with
        everything written, and raises KeyboardInterrupt then.
        """
        core = self._ready()
        scene = self._described()
        last = self._last_step(scene, duration, steps, 0 if resume else core.state.step)
        if resume and replace:
            raise InputError("'resume' and 'replace' exclude each other")
        self._sample()
        bar = Progress(core.state.step, last, progress)
        reports: list[StepReport] = []

        def on_step(values: dict[str, Any]) -> bool:
            report = StepReport._from(values)
            reports.append(report)
            self._sample()
            bar.update(report, core.state.time)
            return bool(callback(self, report)) if callback is not None else False

        start = "resume" if resume else "replace" if replace else "fresh"
        folder = "" if out is None else os.fspath(out)
        with self._at_work():
            try:
                values = _pliant.run(core, last, folder, start, self._drive, on_step, warnings.warn)
            finally:
                bar.end()
        values["totals"] = RunTotals(**values["totals"])
        return RunReport(**values, reports=tuple(reports))

    def _last_step(self, scene: _pliant.Scene, duration: float | None, steps: int | None, first: int) -> int:
        if duration is not None and steps is not None:
            raise InputError("'duration' and 'steps' exclude each other; give one")
        if steps is not None:
            if not 1 <= steps < math.inf:
                raise InputError(f"'steps' must be at least 1, but is {steps}")
            return self._bounded(first + int(steps))
        if duration is not None:
            if not (duration > 0 and math.isfinite(duration)):
                raise InputError(f"'duration' must be a positive number of seconds, but is {duration}")
            # 3 s at 1/60 s are 180 steps, not 181, whatever the rounding of 1/60.
            return self._bounded(first + max(1, math.ceil(min(duration / scene.dt, 1e18) - 1e-6)))
        if not self._has_end():
            raise InputError("say how long: run(duration) in s, run(steps=...), or Simulation(duration=...)")
        return scene.steps

    @staticmethod
    def _bounded(steps: int) -> int:
        if steps > _MOST_STEPS:
            raise InputError(f"a run has at most {_MOST_STEPS} steps, but this one would have {min(steps, 10**300):.3g}")
        return steps

    @contextlib.contextmanager
    def _at_work(self) -> Any:
        self._running = True
        try:
            yield
        finally:
            self._running = False

    def _drive(self, time: float) -> None:
        for driver in self._drivers:
            driver.drive(time)
        for name, function in self._muscle_drivers.items():
            self.activation[name] = function(time)
        for function, driven in self._load_drivers:
            driven.set(float(function(time)))

    # ---- files -----------------------------------------------------------------------------------------------------

    def save(self, path: Path) -> None:
        """Writes a snapshot to a checkpoint file, in the command line's format."""
        self._ready().save(os.fspath(path))

    def load(self, path: Path) -> None:
        """Goes on from a checkpoint file, also one of the command line's; one of another scene is refused."""
        self._ready().load(os.fspath(path))

    def __repr__(self) -> str:
        names = ", ".join(body.name for body in self._bodies) or "no bodies"
        return f"<pliant.Simulation: {names}; {self._tree.as_dict().get('solver', {}).get('name', 'pod-newton')}>"


class _Functions:
    """What an energy from code calls. The native part refers to it weakly: see PythonEnergy."""

    def __init__(self, function: Callable[..., Any], hessian: Callable[..., Any] | None):
        self.function = function
        self.hessian = hessian


class _Driver:
    """Motion by a Python function: writes where the nodes of a script belong."""

    def __init__(self, function: Any, absolute: bool, target: _pliant.DrivenPositions):
        self._function = function
        self._absolute = absolute
        self._target = target
        self._takes_rest = _takes_two(function)
        self._rest = np.zeros((0, 3))

    def begin(self) -> None:
        self._rest = self._target.get()

    def drive(self, time: float) -> None:
        value = np.asarray(self._function(time, self._rest) if self._takes_rest else self._function(time), dtype=float)
        if not self._absolute and value.shape in ((3,), self._rest.shape):
            value = self._rest + value
        self._target.set(value)


def _takes_two(function: Any) -> bool:
    """Whether a function must be called with two arguments, time and rest positions."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    plain = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(p.kind in plain and p.default is p.empty for p in parameters) >= 2


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


def _free_name(kind: str, taken: Sequence[str]) -> str:
    if not taken:
        return kind
    number = len(taken) + 1
    while f"{kind}-{number}" in taken:
        number += 1
    return f"{kind}-{number}"


def _solver_table(solver: str | Mapping[str, Any]) -> dict[str, Any]:
    return {"name": solver} if isinstance(solver, str) else dict(solver)


def _override_list(overrides: Mapping[str, Any] | Sequence[str]) -> list[str]:
    if isinstance(overrides, Mapping):
        return [f"{key}={_pliant.to_toml(value)}" for key, value in overrides.items()]
    if isinstance(overrides, str):
        raise InputError('overrides are a dict or a list of texts such as ["body.0.young=1e6"]')
    return list(overrides)
