"""Pliant: deformable solids, from real time to reference accuracy.

>>> import pliant
>>> mesh = pliant.box(size=(2, 1, 1), cells=(16, 8, 8))
>>> sim = pliant.Simulation(dt=1/60, gravity=(0, -9.81, 0), solver="pod-newton")
>>> beam = sim.add_body(mesh, pliant.material("neo-hookean", young=4e5, poisson=0.4), density=1000)
>>> sim.pin(beam, mesh.vertices[:, 0] < 1e-9)
>>> report = sim.step()
>>> x = sim.positions(beam)

Units are SI: metres, kilograms, seconds, newtons, pascals. Bad input raises `InputError`, whose message names the place
and the remedy; how a step or a run went is in its report.

`mpirun -n 4 python3 script.py` runs the same script on four processes, each with a part of every simulation: see
`Simulation.gather`, `rank` and `processes`.
"""

from __future__ import annotations

from . import _processes as _processes  # before all that uses the native module

from . import contact
from ._batch import Batch
from ._body import Body
from ._generators import box, cylinder, lattice, sheet, sphere, torus, tube
from ._grab import Grab
from ._gradient import Tape, record
from ._material import Material, material
from ._meshio import from_meshio, to_meshio
from ._pliant import (
    InputError,
    Snapshot,
    State,
    TetMesh,
    __commit__,
    __version__,
    processes,
    rank,
    read_mesh,
    set_threads,
    threads,
    write_mesh,
)
from ._reports import (
    Energies,
    IterationRecord,
    LawInfo,
    ParameterInfo,
    Residuals,
    RunReport,
    RunTotals,
    SolverInfo,
    SolverSupport,
    StageSeconds,
    StepReport,
)
from ._scene import Scene, laws, load_scene, solvers
from ._simulation import Simulation
from ._study import Comparison, Trial, compare, export, picture, sweep
from ._surface import Surface, read_surface, tetrahedralise, write_surface

__all__ = [
    "Batch",
    "Body",
    "Comparison",
    "Energies",
    "Grab",
    "InputError",
    "IterationRecord",
    "LawInfo",
    "Material",
    "ParameterInfo",
    "Residuals",
    "RunReport",
    "RunTotals",
    "Scene",
    "Simulation",
    "Snapshot",
    "SolverInfo",
    "SolverSupport",
    "StageSeconds",
    "State",
    "StepReport",
    "Surface",
    "Tape",
    "TetMesh",
    "Trial",
    "__commit__",
    "__version__",
    "box",
    "compare",
    "contact",
    "cylinder",
    "export",
    "from_meshio",
    "lattice",
    "laws",
    "load_scene",
    "material",
    "picture",
    "processes",
    "rank",
    "read_mesh",
    "read_surface",
    "record",
    "set_threads",
    "sheet",
    "solvers",
    "sphere",
    "sweep",
    "tetrahedralise",
    "threads",
    "to_meshio",
    "torus",
    "tube",
    "write_mesh",
    "write_surface",
]
