"""Energies written in Python join a model and work with every solver."""

import traceback

import numpy as np
import pytest
from conftest import error

import pliant

NEWTONS = ["newton", "projected-newton", "pod-newton", "kinetic-newton"]


def springs(k, rest):
    """Energy and gradient of springs between two nodes: k/2 (l - L)^2."""

    def evaluate(x):
        d = x[:, 1] - x[:, 0]
        length = np.linalg.norm(d, axis=1)
        pull = (k * (length - rest) / length)[:, None] * d
        return 0.5 * k * (length - rest) ** 2, np.stack([-pull, pull], axis=1)

    return evaluate


def spring_hessian(k, rest):
    def evaluate(x):
        d = x[:, 1] - x[:, 0]
        length = np.linalg.norm(d, axis=1)
        n = d / length[:, None]
        nn = n[:, :, None] * n[:, None, :]
        block = k * (nn + (1 - rest / length)[:, None, None] * (np.eye(3) - nn))
        return np.block([[block, -block], [-block, block]])

    return evaluate


REST = np.full(4, 1.5)
RISE = 2 - (1.5 + 9.81 / 400)


def hung_block(solver="pod-newton", **energy):
    """A stiff block of 1 kg that hangs by its four upper corners from springs of 100 N/m and 1.5 m, 2 m long at first."""
    sim = pliant.Simulation(dt=1, integrator="quasistatic", solver={"name": solver, "criterion": "residual", "tolerance": 1e-6})
    stiff = pliant.material("fixed-corotated", young=1e7, poisson=0.3)
    low = sim.add_body(pliant.box(), stiff, density=1.0)
    high = sim.add_body(pliant.box(origin=(0, 3, 0)), stiff, density=1.0)
    sim.pin(high, "all")
    bottom = np.flatnonzero(high.mesh.vertices[:, 1] == 3)
    top = np.flatnonzero(low.mesh.vertices[:, 1] == 1)
    stencils = np.stack([top, bottom + high.nodes.start], axis=1)
    sim.add_energy(stencils, springs(100.0, REST), **energy)
    return sim, low


def test_a_spring_network_in_ten_lines_hangs_where_it_should():
    sim, block = hung_block(hessian=spring_hessian(100.0, REST))
    report = sim.step()
    assert report.converged
    # Four springs of k carry 1 kg: each is longer than at rest by m g / 4 k.
    rise = sim.positions(block)[:, 1] - block.rest_positions[:, 1]
    assert rise == pytest.approx(np.full(8, RISE), rel=1e-5)
    assert sim.energies().more["custom"] == pytest.approx(4 * 0.5 * 100 * (9.81 / 400) ** 2, rel=1e-5)
    # Statics: the springs pull each corner with a quarter of the weight.
    total = sim.forces(block) + sim.external_forces(block)
    assert np.abs(total).max() < 1e-6


@pytest.mark.parametrize("solver", ["newton", "projected-newton", "pod-newton"])
@pytest.mark.parametrize("exact", [True, False])
def test_every_newton_solver_takes_exact_and_differenced_hessians(solver, exact):
    sim, block = hung_block(solver, hessian=spring_hessian(100.0, REST) if exact else None)
    assert sim.step().converged
    assert (sim.positions(block) - block.rest_positions)[:, 1] == pytest.approx(np.full(8, RISE), rel=1e-5)


def oscillator(solver, dt, parameters=None):
    """A block of 1 kg on one spring of k to a pinned one, pulled out by 0.1 m; the springs are along x."""
    sim = pliant.Simulation(dt=dt, gravity=(0, 0, 0), solver={"name": solver, "tolerance": 1e-6})
    stiff = pliant.material("fixed-corotated", young=1e7, poisson=0.3)
    wall = sim.add_body(pliant.box(), stiff, density=1.0)
    block = sim.add_body(pliant.box(origin=(3, 0, 0)), stiff, density=1.0)
    sim.pin(wall, "all")
    left = np.flatnonzero(wall.mesh.vertices[:, 0] == 1)
    right = np.flatnonzero(block.mesh.vertices[:, 0] == 3)
    stencils = np.stack([left, right + block.nodes.start], axis=1)
    sim.add_energy(stencils, springs(1.0, np.full(4, 2.0)), name="spring")
    sim.positions(block)[:, 0] += 0.1
    return sim, block


@pytest.mark.parametrize("solver", NEWTONS)
def test_a_block_on_springs_swings_as_implicit_euler_does(solver):
    dt, steps = 0.02, 40
    sim, block = oscillator(solver, dt)
    sim.run(steps=steps)
    x, v = 0.1, 0.0
    for _ in range(steps):
        v = (v - dt * 4.0 * x) / (1 + dt * dt * 4.0)
        x += dt * v
    offset = (sim.positions(block) - block.rest_positions)[:, 0].mean()
    assert offset == pytest.approx(x, rel=1e-4)


