"""pliant.linalg: the direct solver for matrices of scipy.sparse."""

import threading

import numpy as np
import pytest

import pliant

sparse = pytest.importorskip("scipy.sparse")
from pliant.linalg import SparseCholesky  # noqa: E402


def grid(n, dimensions=2):
    """The Laplacian of a grid plus the identity."""
    line = sparse.diags([-1, 2, -1], [-1, 0, 1], shape=(n, n))
    A = sparse.identity(1)
    for _ in range(dimensions):
        A = sparse.kron(A, sparse.identity(n)) + sparse.kron(sparse.identity(A.shape[0]), line)
    return (A + sparse.identity(A.shape[0])).tocsr()


def blocks(n=12):
    """Three coupled unknowns per node of a grid."""
    coupling = np.array([[4.0, 1.0, 0.5], [1.0, 5.0, -1.0], [0.5, -1.0, 6.0]])
    return sparse.kron(grid(n), coupling).tocsr()


@pytest.mark.parametrize("block_size", [1, 3])
@pytest.mark.parametrize("form", ["whole", "upper", "lower"])
def test_solutions_are_those_of_dense_algebra(block_size, form):
    A = blocks()
    given = {"whole": A, "upper": sparse.triu(A), "lower": sparse.tril(A)}[form]
    solver = SparseCholesky(given, block_size)
    assert solver.factor(given) == "ok"
    b = np.random.default_rng(1).standard_normal((A.shape[0], 5))
    expected = np.linalg.solve(A.toarray(), b)
    np.testing.assert_allclose(solver.solve(b), expected, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(solver.solve(b[:, 0]), expected[:, 0], rtol=1e-10, atol=1e-12)
    assert solver.statistics.factor_entries >= sparse.tril(A).nnz
    assert sorted(solver.order) == list(range(A.shape[0] // block_size))


def test_a_part_is_refactored_to_the_bits_of_the_whole():
    A = grid(40)
    solver = SparseCholesky(A, keep_updates=True)
    assert solver.factor(A) == "ok"
    dirty = [0, 1, 40, 41]
    change = sparse.coo_matrix((np.full(4, 0.5), (dirty, dirty)), shape=A.shape)
    assert solver.refactor(A + change, dirty) == "ok"
    assert solver.statistics.last_flops < 0.9 * solver.statistics.flops
    whole = SparseCholesky(A)
    whole.factor(A + change)
    b = np.ones(A.shape[0])
    assert np.array_equal(solver.solve(b), whole.solve(b))


def test_indefinite_matrices_are_counted_and_solved():
    A = grid(15) - 2.5 * sparse.identity(225)
    eigenvalues = np.linalg.eigvalsh(A.toarray())
    solver = SparseCholesky(A)
    assert solver.factor(A) == "not positive definite"
    with pytest.raises(pliant.InputError, match="there is no factor"):
        solver.solve(np.ones(225))
    assert solver.factor(A, kind="ldlt") == "ok"
    assert solver.inertia == ((eigenvalues > 0).sum(), (eigenvalues < 0).sum(), 0)
    b = np.arange(225.0)
    assert np.linalg.norm(A @ solver.solve(b) - b) < 1e-10 * np.linalg.norm(b)


def test_schur_complement_and_condensation():
    A = blocks(6)
    d_nodes = [7, 3, 20]
    solver = SparseCholesky(A, 3, last_nodes=d_nodes, schur=True)
    assert solver.factor(A) == "ok"
    d = np.array([3 * node + k for node in d_nodes for k in range(3)])
    q = np.setdiff1d(np.arange(A.shape[0]), d)
    dense = A.toarray()
    expected = dense[np.ix_(d, d)] - dense[np.ix_(d, q)] @ np.linalg.solve(dense[np.ix_(q, q)], dense[np.ix_(q, d)])
    np.testing.assert_allclose(solver.schur(), expected, rtol=1e-10, atol=1e-12)
    X = np.zeros((A.shape[0], len(d)))
    X[d] = np.eye(len(d))
    J = solver.condense(X)
    np.testing.assert_allclose(J[q], -np.linalg.solve(dense[np.ix_(q, q)], dense[np.ix_(q, d)]), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(J.T @ (A @ J), expected, rtol=1e-9, atol=1e-11)


def test_a_factor_in_float_has_seven_digits():
    A = grid(30)
    solver = SparseCholesky(A)
    solver.factor(A)
    b = np.ones((A.shape[0], 3))
    exact = solver.solve(b)
    bytes_before = solver.statistics.factor_bytes
    solver.store_in_float()
    assert solver.statistics.factor_bytes * 2 == bytes_before
    error = np.abs(solver.solve(b) - exact).max() / np.abs(exact).max()
    assert 1e-10 < error < 1e-5


def test_patterns_change_by_a_few_entries():
    A = grid(10)
    solver = SparseCholesky(A)
    solver.factor(A)
    contact = sparse.coo_matrix(([2.0, 2.0, -2.0, -2.0], ([0, 99, 0, 99], [0, 99, 99, 0])), shape=A.shape)
    with pytest.raises(pliant.InputError, match=r"entry \(0, 99\) is outside of the pattern"):
        solver.factor(A + contact)
    solver.change_pattern(A + contact)
    assert solver.factor(A + contact) == "ok"
    b = np.ones(100)
    np.testing.assert_allclose((A + contact) @ solver.solve(b), b, rtol=1e-10)


def test_mistakes_are_named():
    A = grid(4)
    with pytest.raises(pliant.InputError, match="not symmetric"):
        SparseCholesky(A + sparse.coo_matrix(([1.0], ([0], [5])), shape=A.shape))
    with pytest.raises(pliant.InputError, match="not square"):
        SparseCholesky(A[:3])
    with pytest.raises(pliant.InputError, match="no multiple of the block size 3"):
        SparseCholesky(A, 3)
    with pytest.raises(pliant.InputError, match="scipy.sparse, got ndarray"):
        SparseCholesky(np.eye(3))
    with pytest.raises(pliant.InputError, match="last_nodes has 16; nodes are 0 to 15"):
        SparseCholesky(A, last_nodes=[16])
    solver = SparseCholesky(A)
    with pytest.raises(pliant.InputError, match="expected 16 rows"):
        solver.solve(np.ones(15))
    with pytest.raises(pliant.InputError, match="schur=True"):
        solver.schur()
    with pytest.raises(pliant.InputError, match="kind is 'lu'"):
        solver.factor(A, kind="lu")
    assert solver.factor(A * np.nan) == "not finite"
    assert solver.factor(sparse.csr_matrix((16, 16)), kind="ldlt") == "singular"


def test_other_threads_wait_their_turn_and_one_node_is_enough():
    A = grid(25)
    solver = SparseCholesky(A)
    solver.factor(A)
    b = np.random.default_rng(2).standard_normal((A.shape[0], 4))
    expected = solver.solve(b)
    same = []
    threads = [threading.Thread(target=lambda: same.append(np.array_equal(solver.solve(b), expected))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert same == [True] * 8
    single = SparseCholesky(sparse.csr_matrix([[4.0]]))
    assert single.factor(sparse.csr_matrix([[4.0]])) == "ok"
    assert single.solve([8.0]) == [2.0]
