"""Springs, attachments and shells from Python, changes between steps, batches and gradients."""

import numpy as np
import pytest
from conftest import error

import pliant

EXACT = {"name": "newton", "criterion": "residual", "tolerance": 1e-10}


def block(name="box", size=(0.2, 0.2, 0.2), cells=(2, 2, 2), origin=(0, 0, 0), sim=None, young=2e4, **keys):
    sim = sim or pliant.Simulation(dt=0.02, gravity=(0, 0, 0), **keys)
    mesh = pliant.box(size=size, cells=cells, origin=origin)
    return sim, sim.add_body(mesh, pliant.material(young=young, poisson=0.3), density=1000, name=name)


def test_a_weight_hangs_as_low_as_its_spring_says():
    sim, body = block(young=1e7, solver={**EXACT, "tolerance": 1e-6}, integrator="quasistatic")
    sim.set("simulation", gravity=(0, -9.81, 0))
    sim.add_spring(body, (0.1, 0.2, 0.1), (0.1, 0.5, 0.1), stiffness=2000.0, name="rope")
    sim.pin(body, "all", axes="xz")
    assert sim.step().converged
    top = sim.positions(body)[body.mesh.vertices[:, 1] > 0.199]
    assert 0.2 - top[:, 1].mean() == pytest.approx(8 * 9.81 / 2000, rel=0.01)
    sim.change("spring", "rope", stiffness=4000.0)
    assert sim.step().converged
    top = sim.positions(body)[body.mesh.vertices[:, 1] > 0.199]
    assert 0.2 - top[:, 1].mean() == pytest.approx(8 * 9.81 / 4000, rel=0.01)


def test_attached_bodies_stay_together():
    sim, upper = block("upper", origin=(0, 0.2, 0), solver=EXACT, integrator="quasistatic")
    sim, lower = block("lower", cells=(3, 2, 3), sim=sim)
    sim.pin(upper, "y-max")
    sim.attach(lower, "y-max", upper)
    sim.add_load(lower, "y-min", traction=(0, -200, 0))
    assert sim.step().converged
    moved = sim.positions(lower) - sim.rest_positions(lower)
    bottom = lower.mesh.vertices[:, 1] < 1e-9
    assert moved[bottom, 1].mean() == pytest.approx(-0.4 * 200 / 2e4, rel=0.1)  # held ends do not narrow
    assert "did you mean 'upper'" in error(lambda: sim.add("attachment", body="lower", where="y-max", to_body="uper"))


def test_a_shell_is_a_body_like_others():
    sim = pliant.Simulation(dt=0.02)
    sheet = sim.add_body(
        None, cloth={"size": [0.5, 0.5], "cells": [6, 6]}, shell={"thickness": 0.001}, young=1e6, poisson=0.3, density=500
    )
    sim.pin(sheet, "x-min")
    for _ in range(5):
        assert sim.step().converged
    assert sim.positions(sheet)[:, 1].min() < -0.01


def test_parts_are_changed_and_taken_away_between_steps():
    sim, body = block(solver=EXACT)
    sim.set("simulation", gravity=(0, -10, 0))
    sim.pin(body, "y-max", name="top")
    assert sim.step().converged
    before = sim.positions(body).copy()
    sim.change("body", "box", young=1e5)
    assert np.array_equal(sim.positions(body), before)
    assert "did you mean 'top'" in error(lambda: sim.remove("pin", "tap"))
    assert "yuong" in error(lambda: sim.change("body", "box", yuong=3))
    sim.remove("pin", "top")
    for _ in range(5):
        assert sim.step().converged
    speed = (sim.masses()[:, None] * sim.velocities()).sum(axis=0) / sim.masses().sum()
    assert speed[1] < -0.9  # it falls


