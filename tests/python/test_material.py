"""Materials by themselves: shapes, derivatives, projections, errors."""

import pickle

import numpy as np
import pytest
from conftest import error

import pliant


def gradients(shape=(5, 4)):
    return np.eye(3) + 0.2 * np.random.default_rng(7).standard_normal((*shape, 3, 3))


def parameters(law):
    """What a law needs beside its stiffness."""
    return {"curves": {"a": [[0.5, -2e5], [1, 0], [1.5, 1.5e5]]}} if law == "valanis-landel" else {"young": 1e5, "poisson": 0.3}


@pytest.mark.parametrize("law", list(pliant.laws()))
def test_leading_dimensions_are_kept_and_each_point_is_its_own(law):
    material = pliant.material(law, **parameters(law))
    F = gradients()
    assert material.energy(F).shape == (5, 4)
    assert material.stress(F).shape == (5, 4, 3, 3)
    assert material.hessian(F).shape == (5, 4, 3, 3, 3, 3)
    assert material.energy(F[2, 1]) == material.energy(F)[2, 1]
    assert (material.stress(F[2, 1]) == material.stress(F)[2, 1]).all()
    assert isinstance(material.energy(np.eye(3)), float)
    assert material.stress(F[:0]).shape == (0, 4, 3, 3)


@pytest.mark.parametrize("law", list(pliant.laws()))
def test_stress_and_hessian_are_the_derivatives_with_their_indices(law):
    material = pliant.material(law, **parameters(law))
    F = gradients((7,))
    if not pliant.laws()[law].survives_inversion:
        F = F[np.linalg.det(F) > 0.2]
    P, H = material.stress(F), material.hessian(F)
    h = 1e-6
    for i in range(3):
        for j in range(3):
            E = np.zeros((3, 3))
            E[i, j] = h
            slope = (material.energy(F + E) - material.energy(F - E)) / (2 * h)
            assert np.allclose(P[:, i, j], slope, rtol=1e-6, atol=1e-3)
            change = (material.stress(F + E) - material.stress(F - E)) / (2 * h)
            assert np.allclose(H[..., i, j], change, rtol=1e-5, atol=1e-1)


def test_projected_hessians_have_no_negative_eigenvalue_and_agree():
    material = pliant.material("stvk", young=1e5, poisson=0.3)
    F = 0.5 * gradients((20,))
    exact = np.linalg.eigvalsh(material.hessian(F).reshape(-1, 9, 9))
    analytic = material.hessian(F, projection="analytic").reshape(-1, 9, 9)
    numerical = material.hessian(F, projection="numerical").reshape(-1, 9, 9)
    assert exact.min() < -1e3
    assert np.linalg.eigvalsh(analytic).min() > -1e-6
    assert np.allclose(analytic, numerical, atol=1e-5 * np.abs(exact).max())
    assert 'projection must be "none", "analytic" or "numerical"' in error(lambda: material.hessian(F, "other"))


def test_both_ways_to_give_stiffness_are_the_same():
    one = pliant.material("neo-hookean", young=1e5, poisson=0.25)
    two = pliant.material("neo-hookean", mu=4e4, lambda_=4e4)
    assert (one.mu, one.lambda_) == (4e4, 4e4) == (two.mu, two.lambda_)
    assert pliant.material("neo-hookean", E=1e5, nu=0.25).mu == one.mu
    F = gradients()
    assert (one.stress(F) == two.stress(F)).all()


def test_mistakes_are_named_with_line_and_remedy():
    message = error(lambda: pliant.material("neo-hokean", young=1e5, poisson=0.3))
    assert 'test_material.py:' in message and "did you mean 'neo-hookean'?" in message
    assert "must be a number above -1 and below 0.5" in error(lambda: pliant.material("arap", young=1e5, poisson=0.5))
    assert "did you mean 'poisson'?" in error(lambda: pliant.material("arap", young=1e5, poison=0.5))
    assert "'young' in [[body]] also needs 'poisson'" in error(lambda: pliant.material("arap", young=1e5))
    assert "F must have the shape (..., 3, 3), but has (2, 2)" in error(
        lambda: pliant.material("arap", mu=1, lambda_=1).stress(np.eye(2))
    )


def test_materials_print_compare_and_pickle():
    material = pliant.material("stvk", young=1e5, poisson=0.3)
    assert repr(material) == "pliant.material('stvk', young=100000.0, poisson=0.3)"
    assert pickle.loads(pickle.dumps(material)) == material
    assert eval(repr(material)) == material
