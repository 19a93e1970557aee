"""The engine's sparse direct solver, for matrices of `scipy.sparse`.

>>> from pliant.linalg import SparseCholesky
>>> solver = SparseCholesky(A, block_size=3)       # orders and plans, once per pattern
>>> if solver.factor(A) == "ok":                   # LL^T; kind="ldlt" for indefinite matrices
...     x = solver.solve(b)                        # any number of right-hand sides at once

Matrices are symmetric, given whole or as one of their triangles. With `block_size=3`, rows 3i, 3i+1, 3i+2 are the unknowns of
node i, as finite elements have them: the analysis is nine times smaller. Nodes are what `last_nodes`, `dirty_nodes` and
`order` speak of; with block size 1, nodes are rows. Numbers are in double, results the same for any number of threads.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _pliant
from ._pliant import InputError

__all__ = ["SolverStatistics", "SparseCholesky"]


@dataclass(frozen=True)
class SolverStatistics:
    """What a factorisation is made of."""

    factor_entries: int  #: numbers in the lower triangle of the factor
    flops: float  #: of a whole LL^T, additions and multiplications
    last_flops: float  #: of what the last factor or refactor computed
    factor_bytes: int
    update_bytes: int  #: what refactor needs beside it
    supernodes: int
    perturbed_pivots: int  #: of the last LDL^T; solutions are refined to make up for them


class SparseCholesky:
    """Factor symmetric matrices of one pattern: LL^T, or LDL^T where they are indefinite.

    `last_nodes` are eliminated after all others: changes that touch only them are cheap to refactor. With `schur`, they become one
    dense block in their given order, whose Schur complement `schur()` returns. `attempts` tries several orderings and takes the
    best. `keep_updates` keeps the memory that `refactor` needs.
    """

    def __init__(
        self,
        A: Any,
        block_size: int = 1,
        *,
        last_nodes: ArrayLike | None = None,
        schur: bool = False,
        attempts: int = 1,
        keep_updates: bool = False,
    ) -> None:
        if block_size not in (1, 3):
            raise InputError(f"block_size is {block_size}; use 1, or 3 for three unknowns per node")
        if attempts < 1:
            raise InputError(f"attempts is {attempts}; use 1 or more")
        if schur and last_nodes is None:
            raise InputError("schur=True needs last_nodes, the nodes of the Schur complement")
        self.block_size = block_size
        start, columns, values = _upper_triangle(A)
        self.shape = (len(start) - 1, len(start) - 1)
        if self.shape[0] % block_size:
            raise InputError(f"the matrix has {self.shape[0]} rows, no multiple of the block size {block_size}")
        self._solver = _pliant.SparseCholesky(
            start, columns, values, block_size, _nodes(last_nodes, "last_nodes"), schur, attempts, keep_updates
        )

    def factor(self, A: Any, kind: str = "llt") -> str:
        """Factor A, which has the analysed pattern or a part of it.

        Returns "ok", "not positive definite" (an LL^T stops at the first pivot that says so), "singular", "not finite" or "out of
        memory"; there is a factor to solve with only after "ok".
        """
        if kind not in ("llt", "ldlt"):
            raise InputError(f"kind is {kind!r}; use 'llt' or 'ldlt'")
        return self._solver.factor(*_upper_triangle(A), kind == "ldlt")

    def refactor(self, A: Any, dirty_nodes: ArrayLike) -> str:
        """Factor A, which differs from the last matrix only in blocks of which both nodes are dirty, by recomputing that part.

        Gives the bits of `factor`. Without `keep_updates`, everything is computed.
        """
        return self._solver.refactor(*_upper_triangle(A), _nodes(dirty_nodes, "dirty_nodes"))

    def change_pattern(self, A: Any) -> None:
        """Plan for the pattern of A, which differs in a few entries, in the same order of elimination; then call factor."""
        start, columns, values = _upper_triangle(A)
        if len(start) - 1 != self.shape[0]:
            raise InputError(f"the matrix has {len(start) - 1} rows, the analysed one {self.shape[0]}")
        self._solver.change_pattern(start, columns, values)

    def solve(self, b: ArrayLike) -> NDArray[np.float64]:
        """The solution of A x = b for a vector or for the columns of an array. After an LDL^T it is refined by residuals."""
        return self._columns(b, self._solver.solve)

    def store_in_float(self) -> None:
        """Keep the LL^T in single precision until the next factorisation: half the memory, seven digits, for preconditioners."""
        self._solver.store_in_float()

    def schur(self) -> NDArray[np.float64]:
        """A_dd - A_dq A_qq^-1 A_qd over the unknowns of the last nodes d, in their order; q are all others."""
        return np.asarray(self._solver.schur())

    def condense(self, values: ArrayLike) -> NDArray[np.float64]:
        """Columns of values with the rows of the last nodes d given: their other rows become -A_qq^-1 A_qd times these."""
        return self._columns(values, self._solver.condense)

    @property
    def inertia(self) -> tuple[int, int, int]:
        """How many eigenvalues of the last LDL^T's matrix are positive, negative, zero."""
        return self._solver.inertia()

    @property
    def statistics(self) -> SolverStatistics:
        """Sizes and work of the factorisation."""
        return SolverStatistics(**self._solver.statistics())

    @property
    def order(self) -> NDArray[np.int32]:
        """The order of elimination: entry k is the node eliminated k-th."""
        return np.asarray(self._solver.order())

    def _columns(self, values: ArrayLike, work: Any) -> NDArray[np.float64]:
        array = np.asarray(values, dtype=np.float64)
        if array.ndim not in (1, 2) or array.shape[0] != self.shape[0]:
            raise InputError(f"expected {self.shape[0]} rows, got an array of shape {array.shape}")
        result = np.asarray(work(array.reshape(self.shape[0], -1)))
        return result.reshape(array.shape) if array.ndim == 1 else result


def _nodes(nodes: ArrayLike | None, name: str) -> list[int]:
    if nodes is None:
        return []
    array = np.atleast_1d(np.asarray(nodes))
    if array.size == 0:
        return []
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise InputError(f"{name} must be a list of node numbers")
    if name == "last_nodes" and len(np.unique(array)) != len(array):
        raise InputError("last_nodes names a node twice")
    return [int(node) for node in array]


def _upper_triangle(A: Any) -> tuple[Any, Any, Any]:
    """The upper triangle by rows of a scipy matrix that is symmetric, or has one triangle only."""
    if not hasattr(A, "tocsr"):
        raise InputError(f"expected a matrix of scipy.sparse, got {type(A).__name__}")
    rows = A.tocsr()
    if rows.shape[0] != rows.shape[1]:
        raise InputError(f"the matrix is {rows.shape[0]} x {rows.shape[1]}, not square")
    if rows.dtype.kind not in "fiub":
        raise InputError(f"the matrix has entries of type {rows.dtype}; use real numbers")
    rows.sum_duplicates()
    row_of = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    if np.any(rows.indices < row_of):
        if np.any(rows.indices > row_of):
            difference = abs(rows - rows.T)
            largest = abs(rows).max()
            # Not <=, so that NaN passes on to factor, which reports it.
            if difference.max() > 1e-10 * largest:
                raise InputError("the matrix is not symmetric; pass a symmetric one, or one of its triangles")
        else:
            rows = rows.T.tocsr()
            row_of = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    rows.sort_indices()
    keep = rows.indices >= row_of
    start = np.concatenate([[0], np.cumsum(np.bincount(row_of[keep], minlength=rows.shape[0]))]).astype(np.int64)
    return start, rows.indices[keep].astype(np.int32), rows.data[keep].astype(np.float64)