@pytest.mark.parametrize("solver", ["pod-newton", "quasi-newton", "warp-canceling", "fp-pxpbd"])
def test_a_batch_has_the_bits_of_single_runs(solver):
    def make():
        sim, body = block(solver=solver)
        sim.pin(body, "y-max")
        sim.step()
        return sim

    kicks = np.random.default_rng(1).normal(0, 0.3, (4, 27, 3))
    batch = pliant.Batch(make(), 4)
    assert len(batch) == 4 and batch.positions.shape == (4, 27, 3)
    batch.velocities = batch.velocities + kicks
    assert all(report.advanced for report in batch.step(3))
    for k in range(4):
        sim = make()
        sim.velocities()[:] += kicks[k]
        for _ in range(3):
            sim.step()
        assert np.array_equal(sim.positions(), batch.positions[k])
    assert "at least one" in error(lambda: pliant.Batch(make(), 0))
    with pytest.raises(pliant.InputError, match="shape"):
        batch.positions = np.zeros((3, 27, 3))


def cantilever(young=2e4, force=-0.5, order=1, **keys):
    sim = pliant.Simulation(gravity=(0, -1.0, 0), solver={**EXACT, "tolerance": 1e-11}, **keys)
    body = sim.add_body(
        pliant.box(size=(0.5, 0.1, 0.1), cells=(5, 1, 1)),
        "neo-hookean",
        young=young,
        poisson=0.3,
        density=1000,
        order=order,
        name="beam",
        damping={"mass": 0.5},
    )
    sim.pin(body, "x-min")
    sim.add_load(body, "x-max", (0.1, force, 0.0), name="pull")
    return sim


def central(function, value, step):
    return (function(value + step) - function(value - step)) / (2 * step)


@pytest.mark.parametrize("order", [1, 2])
def test_gradients_of_a_sag_are_those_of_central_differences(order):
    def sag(**keys):
        sim = cantilever(order=order, dt=1.0, integrator="quasistatic", **keys)
        pliant.record(sim)
        return sim.positions()[:, 1].sum()

    sim = cantilever(order=order, dt=1.0, integrator="quasistatic")
    tape = pliant.record(sim)
    of_positions = np.zeros_like(sim.positions())
    of_positions[:, 1] = 1
    gradient = tape.gradient(of_positions, ["body.beam.young", "load.pull.force", "body.beam.density"])
    assert gradient["body.beam.young"] == pytest.approx(central(lambda v: sag(young=v), 2e4, 2.0), rel=1e-5)
    assert gradient["load.pull.force"][1] == pytest.approx(central(lambda v: sag(force=v), -0.5, 1e-4), rel=1e-5)


@pytest.mark.parametrize("order", [1, 2])
def test_gradients_through_many_steps_are_those_of_central_differences(order):
    rng = np.random.default_rng(2)
    steps = 6

    def run(kick=None, start=None, **keys):
        sim = cantilever(order=order, dt=0.02, **keys)
        if kick is not None:
            sim.velocities()[:] += kick
        if start is not None:
            sim.positions()[:] += start
        return sim, pliant.record(sim, steps)

    weights = {k: rng.normal(size=run()[0].positions().shape) for k in (3, steps)}

    def objective(tape):
        return sum(float((w * tape.states[k].x).sum()) for k, w in weights.items())

    sim, tape = run()
    gradient = tape.gradient(weights, ["body.beam.young", "load.pull.force"])
    young = central(lambda v: objective(run(young=v)[1]), 2e4, 2.0)
    assert gradient["body.beam.young"] == pytest.approx(young, rel=1e-5)
    force = central(lambda v: objective(run(force=v)[1]), -0.5, 1e-4)
    assert gradient["load.pull.force"][1] == pytest.approx(force, rel=1e-5)
    free = sim.rest_positions()[:, 0] > 1e-9
    direction = np.where(free[:, None], rng.normal(size=free.shape + (3,)), 0)
    by_velocity = central(lambda s: objective(run(kick=s * direction)[1]), 0.0, 1e-4)
    assert (gradient["velocities"] * direction).sum() == pytest.approx(by_velocity, rel=1e-5)
    by_position = central(lambda s: objective(run(start=s * direction)[1]), 0.0, 1e-6)
    assert (gradient["positions"] * direction).sum() == pytest.approx(by_position, rel=1e-5)


