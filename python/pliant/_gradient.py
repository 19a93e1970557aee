from __future__ import annotations

from typing import Any, Iterator, Mapping, NamedTuple, Sequence, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _pliant
from ._pliant import InputError, Snapshot, State
from ._reports import StepReport
from ._simulation import Simulation

Floats = NDArray[np.float64]
#: of the objective by positions at the end of steps: (n, 3) for the last step, or by the number of the step
OfPositions = Union[ArrayLike, Mapping[int, ArrayLike]]


class Tape:
    """The states that steps led through, which gradients go back along. See `record`.

    steps:  the numbers of the steps whose states were kept, 0 being the start.
    states: these states.
    """

    def __init__(self, simulation: Simulation, steps: Sequence[int], states: Sequence[State], snapshots: Sequence[Snapshot]):
        self.simulation = simulation
        self.steps = list(steps)
        self.states = list(states)
        self._snapshots = list(snapshots)
        self._scene = repr(simulation._tree.as_dict())

    @property
    def positions(self) -> Floats:
        """(kept, n, 3), m: those of the states that were kept, the start and the end among them."""
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
                       "load.pull.force". Of vectors and lists all numbers. "body.beam.young" of a body that has one for
                       each element: (m,), by all of them. "body.beam.vertices": (n, 3), by the shape at rest.

        Returns {parameter: derivative}, with "positions" and "velocities" of the start, (n, 3) each.

        Steps must have been solved to convergence: what is left of their residual is an error of the gradient. The
        forces' derivatives by numbers are central differences of the forces, not of the solution; `relative_step` is
        theirs. Parameters that move where the scene begins, such as velocities and sizes, need a recording that begins
        there. The time step has no gradient.
        """
        sim = self.simulation
        if repr(sim._tree.as_dict()) != self._scene:
            raise InputError("the simulation was changed since it was recorded; record it anew")
        adjoint = _pliant.Adjoint(sim._described())
        last = self.steps[-1]
        given = dict(of_positions) if isinstance(of_positions, Mapping) else {last: of_positions}
        if not given or not all(1 <= k <= last for k in given):
            raise InputError(f"steps are counted from 1 to {last}, but derivatives are given for {sorted(given)}")
        shape = self.states[0].x.shape
        for given_k in given.values():
            if np.shape(given_k) != shape:
                raise InputError(f"derivatives by positions have the shape {shape}, not {np.shape(given_k)}")
        parameters = [_parameter(sim, adjoint, path, relative_step) for path in wrt]
        x_bar = np.zeros(shape)
        v_bar = np.zeros(shape) if of_velocities is None else np.array(of_velocities, dtype=float)
        for k, before, after in self._backwards():
            if k in given:
                x_bar = x_bar + np.asarray(given[k], dtype=float)
            back = _Back(*adjoint.back(before, after, np.ascontiguousarray(x_bar), np.ascontiguousarray(v_bar)), v_bar / sim.dt)
            x_bar, v_bar = back.positions, back.velocities
            for parameter in parameters:
                parameter.add_step(before, after, back)
        begins = all(np.array_equal(a, b) for a, b in zip(adjoint.start(), (self.states[0].x, self.states[0].v)))
        for parameter in parameters:
            if parameter.add_start(x_bar, v_bar) and not begins:
                raise InputError(f"'{parameter.path}' changes where the scene begins, and the recording begins elsewhere")
        return {**{p.path: p.result() for p in parameters}, "positions": x_bar, "velocities": v_bar}

    def _backwards(self) -> Iterator[tuple[int, State, Floats]]:
        """The steps from the last to the first: number, state before, positions after. Between states that were kept
        they are taken again."""
        sim = self.simulation
        present = sim.snapshot() if self._snapshots else None
        try:
            for i in range(len(self.states) - 2, -1, -1):
                states = [self.states[i], self.states[i + 1]]
                if self.steps[i + 1] - self.steps[i] > 1:
                    sim.restore(self._snapshots[i])
                    states[1:] = _take(sim, self.steps[i + 1] - self.steps[i])
                for j in range(len(states) - 2, -1, -1):
                    yield self.steps[i] + j + 1, states[j], np.ascontiguousarray(states[j + 1].x)
        finally:
            if present is not None:
                sim.restore(present)


def record(simulation: Simulation, steps: int = 1, *, every: int = 1) -> Tape:
    """Takes steps and keeps their states, for `Tape.gradient`. Raises RuntimeError where a step does not converge.

    every: keeps the state of every so many steps only, and the last: gradients take the steps in between again. With
           the square root of the number of steps, memory grows as that root, for the time of the steps once more.
    """
    name = simulation.solver["name"]
    if not name.endswith("newton") or name == "quasi-newton":
        raise InputError(f"'{name}' does not solve its steps to convergence, and they have no gradient; take pod-newton")
    if simulation._drivers or simulation._load_drivers or simulation._muscle_drivers or simulation._gravity_driver:
        raise InputError("functions of time are not recorded; give the motion, load, gravity or activation by keyframes")
    if simulation._tree.names("cut"):
        raise InputError("a cut changes the unknowns, and has no gradient")
    if steps < 1 or every < 1:
        raise InputError(f"at least one step is recorded, and every first state kept, not {steps} and {every}")
    kept, states, snapshots = [0], [simulation.state.copy()], []
    while kept[-1] < steps:
        count = min(every, steps - kept[-1])
        if every > 1:
            snapshots.append(simulation.snapshot())
        states.append(_take(simulation, count, sample=True)[-1])
        kept.append(kept[-1] + count)
    return Tape(simulation, kept, states, snapshots)


def _take(simulation: Simulation, steps: int, sample: bool = False) -> list[State]:
    """Steps that converge, and their states; probes look at those that are taken for the first time."""
    states = []
    for _ in range(steps):
        report = simulation.step() if sample else StepReport._from(simulation._ready().step())
        if report.outcome not in ("converged", "stagnated"):  # the latter: as accurate as rounding allows
            raise RuntimeError(f"a step did not converge ({report.outcome}), and has no gradient: {report.detail}")
        states.append(simulation.state.copy())
    return states


class _Back(NamedTuple):
    """Of a step: what solves H lambda = dg/dx, and the objective's derivatives by what it began with and by
    prescribed positions. The last is what `positions` have lost by the velocities at the end being (x - x^n)/h."""

    lambda_: Floats
    positions: Floats
    velocities: Floats
    prescribed: Floats
    by_velocities: Floats


class _Numbers:
    """Numbers of the scene, by models with a little more and a little less of each."""

    def __init__(self, simulation: Simulation, path: str, relative_step: float):
        _refuse(path)
        self.path = path
        value = np.asarray(_value_at(simulation, path), dtype=float)
        self._shape = value.shape
        self._sum = np.zeros(value.size)
        self._pairs = []
        self._moved = []
        tree = simulation._tree.as_dict()
        damped = any(_damping_of(part) > 0 for part in tree.get("body", []))
        damped = damped and tree.get("simulation", {}).get("integrator") != "quasistatic"  # where nothing is damped
        for j in range(value.size):
            step = relative_step * (abs(value.flat[j]) or max(abs(value).max(), 1.0))
            models = []
            for sign in (1, -1):
                changed = value.copy()
                changed.flat[j] += sign * step
                scene = simulation._tree.scene_with([f"{path}={_pliant.to_toml(changed.tolist())}"])
                models.append(_pliant.Adjoint(scene))
            self._pairs.append((models[0], models[1], 2 * step))
            moved = (models[0].rest() - models[1].rest()) / 2
            self._moved.append(moved if damped and moved.any() else None)

    def add_step(self, before: State, after: Floats, back: _Back) -> None:
        for j, (more, less, width) in enumerate(self._pairs):
            shift = self._moved[j]
            if shift is None:
                change = more.residual(before, after) - less.residual(before, after)
            else:
                # Damping takes the stiffness from where the step begins, without its negative part: near rest it has
                # a kink, and the shape alone would take the differences over it. So what the step begins with moves
                # with the shape, and the derivative by that is taken away again.
                change = more.residual(_shifted(before, shift), after) - less.residual(_shifted(before, -shift), after)
                self._sum[j] -= float(((back.positions + back.by_velocities) * 2 * shift).sum()) / width
            moved = more.prescribed(before) - less.prescribed(before)
            self._sum[j] += float((back.prescribed * moved).sum() - (back.lambda_ * change).sum()) / width

    def add_start(self, x_bar: Floats, v_bar: Floats) -> bool:
        moves = False
        for j, (more, less, width) in enumerate(self._pairs):
            (x_more, v_more), (x_less, v_less) = more.start(), less.start()
            if np.array_equal(x_more, x_less) and np.array_equal(v_more, v_less):
                continue
            moves = True
            self._sum[j] += float((x_bar * (x_more - x_less) + v_bar * (v_more - v_less)).sum()) / width
        return moves

    def result(self) -> Any:
        return self._sum.reshape(self._shape) if self._shape else float(self._sum[0])


def _shifted(state: State, shift: Floats) -> State:
    moved = state.copy()
    moved.x[:] += shift
    return moved


def _damping_of(body: Mapping[str, Any]) -> float:
    damping = body.get("damping")
    return float(damping.get("stiffness", 0.0)) if isinstance(damping, Mapping) else 0.0


class _Vertices:
    """The shape of a body at rest."""

    def __init__(self, simulation: Simulation, adjoint: Any, path: str, table: Mapping[str, Any]):
        name = table["name"]
        _refuse_vertices(simulation, path, name, table)
        self.path, self._adjoint, self._name = path, adjoint, name
        self._sum = np.zeros_like(simulation.body(name).vertices)

    def add_step(self, before: State, after: Floats, back: _Back) -> None:
        self._sum += self._adjoint.by_vertices(self._name, after, back.lambda_)
        self._sum += self._adjoint.to_vertices(self._name, back.prescribed)

    def add_start(self, x_bar: Floats, v_bar: Floats) -> bool:
        self._sum += self._adjoint.to_vertices(self._name, np.ascontiguousarray(x_bar))
        return True

    def result(self) -> Floats:
        return self._sum


class _Moduli:
    """Young's modulus of every element of a body."""

    def __init__(self, simulation: Simulation, adjoint: Any, path: str, table: Mapping[str, Any]):
        _refuse_moduli(simulation, path)
        self.path, self._adjoint, self._name = path, adjoint, table["name"]
        self._young = np.asarray(simulation.body(table["name"]).mesh.element_fields[table["young_field"]], dtype=float)
        self._sum = np.zeros(len(self._young))

    def add_step(self, before: State, after: Floats, back: _Back) -> None:
        self._sum += self._adjoint.by_stiffness(self._name, after, back.lambda_)

    def add_start(self, x_bar: Floats, v_bar: Floats) -> bool:
        return False

    def result(self) -> Floats:
        return self._sum / self._young


