"""The processes that mpirun has started, and which native module serves them.

This module comes first of all: it puts `_pliant_mpi` in the place of `_pliant` where there are several.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
import time
import warnings
from typing import Any

_LAUNCHERS = ("OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK")  # of Open MPI, MPICH and Slurm
_PATIENCE = 2.0  # s that others give the first process to say what is wrong


def _join() -> None:
    if not any(name in os.environ for name in _LAUNCHERS) or os.environ.get("PLIANT_ALONE"):
        return
    try:
        from . import _pliant_mpi as native  # type: ignore[attr-defined]
    except ImportError:
        if os.environ.get("OMPI_COMM_WORLD_SIZE", "") != "1":
            warnings.warn(
                "pliant is built without PETSc (-DPLIANT_PETSC=ON), so each process that mpirun has started simulates "
                "all by itself; set PLIANT_ALONE=1 where that is meant",
                stacklevel=4,
            )
        return
    package = sys.modules[__package__ or "pliant"]
    sys.modules[f"{package.__name__}._pliant"] = native
    setattr(package, "_pliant", native)
    native.set_threads(native.join())
    atexit.register(native.leave)
    if native.rank() > 0:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the first ends what runs, in good order, and then all of them

    def end_all(kind: type[BaseException], error: BaseException, trace: Any) -> None:
        """An exception that nobody catches ends all processes: the others would wait for this one for ever."""
        if native.rank() > 0:
            time.sleep(_PATIENCE)
        sys.stderr.write(f"process {native.rank()} of {native.processes()}:\n")
        sys.__excepthook__(kind, error, trace)
        sys.stdout.flush()
        sys.stderr.flush()
        native.abort()

    sys.excepthook = end_all


_join()