def test_stiffness_is_found_from_a_sag():
    sim = cantilever(young=3e4, dt=1.0, integrator="quasistatic")
    pliant.record(sim)
    goal = sim.positions().copy()
    young = 2e4
    for _ in range(12):  # Gauss-Newton on one number
        sim = cantilever(young=young, dt=1.0, integrator="quasistatic")
        tape = pliant.record(sim)
        miss = sim.positions() - goal
        slope = tape.gradient(miss, ["body.beam.young"])["body.beam.young"]
        # The sag goes with 1/young, and so do its derivatives.
        moved = tape.gradient(sim.positions() - sim.rest_positions(), ["body.beam.young"])["body.beam.young"]
        size = np.square(sim.positions() - sim.rest_positions()).sum()
        young -= slope * size / moved**2
        if abs(young - 3e4) < 1:
            break
    assert young == pytest.approx(3e4, rel=1e-3)


def test_what_has_no_gradient_says_so():
    sim = cantilever(dt=0.02)
    sim.change("body", "beam", damping={"stiffness": 0.01})
    tape = pliant.record(sim)
    assert "damping.stiffness" in error(lambda: tape.gradient(np.ones_like(sim.positions())))
    sim = cantilever(dt=0.02)
    tape = pliant.record(sim)
    assert "no number" in error(lambda: tape.gradient(np.ones_like(sim.positions()), ["body.beam.yuong"]))


def test_gradients_by_where_a_body_begins_are_those_of_central_differences():
    weights = np.random.default_rng(0).standard_normal((12, 3))

    def thrown(velocity=(1.0, 0.0, 0.0), angular_velocity=(0.0, 1.0, 0.3), translate=(0.1, 0.2, 0.3)):
        sim = pliant.Simulation(dt=0.01, gravity=(0, -1, 0), solver={**EXACT, "tolerance": 1e-7})
        mesh = pliant.box(size=(1, 0.5, 0.7), cells=(2, 1, 1))
        keys = {"velocity": velocity, "angular_velocity": angular_velocity, "translate": translate}
        sim.add_body(mesh, pliant.material(young=1e5, poisson=0.3), name="beam", **keys)
        return sim

    tape = pliant.record(thrown(), steps=5)
    gradient = tape.gradient(weights, [f"body.beam.{key}" for key in ("velocity", "angular_velocity", "translate")])
    for key, value in (("velocity", (1.0, 0, 0)), ("angular_velocity", (0, 1.0, 0.3)), ("translate", (0.1, 0.2, 0.3))):
        for axis in range(3):
            ends = []
            for sign in (1, -1):
                sim = thrown(**{key: tuple(np.array(value) + sign * 1e-4 * np.eye(3)[axis])})
                assert sim.run(steps=5).finished
                ends.append((weights * sim.positions()).sum())
            assert gradient[f"body.beam.{key}"][axis] == pytest.approx((ends[0] - ends[1]) / 2e-4, rel=1e-5)


def test_what_has_no_gradient_says_so():
    sim, body = block(solver=EXACT)
    tape = pliant.record(sim)
    assert "has no gradient" in error(lambda: tape.gradient(np.ones((27, 3)), ["simulation.dt"]))
    assert "have the shape (27, 3)" in error(lambda: tape.gradient(1.0))
    sim.change("body", "box", young=1e5)
    assert "record it anew" in error(lambda: tape.gradient(np.ones((27, 3))))
    swept, _ = block(solver="quasi-newton")
    assert "take pod-newton" in error(lambda: pliant.record(swept))
    pulled, body = block(solver=EXACT)
    pulled.add_load(body, "x-max", force=(1, 0, 0), factor=lambda t: t)
    assert "functions of time" in error(lambda: pliant.record(pulled))