def _parameter(simulation: Simulation, adjoint: Any, path: str, relative_step: float) -> _Numbers | _Vertices | _Moduli:
    kind, *keys = path.split(".")
    tables = [t for t in simulation._tree.as_dict().get("body", []) if kind == "body" and keys and t.get("name") == keys[0]]
    if tables and keys[1:] == ["vertices"]:
        return _Vertices(simulation, adjoint, path, tables[0])
    if tables and keys[1:] == ["young"] and "young_field" in tables[0]:
        return _Moduli(simulation, adjoint, path, tables[0])
    if tables and len(keys) == 2 and f"{keys[1]}_field" in tables[0]:
        raise InputError(f"'{path}' is given for each element, and has no gradient as one number")
    return _Numbers(simulation, path, relative_step)


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


def _refuse(path: str) -> None:
    """Raises InputError for what steps depend on in ways that `Tape.gradient` leaves out."""
    kind, *keys = path.split(".")
    if kind in ("solver", "output") or kind == "simulation" and keys[:1] not in (["gravity"], ["gravity_keyframes"]):
        raise InputError(f"'{path}' has no gradient here")


def _refuse_vertices(simulation: Simulation, path: str, name: str, table: Mapping[str, Any]) -> None:
    """The shape at rest is also that of other loads and of ties, whose parts are left out."""
    tree = simulation._tree.as_dict()
    concerned = [
        kind
        for kind in ("script", "spring", "attachment", "joint", "load")
        for part in tree.get(kind, [])
        if name in (part.get("body"), part.get("to_body"))
        if kind != "load" or not ("force" in part or "pressure" in part and part.get("follows", True))
    ]
    concerned += [key for key in ("fibres", "angular_velocity") if key in table]
    if concerned:
        raise InputError(
            f"'{path}' has no gradient with {concerned[0]}, which depends on the shape too; "
            "numbers of the scene, such as sizes, have one"
        )
    chosen = [key for key in ("dhat", "kappa") if not tree.get("contact", {}).get(key)]
    if ("contact" in tree or "collider" in tree) and chosen:
        raise InputError(
            f"'{path}' has no gradient where contact's {' and '.join(chosen)} follow from the shape; give "
            f"{'it' if len(chosen) == 1 else 'them'} by set_contact()"
        )


def _refuse_moduli(simulation: Simulation, path: str) -> None:
    """Contact and ties are by default as stiff as bodies are."""
    tree = simulation._tree.as_dict()
    touches = "contact" in tree or "collider" in tree
    if touches and "kappa" not in tree.get("contact", {}):
        raise InputError(f"'{path}' has no gradient where contact is as stiff as the body; set contact.kappa")
    for kind in ("attachment", "joint"):
        for part in tree.get(kind, []):
            if "stiffness" not in part:
                raise InputError(f"'{path}' has no gradient where [[{kind}]] is as stiff as the body; set its stiffness")
