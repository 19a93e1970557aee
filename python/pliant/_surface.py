from __future__ import annotations

import os
from typing import NamedTuple, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _pliant

Path = Union[str, "os.PathLike[str]"]


class Surface(NamedTuple):
    """A mesh of triangles."""

    vertices: NDArray[np.float64]  #: (n, 3), m
    triangles: NDArray[np.int32]  #: (k, 3) vertex numbers, counter-clockwise seen from outside


def read_surface(path: Path) -> Surface:
    """Reads an OBJ, PLY or STL file, recognised by its content."""
    return Surface(*_pliant.read_surface(path))


def tetrahedralise(vertices: ArrayLike, triangles: ArrayLike, *, edge: float = 0.0, coarse: int = 0) -> _pliant.TetMesh:
    """Fills a closed surface with tetrahedra.

    coarse: about how many, of a lattice that follows the surface roughly: for bodies that carry it as their `visual`.
    edge:   otherwise, by Gmsh or TetGen, which keep its triangles: about how long edges are inside, m; 0: as on it.

    >>> mesh = pliant.tetrahedralise(*pliant.read_surface("bunny.obj"), coarse=2000)
    """
    return _pliant.tetrahedralise(vertices, triangles, edge, coarse)


def write_surface(path: Path, vertices: ArrayLike, triangles: ArrayLike) -> None:
    """Writes an .obj, .ply or .stl file.

    >>> pliant.write_surface("bent.ply", sim.positions(beam), beam.surface)
    """
    _pliant.write_surface(path, vertices, triangles)
