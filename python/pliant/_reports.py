"""What steps, runs and the lists of solvers and laws report, as frozen dataclasses: they print, compare, copy and pickle."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Mapping


class _Record:
    def asdict(self) -> dict[str, Any]:
        """The fields as plain dicts and tuples, nested ones too."""
        return dataclasses.asdict(self)


@dataclass(frozen=True)
class Residuals(_Record):
    """What is left of the equations after a step: the same measures for every solver."""

    force: float  #: 2-norm of the unbalanced forces, N
    acceleration: float  #: largest component of the forces over the mass, m/s^2
    step_length: float  #: largest component of the last correction over the time step, m/s


@dataclass(frozen=True)
class StageSeconds(_Record):
    """Where the time of a step went, s."""

    assembly: float
    factorisation: float
    solve: float
    line_search: float
    contact: float  #: detection, evaluation and continuous collision detection; also part of the stages above
    total: float


@dataclass(frozen=True)
class IterationRecord(_Record):
    """One iteration of a step; recorded when the solver's `history` is true."""

    energy: float  #: incremental potential at its start, J
    force: float  #: as in Residuals, at its start, N
    acceleration: float  #: m/s^2
    step_length: float  #: m/s
    alpha: float  #: accepted step length of the line search
    projected: bool  #: whether the matrix was projected to positive definite


@dataclass(frozen=True)
class StepReport(_Record):
    """How a step went."""

    outcome: str  #: "converged", "iteration-limit", "line-search-failed", "factorisation-failed", ...
    detail: str  #: why, for people; empty when converged
    advanced: bool  #: whether the state has moved on
    iterations: int
    factorisations: int
    failed_factorisations: int
    linear_iterations: int
    projected_iterations: int
    line_search_evaluations: int
    smallest_alpha: float
    energy: float  #: incremental potential of the state left behind, J
    residuals: Residuals
    minimum_gap: float  #: m; infinite without contact
    contacts: int  #: pairs of primitives nearer than the contact's dhat
    seconds: StageSeconds
    history: tuple[IterationRecord, ...]
    figures: Mapping[str, float]  #: what only some solvers and scenes have: "joules_friction", "held_back", ...

    @property
    def converged(self) -> bool:
        return self.outcome == "converged"

    @property
    def succeeded(self) -> bool:
        """Whether it did what it was asked to: converged, stagnated at rounding, or spent its budget of iterations."""
        return self.outcome in ("converged", "budget-spent", "stagnated")

    @classmethod
    def _from(cls, values: dict[str, Any]) -> StepReport:
        values["residuals"] = Residuals(*values["residuals"])
        values["seconds"] = StageSeconds(*values["seconds"])
        values["history"] = tuple(IterationRecord(*record) for record in values["history"])
        return cls(**values)


@dataclass(frozen=True)
class RunTotals(_Record):
    """Sums over the steps of a run; with a resumed run, those before it included."""

    steps: int
    iterations: int
    factorisations: int
    failed_factorisations: int
    linear_iterations: int
    projected_iterations: int
    line_search_evaluations: int
    newton_steps: int  #: of other solvers, ended by Newton's method since the solver alone did not do
    smallest_alpha: float
    outcomes: Mapping[str, int]


@dataclass(frozen=True)
class RunReport(_Record):
    """How a run went."""

    end: str  #: "finished", "failed" (a step did not converge) or "interrupted" (by the callback)
    detail: str  #: why a step failed, for people
    #: why the result is not to be relied on though the end was reached: steps that failed and were gone on from, elements
    #: inverted at the end, a body that has grown tenfold, a last step far from its solution
    doubts: tuple[str, ...]
    failed_exports: tuple[str, ...]  #: formats that the scene asks for and that could not be written
    steps: int  #: steps taken by this call
    wall_seconds: float
    totals: RunTotals
    reports: tuple[StepReport, ...]  #: one a step, also of the one that failed

    @property
    def finished(self) -> bool:
        return self.end == "finished"


@dataclass(frozen=True)
class Energies(_Record):
    """Energies of a state, J."""

    kinetic: float
    elastic: Mapping[str, float]  #: by body
    external: float  #: minus the work of gravity and loads from the rest positions
    more: Mapping[str, float]  #: of contact, of springs and attachments ("ties"), and those of add_energy, by name

    @property
    def total(self) -> float:
        return self.kinetic + sum(self.elastic.values()) + self.external + sum(self.more.values())


@dataclass(frozen=True)
class ParameterInfo(_Record):
    """A setting of a solver."""

    key: str
    default: bool | int | float | str
    unit: str
    summary: str
    choices: tuple[str, ...]
    least: float
    greatest: float


@dataclass(frozen=True)
class SolverSupport(_Record):
    """What a solver can do with its default settings."""

    integrators: tuple[str, ...]
    contact: tuple[str, ...]  #: the integrators with which it has contact between surfaces; empty: none
    own_contact: str  #: contact between bodies in a way of its own, in words; empty: none
    colliders: bool
    friction: bool
    links: bool  #: in coordinates of their joints; others move them as rigid bodies
    cloth: bool
    fibres: bool
    highest_order: int  #: of elements
    consistent_mass: bool
    mass_damping: bool
    stiffness_damping: bool
    cuts: bool
    cuts_in_contact: bool  #: of bodies that touch themselves
    grabs: bool
    gas: bool
    energies: bool  #: further ones, from code
    laws: tuple[str, ...]  #: the material laws it takes


@dataclass(frozen=True)
class SolverInfo(_Record):
    """A solver by its name, with the paper it is from, what it can do and its settings."""

    name: str
    paper: str
    summary: str
    supports: SolverSupport
    parameters: tuple[ParameterInfo, ...]


@dataclass(frozen=True)
class LawInfo(_Record):
    """A material law."""

    name: str
    summary: str
    formula: str  #: of the strain-energy density, J/m^3
    reference: str
    survives_inversion: bool  #: whether the energy is finite for inverted elements
