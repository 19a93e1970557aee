"""The geometry of contact, on numpy arrays: distances with derivatives, the barrier, continuous collision detection.

Points are arrays of shape (..., 3); the shapes in front broadcast against each other and come back in front of every
result. Lengths in metres.

>>> from pliant import contact
>>> d = contact.point_triangle([0.2, 0.5, 0.2], [0, 0, 0], [1, 0, 0], [0, 0, 1])
>>> float(d.squared), contact.POINT_TRIANGLE_TYPES[d.type]
(0.25, 'face')
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _pliant

__all__ = [
    "EDGE_EDGE_TYPES",
    "POINT_TRIANGLE_TYPES",
    "Barrier",
    "Distance",
    "barrier",
    "edge_edge",
    "edge_edge_ccd",
    "point_triangle",
    "point_triangle_ccd",
]

#: What of the triangle is nearest, by the number in `Distance.type`; edges 0, 1, 2 are t0t1, t1t2, t2t0.
POINT_TRIANGLE_TYPES = ("t0", "t1", "t2", "edge0", "edge1", "edge2", "face")
#: What of the two edges is nearest.
EDGE_EDGE_TYPES = ("a0_b0", "a0_b1", "a1_b0", "a1_b1", "a_b0", "a_b1", "a0_b", "a1_b", "a_b")


@dataclass(frozen=True)
class Distance:
    """Squared distances of pairs and their exact derivatives with respect to the four points."""

    squared: NDArray[Any]  #: (...), m^2
    type: NDArray[Any]  #: (...), a number into POINT_TRIANGLE_TYPES or EDGE_EDGE_TYPES
    gradient: Optional[NDArray[Any]]  #: (..., 4, 3): by point and axis, m; None when not asked for
    hessian: Optional[NDArray[Any]]  #: (..., 12, 12), over the points' coordinates one after the other


@dataclass(frozen=True)
class Barrier:
    """Barrier values with derivatives with respect to the squared distance."""

    value: NDArray[Any]  #: m^4
    first: NDArray[Any]  #: m^2
    second: NDArray[Any]


def _rows(points: tuple[ArrayLike, ...]) -> tuple[tuple[int, ...], list[NDArray[Any]]]:
    arrays = np.broadcast_arrays(*[np.asarray(p, dtype=float) for p in points])
    if arrays[0].ndim == 0 or arrays[0].shape[-1] != 3:
        raise _pliant.InputError(f"points must have the shape (..., 3), but have {arrays[0].shape}")
    return arrays[0].shape[:-1], [np.ascontiguousarray(a).reshape(-1, 3) for a in arrays]


def _distance(kind: str, points: tuple[ArrayLike, ...], derivatives: bool) -> Distance:
    shape, rows = _rows(points)
    a, b, c, d = rows
    squared, type_, gradient, hessian = _pliant.pair_distances(kind, a, b, c, d, derivatives)
    return Distance(
        squared.reshape(shape)[()],
        type_.reshape(shape)[()],
        None if gradient is None else gradient.reshape((*shape, 4, 3)),
        None if hessian is None else hessian.reshape((*shape, 12, 12)),
    )


def point_triangle(
    p: ArrayLike, t0: ArrayLike, t1: ArrayLike, t2: ArrayLike, *, derivatives: bool = True
) -> Distance:
    """Squared distance of points to triangles, which part of the triangle is nearest, gradient and Hessian."""
    return _distance("point_triangle", (p, t0, t1, t2), derivatives)


def edge_edge(a0: ArrayLike, a1: ArrayLike, b0: ArrayLike, b1: ArrayLike, *, derivatives: bool = True) -> Distance:
    """Squared distance of edges to edges, which parts are nearest, gradient and Hessian."""
    return _distance("edge_edge", (a0, a1, b0, b1), derivatives)


def barrier(d2: ArrayLike, dhat2: ArrayLike) -> Barrier:
    """-(d2 - dhat2)^2 ln(d2/dhat2) below the threshold and 0 beyond, with first and second derivative."""
    squared, threshold = np.broadcast_arrays(np.asarray(d2, dtype=float), np.asarray(dhat2, dtype=float))
    values = _pliant.barriers(np.ascontiguousarray(squared).ravel(), np.ascontiguousarray(threshold).ravel())
    return Barrier(*(v.reshape(squared.shape)[()] for v in values))


def _time(kind: str, begin: tuple[ArrayLike, ...], end: tuple[ArrayLike, ...], until: float, gap: float) -> Any:
    shape, rows = _rows((*begin, *end))
    times = _pliant.pair_times_of_impact(kind, *rows, until, gap).reshape(shape)
    if shape:
        return times
    return None if np.isnan(times) else float(times)


def point_triangle_ccd(
    begin: tuple[ArrayLike, ArrayLike, ArrayLike, ArrayLike],
    end: tuple[ArrayLike, ArrayLike, ArrayLike, ArrayLike],
    *,
    until: float = 1.0,
    gap: float = 0.001,
) -> Any:
    """When points (p, t0, t1, t2) that move along lines from `begin` to `end` (time 1) have come as near to their triangles
    as `gap` times the first distance: never later than they meet. None for a single pair that does not, NaN in arrays."""
    return _time("point_triangle", tuple(begin), tuple(end), until, gap)


def edge_edge_ccd(
    begin: tuple[ArrayLike, ArrayLike, ArrayLike, ArrayLike],
    end: tuple[ArrayLike, ArrayLike, ArrayLike, ArrayLike],
    *,
    until: float = 1.0,
    gap: float = 0.001,
) -> Any:
    """The same for edges (a0, a1, b0, b1)."""
    return _time("edge_edge", tuple(begin), tuple(end), until, gap)
