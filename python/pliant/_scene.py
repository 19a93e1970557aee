from __future__ import annotations

import os
from typing import Any, Mapping, Sequence, Union

from . import _pliant
from ._reports import LawInfo, ParameterInfo, SolverInfo, SolverSupport
from ._simulation import Simulation, _override_list

Path = Union[str, "os.PathLike[str]"]


class Scene:
    """A scene file that has been read and checked; `simulation()` makes it run."""

    def __init__(self, path: Path, overrides: Mapping[str, Any] | Sequence[str] = (), solver: str = ""):
        self._path = os.fspath(path)
        self._overrides = _override_list(overrides)
        self._solver = solver
        self._tree = _pliant.SceneTree.read(self._path, self._overrides, solver)
        self._scene = self._tree.scene()

    @property
    def name(self) -> str:
        return self._scene.name

    @property
    def title(self) -> str:
        return self._scene.title

    @property
    def dt(self) -> float:
        """Time step, s."""
        return self._scene.dt

    @property
    def steps(self) -> int:
        """Number of steps of the run."""
        return self._scene.steps

    @property
    def solver(self) -> dict[str, Any]:
        """The solver's name and all its settings."""
        return self._scene.solver

    @property
    def notices(self) -> list[str]:
        """Notices that need no action."""
        return self._scene.notices

    def as_dict(self) -> dict[str, Any]:
        """The content of the file, with the overrides."""
        return self._tree.as_dict()

    def simulation(self) -> Simulation:
        """A new simulation of this scene."""
        return Simulation.from_scene(self._path, self._overrides, solver=self._solver)

    def __repr__(self) -> str:
        return f"<pliant.Scene {self.name!r}: {self.steps} steps of {self.dt:.6g} s with {self.solver['name']}>"


def load_scene(path: Path, overrides: Mapping[str, Any] | Sequence[str] = (), *, solver: str = "") -> Scene:
    """Reads and checks a scene file. Raises InputError with the command line's message: file, line, key and remedy.

    overrides and solver: as for `Simulation.from_scene`.
    """
    return Scene(path, overrides, solver)


def solvers() -> dict[str, SolverInfo]:
    """Every solver by its name, with the paper it is from, what it can do and its settings."""
    found = {}
    for entry in _pliant.solvers():
        parameters = tuple(ParameterInfo(**parameter) for parameter in entry.pop("parameters"))
        supports = SolverSupport(**entry.pop("supports"))
        found[entry["name"]] = SolverInfo(**entry, supports=supports, parameters=parameters)
    return found


def laws() -> dict[str, LawInfo]:
    """Every material law by its name."""
    return {entry["name"]: LawInfo(**entry) for entry in _pliant.laws()}
