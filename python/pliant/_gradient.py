from __future__ import annotations

from typing import Any, Mapping, Sequence, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _pliant
from ._pliant import InputError, State
from ._simulation import Simulation

Floats = NDArray[np.float64]
#: of the objective by positions at the end of steps: (n, 3) for the last step, or by the number of the step
OfPositions = Union[ArrayLike, Mapping[int, ArrayLike]]


class Tape:
    """The states that steps led through, which gradients go back along. See `record`."""

    def __init__(self, simulation: Simulation, states: Sequence[State]):
        self.simulation = simulation
        self.states = list(states)
        self._scene = repr(simulation._tree.as_dict())

    @property
    def positions(self) -> Floats:
        """(steps + 1, n, 3), m."""
        return np.stack([state.x for state in self.states])

    def gradient(
        self,
        of_positions: OfPositions,
        wrt: Sequence[str] = (),
        *,
        of_velocities: ArrayLike | None = None,
        relative_step: float = 1e-6,
    ) -> dict[str, Any]:
        """The derivatives of an objective by parameters and by the state at the start, by the adjoint method.

        of_positions:  (n, 3) derivatives of the objective by the positions at the end, or {k: (n, 3)} by those after
                       step k, counted from 1.
        of_velocities: (n, 3), by the velocities at the end.
        wrt:           parameters by their place in the scene, as after --set on the command line: "body.beam.young",
                       "load.pull.force". Of vectors and lists all numbers.

        Returns {parameter: derivative}, with "positions" and "velocities" of the start, (n, 3) each.

        Steps must have been solved to convergence: what is left of their residual is an error of the gradient. The
        forces' derivatives by parameters are central differences of the forces, not of the solution; `relative_step`
        is theirs. Parameters that move where the scene begins, such as velocities and sizes, need a recording that
        begins there. The time step and places that scripts prescribe have no gradient.
        """
        sim = self.simulation
        if repr(sim._tree.as_dict()) != self._scene:
            raise InputError("the simulation was changed since it was recorded; record it anew")
        scene = sim._described()
        adjoint = _pliant.Adjoint(scene)
        steps = len(self.states) - 1
        given = dict(of_positions) if isinstance(of_positions, Mapping) else {steps: of_positions}
        if not given or not all(1 <= k <= steps for k in given):
            raise InputError(f"steps are counted from 1 to {steps}, but derivatives are given for {sorted(given)}")
        pairs = {path: _neighbours(sim, path, relative_step) for path in wrt}
        result: dict[str, Any] = {path: np.zeros(len(pair)) for path, pair in pairs.items()}
        shape = self.states[0].x.shape
        x_bar = np.zeros(shape)
        v_bar = np.zeros(shape) if of_velocities is None else np.array(of_velocities, dtype=float)
        for k, given_k in given.items():
            if np.shape(given_k) != shape:
                raise InputError(f"derivatives by positions have the shape {shape}, not {np.shape(given_k)}")
        for k in range(steps, 0, -1):
            before, after = self.states[k - 1], np.ascontiguousarray(self.states[k].x)
            if k in given:
                x_bar = x_bar + np.asarray(given[k], dtype=float)
            multiplier, x_bar, v_bar = adjoint.back(before, after, np.ascontiguousarray(x_bar), np.ascontiguousarray(v_bar))
            for path, pair in pairs.items():
                for j, (more, less, width) in enumerate(pair):
                    change = (more.residual(before, after) - less.residual(before, after)) / width
                    result[path][j] -= float((multiplier * change).sum())
        begins = all(np.array_equal(a, b) for a, b in zip(adjoint.start(), (self.states[0].x, self.states[0].v)))
        for path, pair in pairs.items():
            for j, (more, less, width) in enumerate(pair):
                (x_more, v_more), (x_less, v_less) = more.start(), less.start()
                if np.array_equal(x_more, x_less) and np.array_equal(v_more, v_less):
                    continue
                if sim._tree.names("pin") and not np.array_equal(x_more, x_less):
                    raise InputError(f"'{path}' moves what is pinned, and has no gradient here")
                if not begins:
                    raise InputError(f"'{path}' changes where the scene begins, and the recording begins elsewhere")
                result[path][j] += float((x_bar * (x_more - x_less) + v_bar * (v_more - v_less)).sum()) / width
        for path in wrt:
            value = _value_at(sim, path)
            result[path] = float(result[path][0]) if np.ndim(value) == 0 else result[path].reshape(np.shape(value))
        result["positions"], result["velocities"] = x_bar, v_bar
        return result


