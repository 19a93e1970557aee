from __future__ import annotations

import contextlib
import math
import os
import warnings
from typing import Any, Callable, Mapping, Sequence

from numpy.typing import ArrayLike

from . import _pliant
from ._base import BodyLike, Floats, Path
from ._changes import Changes
from ._drivers import numbers_of
from ._measures import Measures
from ._origin import caller
from ._parts import Parts
from ._pliant import InputError
from ._progress import Progress
from ._reports import RunReport, RunTotals, StepReport

__all__ = ["BodyLike", "Floats", "Simulation"]

_MOST_STEPS = 1_000_000_000  # of a run, as everywhere


class Simulation(Parts, Changes, Measures):
    """Bodies, what holds and moves them, a solver, and the state they are in.

    dt:         time step, s (or fps: steps per second).
    gravity:    acceleration of every body, m/s^2, or that over time: [{"time": 0, "gravity": (0, -9.81, 0)}, ...], or a
                function of the time in s that returns it; called once before each step, with the time at its end.
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
        gravity: ArrayLike | Sequence[Mapping[str, Any]] | Callable[[float], ArrayLike] = (0.0, -9.81, 0.0),
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
        simulation["gravity_keyframes" if is_timed else "gravity"] = None if callable(gravity) else gravity
        self._drive_gravity(gravity if callable(gravity) else None)
        self._tree.set_table("simulation", {**simulation, "colliders": colliders, "duration": duration}, origin)
        self._tree.set_table("solver", _solver_table(solver), origin)
        if output is not None:
            self._tree.set_table("output", dict(output), origin)
        if title is not None:
            self._tree.set_text("title", title, origin)

    def _begin(self, tree: _pliant.SceneTree) -> None:
        self._tree = tree
        self._core = None
        self._scene = None
        self._changed = True
        self._running = False
        self._drivers = {}
        self._functions = []
        self._muscle_drivers = {}
        self._load_drivers = {}
        self._gravity_driver = None
        self._probe_names = []
        self._probe_rows = []
        self._bodies = [self._made(name) for kind in ("body", "rod", "rigid") for name in tree.names(kind)]
        self._counter = 0
        self._grabs = []
        self._around_cuts = {}
        self._left_behind = set()

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
        if _pliant.rank() == 0:
            for notice in self._described().notices:
                warnings.warn(notice, stacklevel=2)
        return self

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

        Of several processes, all call it together; the first writes, and a true result of its callback ends the run.

        The run ends with the first step that fails; see `RunReport.end`. Ctrl-C ends it after the current step, with
        everything written, and raises KeyboardInterrupt then.
        """
        core = self._ready()
        scene = self._described()
        last = self._last_step(scene, duration, steps, 0 if resume else core.state.step)
        if resume and replace:
            raise InputError("'resume' and 'replace' exclude each other")
        self._sample()
        bar = Progress(core.state.step, last, progress if _pliant.rank() == 0 else False)
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
                notice = warnings.warn if _pliant.rank() == 0 else lambda text: None
                values = _pliant.run(core, last, folder, start, self._drive, on_step, notice)
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
        if self._grabs:
            self._hold(self._ready())
        for driver in self._drivers.values():
            driver.drive(time)
        for name, function in self._muscle_drivers.items():
            self.activation[name] = function(time)
        self._set_gravity(time)
        for function, driven in self._load_drivers.values():
            factor = numbers_of(function(time), "the factor of a load", "a number")
            if factor.size != 1:
                raise InputError(f"the factor of a load must return a number, but returned {factor.size} of them")
            driven.set(float(factor.reshape(())))

    # ---- files -----------------------------------------------------------------------------------------------------

    def save(self, path: Path) -> None:
        """Writes a snapshot to a checkpoint file, in the command line's format."""
        self._ready().save(os.fspath(path))

    def load(self, path: Path) -> None:
        """Goes on from a checkpoint file, also one of the command line's; one of another scene is refused."""
        core = self._ready()
        if self._around_cuts and self._return_over_cuts(core, core.read_snapshot(os.fspath(path))):
            return
        core.load(os.fspath(path))

    def __repr__(self) -> str:
        names = ", ".join(body.name for body in self._bodies) or "no bodies"
        return f"<pliant.Simulation: {names}; {self._tree.as_dict().get('solver', {}).get('name', 'pod-newton')}>"


def _solver_table(solver: str | Mapping[str, Any]) -> dict[str, Any]:
    return {"name": solver} if isinstance(solver, str) else dict(solver)


def _override_list(overrides: Mapping[str, Any] | Sequence[str]) -> list[str]:
    if isinstance(overrides, Mapping):
        return [f"{key}={_pliant.to_toml(value)}" for key, value in overrides.items()]
    if isinstance(overrides, str):
        raise InputError('overrides are a dict or a list of texts such as ["body.0.young=1e6"]')
    return list(overrides)
