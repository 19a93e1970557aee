"""Springs, attachments and shells from Python, changes between steps and batches."""

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
    assert "a whole number of states, not 2.5" in error(lambda: pliant.Batch(make(), 2.5))
    with pytest.raises(pliant.InputError, match="shape"):
        batch.positions = np.zeros((3, 27, 3))