def record(simulation: Simulation, steps: int = 1) -> Tape:
    """Takes steps and keeps every state, for `Tape.gradient`. Raises RuntimeError where a step does not converge."""
    name = simulation.solver["name"]
    if not name.endswith("newton") or name == "quasi-newton":
        raise InputError(f"'{name}' does not solve its steps to convergence, and they have no gradient; take pod-newton")
    if simulation._drivers or simulation._load_drivers or simulation._muscle_drivers:
        raise InputError("functions of time are not recorded; give the motion, load or activation by keyframes")
    if simulation._tree.names("cut"):
        raise InputError("a cut changes the unknowns, and has no gradient")
    states = [simulation.state.copy()]
    for _ in range(steps):
        report = simulation.step()
        if not report.converged:
            raise RuntimeError(f"a step did not converge ({report.outcome}), and has no gradient: {report.detail}")
        states.append(simulation.state.copy())
    return Tape(simulation, states)


def _value_at(simulation: Simulation, path: str) -> Any:
    """What the scene says there: a number or a list of numbers."""
    value: Any = simulation._tree.as_dict()
    for key in path.split("."):
        if isinstance(value, list) and value and isinstance(value[0], dict):
            named = [item for item in value if item.get("name") == key]
            value = named[0] if named else value[int(key)] if key.isdigit() and int(key) < len(value) else None
        elif isinstance(value, list):
            value = value[int(key)] if key.isdigit() and int(key) < len(value) else None
        else:
            value = value.get(key) if isinstance(value, dict) else None
        if value is None:
            raise InputError(f"there is no number '{path}' in the scene to take a derivative by; give it a value first")
    if not np.issubdtype(np.asarray(value).dtype, np.number):
        raise InputError(f"'{path}' is no number, and has no derivative")
    return value


def _neighbours(simulation: Simulation, path: str, relative_step: float) -> list[tuple[Any, Any, float]]:
    """For each number of a parameter the models with a little more and a little less of it, and how far apart they are."""
    value = np.asarray(_value_at(simulation, path), dtype=float)
    _refuse(simulation, path)
    pairs = []
    for j in range(value.size):
        step = relative_step * (abs(value.flat[j]) or max(abs(value).max(), 1.0))
        models = []
        for sign in (1, -1):
            changed = value.copy()
            changed.flat[j] += sign * step
            models.append(_pliant.Adjoint(simulation._tree.scene_with([f"{path}={_pliant.to_toml(changed.tolist())}"])))
        pairs.append((models[0], models[1], 2 * step))
    return pairs


def _refuse(simulation: Simulation, path: str) -> None:
    """Raises InputError for what steps depend on in ways that `Tape.gradient` leaves out."""
    kind, *keys = path.split(".")
    if kind == "simulation" and keys and keys[0] != "gravity":
        raise InputError(f"'{path}' has no gradient here")
    if kind not in ("script", "body") or not keys:
        return
    tables = [table for table in simulation._tree.as_dict().get(kind, []) if table.get("name") == keys[0]]
    if kind == "script" and any(table.get("imposition") == "direct" for table in tables):
        raise InputError(f"'{path}' prescribes positions, and has no gradient; with imposition = \"penalty\" it has")
    fields = [key for key in ("young", "poisson") if any(f"{key}_field" in table for table in tables)]
    if kind == "body" and keys[-1] in fields:
        raise InputError(f"'{path}' is given for each element, and has no gradient as one number")
