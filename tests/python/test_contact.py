"""Contact from Python: the geometry on arrays, and simulations with it."""

import numpy as np
import pytest

import pliant
from pliant import contact


def numerical_gradient(function, points, h=1e-6):
    gradient = np.zeros((4, 3))
    for i in range(4):
        for k in range(3):
            high, low = points.copy(), points.copy()
            high[i, k] += h
            low[i, k] -= h
            gradient[i, k] = (function(high) - function(low)) / (2 * h)
    return gradient


@pytest.mark.parametrize("measure", [contact.point_triangle, contact.edge_edge])
def test_gradients_are_those_of_the_squared_distance(measure):
    points = np.random.default_rng(1).uniform(-1, 1, (20, 4, 3))
    d = measure(*points.transpose(1, 0, 2))
    assert d.squared.shape == (20,) and d.gradient.shape == (20, 4, 3) and d.hessian.shape == (20, 12, 12)
    for k in range(20):
        expected = numerical_gradient(lambda p: measure(*p, derivatives=False).squared, points[k])
        np.testing.assert_allclose(d.gradient[k], expected, atol=1e-7)
        np.testing.assert_allclose(d.hessian[k], d.hessian[k].T, atol=1e-12)


def test_single_pairs_and_broadcasting():
    d = contact.point_triangle([0.2, 0.5, 0.2], [0, 0, 0], [1, 0, 0], [0, 0, 1])
    assert d.squared == pytest.approx(0.25) and contact.POINT_TRIANGLE_TYPES[d.type] == "face"
    many = contact.point_triangle(np.ones((5, 2, 3)), [0, 0, 0], [1, 0, 0], [0, 0, 1], derivatives=False)
    assert many.squared.shape == (5, 2) and many.gradient is None
    with pytest.raises(pliant.InputError, match="shape"):
        contact.edge_edge([0, 0], [1, 0], [0, 1], [1, 1])


def test_the_barrier_is_zero_beyond_its_threshold_and_infinite_at_contact():
    b = contact.barrier([0.0, 0.25, 1.0, 2.0], 1.0)
    assert np.isinf(b.value[0]) and b.value[1] == pytest.approx(-0.5625 * np.log(0.25))
    assert b.value[2] == 0 and b.value[3] == 0 and b.first[1] < 0 < b.second[1]


def test_times_of_impact_are_not_late_and_none_where_nothing_meets():
    triangle = ([0, 0, 0], [1, 0, 0], [0, 0, 1])
    time = contact.point_triangle_ccd(([0.2, 1, 0.2], *triangle), ([0.2, -1, 0.2], *triangle))
    assert 0.495 < time <= 0.5
    assert contact.point_triangle_ccd(([0.2, 1, 0.2], *triangle), ([0.2, 0.5, 0.2], *triangle)) is None
    heights = np.array([[0.2, -1, 0.2], [0.2, 0.5, 0.2]])
    times = contact.point_triangle_ccd(([0.2, 1, 0.2], *triangle), (heights, *triangle))
    assert times.shape == (2,) and 0.495 < times[0] <= 0.5 and np.isnan(times[1])
    edges = ([0, 1, -1], [0, 1, 1], [-1, 0, 0], [1, 0, 0])
    assert 0.495 < contact.edge_edge_ccd(edges, ([0, -1, -1], [0, -1, 1], [-1, 0, 0], [1, 0, 0])) <= 0.5


def test_two_blocks_fall_on_each_other_and_stay_apart():
    sim = pliant.Simulation(dt=0.01, solver="pod-newton")
    rubber = pliant.material("neo-hookean", young=1e5, poisson=0.3)
    lower = sim.add_body(pliant.box(size=(0.2, 0.1, 0.2), cells=(2, 1, 2), origin=(0, 0.0015, 0)), rubber)
    upper = sim.add_body(pliant.box(size=(0.1, 0.1, 0.1), cells=(1, 1, 1), origin=(0.05, 0.105, 0.05)), rubber)
    sim.add_collider(plane={"normal": (0, 1, 0)})
    sim.set_contact(dhat=2e-3, friction=0.3)
    for _ in range(20):
        report = sim.step()
        assert report.outcome == "converged" and report.minimum_gap > 0
    assert report.contacts > 0 and abs(report.figures["joules_friction"]) < 1e-3  # nothing slides
    weight = 9.81 * sim.masses().sum()
    assert sim.contact_forces()[:, 1].sum() == pytest.approx(weight, rel=0.3)  # not quite at rest yet
    assert sim.contact_pressures(lower).max() > 100 and sim.contact_pressures(upper).min() == 0
    assert sim.positions(upper)[:, 1].min() > sim.positions(lower)[:, 1].max() - 0.02
    assert sim.positions(lower)[:, 1].min() > 0
