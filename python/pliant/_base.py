"""The model of a simulation and its bodies: what the other parts of the class stand on."""

from __future__ import annotations

import os
from typing import Any, Callable, Sequence, Union, cast

import numpy as np
from numpy.typing import NDArray

from . import _pliant
from ._body import Body
from ._drivers import Driver, Functions, numbers_of
from ._grab import Grab
from ._origin import caller
from ._pliant import InputError, TetMesh

Floats = NDArray[np.float64]
BodyLike = Union[Body, str, int, None]
Where = Any  # text, dict, mask, indices, callable, or a list of those
Path = Union[str, "os.PathLike[str]"]


class Base:
    """Scene, model and bodies; see `Simulation`."""

    _tree: _pliant.SceneTree
    _core: _pliant.Simulation | None
    _scene: _pliant.Scene | None
    _changed: bool
    _running: bool
    _bodies: list[Body]
    _drivers: dict[str, Driver]
    _functions: list[Functions]
    _muscle_drivers: dict[str, Callable[[float], float]]
    _load_drivers: dict[str, tuple[Callable[[float], float], _pliant.DrivenFactor]]
    _gravity_driver: tuple[Callable[[float], Any], _pliant.DrivenGravity] | None
    _probe_names: list[str]
    _probe_rows: list[list[float]]
    _counter: int
    _grabs: list[Grab]
    #: before and after each cut() since the scene was last changed, by what their snapshots say of their scene
    _around_cuts: dict[bytes, _pliant.SceneTree]
    #: those of earlier ones, which a change has ended
    _left_behind: set[bytes]

    def _made(self, name: str, mesh: TetMesh | None = None) -> Body:
        return Body(cast(Any, self), name, mesh)

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
        if self._core is not None and _pliant.processes() == 1:
            self._adopt_cuts(self._core.cut_bodies())
        self._left_behind.update(self._around_cuts)
        self._around_cuts.clear()
        scene = self._described()
        if self._core is None:
            self._core = _pliant.Simulation(scene)
        else:
            self._core.rebuild(scene)
        self._scene = scene
        self._changed = False
        self._read_bodies(self._core)
        for driver in self._drivers.values():
            driver.begin()
        return self._core

    def _drive_gravity(self, gravity: Callable[[float], Any] | None) -> None:
        """Has gravity follow a function of time, or no longer."""
        self._gravity_driver = None
        self._tree.drop_gravity()
        if gravity is not None:
            self._gravity_driver = (gravity, self._tree.drive_gravity())
            self._set_gravity(0.0 if self._core is None else self._core.state.time)

    def _set_gravity(self, time: float) -> None:
        if self._gravity_driver is not None:
            function, driven = self._gravity_driver
            driven.set(numbers_of(function(time), "a gravity", "three numbers"))

    def _adopt_cuts(self, made: tuple[list[tuple[str, TetMesh, list[int]]], list[str]]) -> None:
        """Puts what cuts have made of meshes and selections into the scene, in place of these cuts (`cut_bodies`)."""
        bodies, cuts = made
        for name, mesh, origin in bodies:
            self._tree.adopt_mesh(name, mesh, origin, "cut")
        for cut in cuts:
            self._tree.remove("cut", cut, "cut")

    def _return_over_cuts(self, core: _pliant.Simulation, snapshot: _pliant.Snapshot) -> bool:
        """Goes to a snapshot on the other side of cuts by `cut`, if it is one: to the scene that it was taken in."""
        key = core.scene_key_of(snapshot)
        if key == core.scene_key():
            return False
        if key not in self._around_cuts:
            if key in self._left_behind:
                raise InputError(
                    "the snapshot is of before a cut or after one that was undone, and the scene was changed since: "
                    "cuts are undone as long as nothing else is changed; take a snapshot after each change"
                )
            return False
        tree = self._around_cuts[key].copy()
        scene = tree.scene()
        core.restore_other(snapshot, scene)
        self._tree, self._scene = tree, scene
        self._read_bodies(core)
        for driver in self._drivers.values():
            driver.begin()
        return True

    def _read_bodies(self, core: _pliant.Simulation) -> None:
        self._data = {data["name"]: data for data in core.bodies()}
        self._cuts = core.cuts_made()
        for body in self._bodies:
            body._forget_mesh()

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
        if body.name not in self._data:
            raise InputError(f"{caller()}: body '{body.name}' has been removed")
        return self._data[body.name]

    def _index(self, body: BodyLike) -> int:
        return self._body_data(self._body_of(body))["index"]

    def _whole_mesh(self, body: Body) -> TetMesh | None:
        """Of several processes: the mesh of a body that is not divided yet, which selections count the vertices of."""
        if _pliant.processes() == 1 or (self._core is not None and not self._changed):
            return None
        return self._described().mesh_of(body.name)

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


def free_name(kind: str, taken: Sequence[str]) -> str:
    if not taken:
        return kind
    number = len(taken) + 1
    while f"{kind}-{number}" in taken:
        number += 1
    return f"{kind}-{number}"
