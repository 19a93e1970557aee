"""Meshes of simple shapes. Lengths are in metres.

Every mesh has the named sets x-min, x-max, ..., z-max (the vertices on the sides of the bounding box) and boundary, besides
those said below. Round bodies are built of blocks of cells, without poles, so that all elements are well shaped.
"""

from __future__ import annotations

from typing import Sequence

from numpy.typing import ArrayLike

from . import _pliant
from ._pliant import TetMesh

_ZERO = (0.0, 0.0, 0.0)


def box(
    size: ArrayLike = (1.0, 1.0, 1.0),
    cells: Sequence[int] = (1, 1, 1),
    *,
    origin: ArrayLike = _ZERO,
    split: str = "five",
) -> TetMesh:
    """A box of regular cells, with its lowest corner at `origin`; vertices run x fastest.

    cells: numbers along x, y and z.
    split: tetrahedra per cell: "five" alternates two mirrored patterns, "six" repeats one,
        "twelve" have a vertex at the cell's centre in common.
    """
    return _pliant.generate("box", dict(size=size, cells=cells, origin=origin, split=split))


def cylinder(
    radius: float = 0.5,
    length: float = 2.0,
    *,
    axis: str = "z",
    origin: ArrayLike = _ZERO,
    cells: int = 8,
    along: int = 0,
) -> TetMesh:
    """A cylinder from `origin` along an axis. Sets: start and end (the flat faces), side.

    cells: across the diameter, at least 4.
    along: cells along the axis; 0 makes them as long as wide.
    """
    options = dict(radius=radius, length=length, axis=axis, origin=origin, cells=cells, along=along)
    return _pliant.generate("cylinder", options)


def tube(
    inner_radius: float = 0.3,
    outer_radius: float = 0.5,
    length: float = 2.0,
    *,
    axis: str = "z",
    origin: ArrayLike = _ZERO,
    layers: int = 2,
    around: int = 0,
    along: int = 0,
) -> TetMesh:
    """A hollow cylinder from `origin` along an axis. Sets: start, end, inner and outer.

    layers:        of cells through the wall.
    around, along: cells around (an even number of at least 6) and along; 0 makes them as wide and long as thick.
    """
    options = dict(inner_radius=inner_radius, outer_radius=outer_radius, length=length, axis=axis, origin=origin)
    return _pliant.generate("tube", dict(options, layers=layers, around=around, along=along))


def sphere(
    radius: float = 0.5,
    *,
    centre: ArrayLike = _ZERO,
    cells: int = 8,
    inner_radius: float = 0.0,
    layers: int = 1,
) -> TetMesh:
    """A ball with `cells` cells across its diameter, at least 4.

    inner_radius: of the cavity of a hollow ball, which has the sets inner and outer; 0: it is solid.
    layers:       of cells through the wall of a hollow one.
    """
    options = dict(radius=radius, centre=centre, cells=cells, inner_radius=inner_radius, layers=layers)
    return _pliant.generate("sphere", options)


def torus(
    radius: float = 0.5,
    ring_radius: float = 0.15,
    *,
    axis: str = "z",
    centre: ArrayLike = _ZERO,
    cells: int = 6,
    around: int = 0,
) -> TetMesh:
    """A solid ring around an axis.

    radius:      of the circle in the middle of the ring; ring_radius is half the ring's thickness.
    cells:       across the ring, at least 4.
    around:      an even number of at least 6; 0 makes cells as long as wide.
    """
    options = dict(radius=radius, ring_radius=ring_radius, axis=axis, centre=centre, cells=cells, around=around)
    return _pliant.generate("torus", options)


def sheet(
    size: Sequence[float] = (1.0, 1.0),
    thickness: float = 0.01,
    *,
    normal: str = "z",
    origin: ArrayLike = _ZERO,
    cells: Sequence[int] = (20, 20),
    layers: int = 1,
) -> TetMesh:
    """A thin slab, with its lowest corner at `origin`. Sets: bottom and top, edge (the narrow sides), corners.

    size, cells: along the two axes of its plane, in the order x, y, z.
    layers:      of cells through the thickness.
    """
    options = dict(size=size, thickness=thickness, normal=normal, origin=origin, cells=cells, layers=layers)
    return _pliant.generate("sheet", options)


def lattice(
    size: ArrayLike = (1.0, 1.0, 1.0),
    cells: Sequence[int] = (3, 3, 3),
    strut: float = 0.1,
    *,
    origin: ArrayLike = _ZERO,
    across: int = 2,
) -> TetMesh:
    """Square struts along the edges of a grid of cuboids. Set: joints (where struts cross).

    cells:  openings along x, y and z; with 0 along one of them it is a net, as thick as its size there.
    across: cells of elements across a strut.
    """
    return _pliant.generate("lattice", dict(size=size, cells=cells, strut=strut, origin=origin, across=across))