def test_indefinite_hessians_are_projected():
    # Springs under compression push sideways: the exact Hessian is indefinite.
    sim = pliant.Simulation(dt=1, gravity=(0, 0, 0), integrator="quasistatic", solver="projected-newton")
    body = sim.add_body(pliant.box(), pliant.material("fixed-corotated", young=1e3, poisson=0.3))
    sim.pin(body, "x-min")
    pairs = np.array([[0, 1], [2, 3], [4, 5], [6, 7]])
    sim.add_energy(pairs, springs(5e3, 1.5), hessian=spring_hessian(5e3, 1.5), body=body)
    report = sim.step()
    assert report.converged and report.projected_iterations == report.iterations > 1
    assert sim.positions(body)[:, 0].max() > 1.2


def test_parameters_are_passed_on():
    calls = []

    def evaluate(x, p):
        calls.append(p)
        d = x[:, 0] - p["anchor"]
        return 0.5 * p["k"] * (d**2).sum(axis=1), p["k"] * d[:, None]

    sim = pliant.Simulation(dt=0.1, gravity=(0, 0, 0))
    body = sim.add_body(pliant.box(), pliant.material(young=1e5, poisson=0.3))
    parameters = {"anchor": body.mesh.vertices + (0.1, 0, 0), "k": 1e9}
    sim.add_energy(np.arange(8)[:, None], evaluate, body=body, parameters=parameters)
    assert sim.step().converged
    assert np.abs(sim.positions(body) - parameters["anchor"]).max() < 1e-3
    assert all(p is parameters for p in calls)


def test_an_infinite_value_keeps_the_line_search_away():
    def barrier(x):
        height = x[:, 0, 1]
        safe = np.where(height > 0, height, 1.0)
        value = np.where(height > 0, -1e-2 * np.log(safe), np.inf)
        gradient = np.zeros_like(x)
        gradient[:, 0, 1] = -1e-2 / safe
        return value, gradient

    sim = pliant.Simulation(dt=0.05)
    body = sim.add_body(pliant.box(origin=(0, 0.05, 0)), pliant.material(young=1e4, poisson=0.3), density=1.0)
    sim.add_energy(np.arange(8)[:, None], barrier, body=body)
    assert sim.run(steps=40).finished
    assert sim.positions(body)[:, 1].min() > 0


def test_an_exception_comes_through_with_its_traceback_and_leaves_the_state():
    def broken(x):
        raise RuntimeError("no such spring")

    sim = pliant.Simulation(dt=0.1)
    body = sim.add_body(pliant.box(), pliant.material(young=1e5, poisson=0.3))
    sim.add_energy([[0, 1]], broken)
    before = sim.state.copy()
    for call in (sim.step, lambda: sim.run(steps=3), sim.forces):
        with pytest.raises(RuntimeError, match="no such spring") as caught:
            call()
        assert "in broken" in "".join(traceback.format_tb(caught.value.__traceback__))
    assert sim.state == before


def test_wrong_shapes_are_named():
    def simulation(function, stencils=((0, 1), (1, 2)), **more):
        # From x^n: an explicit step solves free fall, and no Hessian is asked for.
        sim = pliant.Simulation(dt=0.1, solver={"name": "pod-newton", "start": "last-positions"})
        sim.add_body(pliant.box(), pliant.material(young=1e5, poisson=0.3))
        sim.add_energy(stencils, function, name="mine", **more)
        return sim

    zeros = lambda x: (np.zeros(2), np.zeros((2, 2, 3)))  # noqa: E731
    assert error(simulation(lambda x: 1).step).startswith("energy 'mine': the function must return a tuple of values")
    assert error(simulation(lambda x: (np.zeros(3), zeros(x)[1])).step) == (
        "energy 'mine': the values must have the shape [2], but have (3,)"
    )
    assert "gradients must have the shape [2, 2, 3], but have (2, 3)" in error(
        simulation(lambda x: (np.zeros(2), np.zeros((2, 3)))).step
    )
    assert "Hessians must have the shape [2, 6, 6]" in error(simulation(zeros, hessian=lambda x: np.zeros((2, 3, 3))).step)
    assert "stencils must have the shape (n, k), but have (2,)" in error(lambda: simulation(zeros, stencils=[0, 1]))
    assert "stencil 0 names a node twice" in error(lambda: simulation(zeros, stencils=[[1, 1]]))
    assert "energy 'mine' names node 8, but there are 8 nodes" in error(simulation(zeros, stencils=[[0, 8]]).step)


def test_an_energy_may_not_step_the_simulation_it_is_part_of():
    sim = pliant.Simulation(dt=0.1)
    sim.add_body(pliant.box(), pliant.material(young=1e5, poisson=0.3))
    sim.add_energy([[0, 1]], lambda x: sim.step())
    with pytest.raises(RuntimeError, match="already running"):
        sim.step()
