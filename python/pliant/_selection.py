"""Ways to say which vertices: those of a scene file, and what numpy has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ._body import Body
    from ._simulation import Simulation


def resolve(simulation: Simulation, body: Body, where: Any, what: str) -> Any:
    """A selection in the words of a scene file; arrays are stored under a name of their own."""
    if isinstance(where, str) or isinstance(where, dict):
        return where
    if callable(where):
        return resolve(simulation, body, where(body.vertices), what)
    if isinstance(where, (list, tuple)) and any(isinstance(item, (str, dict, np.ndarray)) for item in where):
        return [resolve(simulation, body, item, what) for item in where]
    return simulation._store_vertices(where, len(body.vertices), what)
