"""Whatever a scene's [[body]] can be, Python can say: fibres and muscles, damping, cloth."""

import numpy as np
import pytest
from conftest import error

import pliant

SOFT = pliant.material("neo-hookean", young=1e5, poisson=0.4)


def contracted(drive):
    """Length of a bar along its fibres after half a second."""
    sim = pliant.Simulation(dt=0.05, gravity=(0, 0, 0), solver={"name": "pod-newton", "tolerance": 1e-3})
    name = sim.add_muscle("biceps", None if drive == "by hand" else drive)
    mesh = pliant.box(size=(2, 1, 1), cells=(4, 2, 2))
    fibres = [{"law": "muscle", "stiffness": 1e5, "direction": [1, 0, 0], "muscle": name}]
    bar = sim.add_body(mesh, SOFT, fibres=fibres)
    if drive == "by hand":
        sim.build()
        for step in range(10):
            sim.activation["biceps"] = min(1.0, (step + 1) * 0.1)
            assert sim.step().converged
    else:
        assert sim.run(steps=10).finished
    assert sim.activation["biceps"] == pytest.approx(0.5 * 2 if drive != [[0, 0], [1, 1]] else 0.5)
    return np.ptp(sim.positions(bar)[:, 0])


def test_muscles_follow_keyframes_functions_and_hands():
    half = contracted([[0, 0], [1, 1]])
    whole = contracted([[0, 0], [0.5, 1]])
    assert whole < half < 1.99
    assert contracted(lambda t: 2 * t) == pytest.approx(whole, rel=1e-9)
    assert contracted("by hand") == pytest.approx(whole, rel=1e-9)


def test_activations_are_checked_and_kept_with_the_state():
    sim = pliant.Simulation(dt=0.05)
    sim.add_muscle("left")
    sim.add_muscle("right")
    sim.add_body(pliant.box(), SOFT, fibres=[{"law": "muscle", "stiffness": 1e5, "direction": [1, 0, 0], "muscle": "left"}])
    sim.activation["right"] = 0.25
    assert dict(sim.activation) == {"left": 0.0, "right": 0.25}
    assert sim.state.copy().activation == [0, 0.25]
    assert "lies between 0 and 1, but is 2" in error(lambda: sim.activation.update(left=2))
    assert "there is no muscle 'middle'" in error(lambda: sim.activation["middle"])
    sim.add_muscle("third")
    assert dict(sim.activation) == {"left": 0.0, "right": 0.25, "third": 0.0}
    assert "there is no muscle 'lft'; did you mean 'left'?" in error(
        lambda: sim.add_body(pliant.box(), SOFT, fibres=[{"law": "muscle", "stiffness": 1, "direction": [1, 0, 0], "muscle": "lft"}])
    )


def test_damping_takes_energy_out():
    energies = []
    for damping in (None, {"mass": 5.0}):
        sim = pliant.Simulation(dt=0.01, gravity=(0, 0, 0))
        sim.add_body(pliant.box(), SOFT, velocity=(1, 0, 0), damping=damping)
        sim.run(steps=10)
        energies.append(sim.energies().kinetic)
    # Implicit Euler with a force of -5 M v for ten steps.
    assert energies[1] / energies[0] == pytest.approx((1 / 1.05) ** 20, rel=1e-6)


def test_cloth_has_vertices_but_no_mesh():
    sim = pliant.Simulation(dt=0.02)
    cloth = sim.add_body(None, cloth={"size": [1, 1], "cells": [6, 6]}, density=0.2)
    corners = sim.pin(cloth, lambda X: X[:, 0] == 0)
    assert corners == "pin"
    assert cloth.vertices.shape == (49, 3) and cloth.elements.shape[1] == 2
    assert sim.masses().sum() == pytest.approx(0.2)
    assert sim.run(steps=20).finished
    assert sim.positions(cloth)[:, 1].min() < -0.1
    assert "is no solid, and has no elements" in error(lambda: sim.stresses(cloth))
    assert "is a network of springs, which has no mesh" in error(lambda: cloth.mesh)
    assert sim.energies().elastic["body"] > 0


def test_bodies_are_scaled_turned_and_moved():
    sim = pliant.Simulation(dt=0.02)
    body = sim.add_body(
        pliant.box(size=(2, 1, 1)), SOFT, scale=2, rotate={"axis": [0, 0, 1], "angle": 90}, translate=(10, 0, 0)
    )
    assert body.mesh.vertices.min(axis=0) == pytest.approx([8, 0, 0])
    assert body.mesh.vertices.max(axis=0) == pytest.approx([10, 4, 2])
    mask = body.mesh.vertices[:, 1] < 1
    sim.pin(body, mask)
    sim.step()
    assert (sim.positions(body)[mask] == body.mesh.vertices[mask]).all()


def test_a_body_may_be_named_by_itself_its_name_or_its_number(beam):
    sim, body = beam
    for way in (body, "body", 0, None):
        assert (sim.deformation_gradients(way) == sim.deformation_gradients(body)).all()
    other = pliant.Simulation(dt=0.1)
    assert "belongs to another simulation" in error(lambda: other.pin(body, "all"))
    assert "say which body: there are 0" in error(lambda: other.pin(None, "all"))


def test_stiffness_is_given_element_by_element():
    mesh = pliant.box(size=(2, 1, 1), cells=(8, 4, 4))
    stiff = mesh.vertices[mesh.tets][:, :, 0].max(axis=1) <= 1
    young = np.where(stiff, 4e7, 4e4)

    def sag(*arguments, **keys):
        sim = pliant.Simulation(dt=0.05)
        body = sim.add_body(mesh, *arguments, **keys)
        sim.pin(body, "x-min")
        assert sim.run(steps=3).finished
        return sim.positions(body).copy()

    soft = pliant.material("neo-hookean", young=4e4, poisson=0.4)
    by_region = sag(soft, regions={"half": {"where": "x <= 1", "young": 4e7, "poisson": 0.4}})
    assert (sag(soft, young=young) == by_region).all()
    assert (sag(young=young, poisson=0.4) == by_region).all()
    assert (sag(young=young, poisson=np.full(len(young), 0.4)) == by_region).all()
    assert "must have 640 rows, one for each element, but has the shape (3,)" in error(
        lambda: sag(young=[1.0, 2.0, 3.0], poisson=0.4)
    )
    assert "element 5" in error(lambda: sag(young=np.where(np.arange(640) == 5, -1, young), poisson=0.4))


def test_fibres_run_element_by_element():
    mesh = pliant.box(size=(2, 1, 1), cells=(4, 2, 2))

    def shape(direction):
        sim = pliant.Simulation(dt=0.05, gravity=(0, 0, 0))
        sim.add_muscle("biceps", [[0, 1]])
        fibres = [{"law": "muscle", "stiffness": 1e5, "direction": direction, "muscle": "biceps"}]
        body = sim.add_body(mesh, SOFT, fibres=fibres)
        assert sim.run(steps=5).finished
        return np.ptp(sim.positions(body), axis=0)

    along = np.tile([1.0, 0, 0], (len(mesh.tets), 1))
    assert shape(along) == pytest.approx(shape([1, 0, 0]), rel=1e-12)
    mixed = np.where(mesh.vertices[mesh.tets].mean(axis=1)[:, :1] < 1, [1.0, 0, 0], [0, 1.0, 0])
    assert shape(along)[0] < shape(mixed)[0] < 2.3


def test_a_body_lands_on_a_collider():
    sim = pliant.Simulation(dt=1 / 60)
    body = sim.add_body(pliant.box(origin=(0, 0.05, 0)), SOFT, damping={"stiffness": 0.02})
    assert sim.add_collider(plane={"normal": [0, 1, 0]}, stiffness=1e5, friction=0.3) == "collider"
    assert sim.run(1.0).finished
    assert -0.01 < sim.positions(body)[:, 1].min() < 0.01
    assert np.abs(sim.velocities(body)).max() < 0.05
    assert "did you mean 'sphere'?" in error(lambda: sim.add_collider(spher={"radius": 1}))


def test_a_law_by_its_name_and_a_cut_in_the_words_of_a_scene():
    sim = pliant.Simulation(fps=60)
    body = sim.add_body(pliant.box(size=(2, 1, 1), cells=(6, 3, 3)), "stable-neo-hookean", young=1e5, poisson=0.3)
    sim.pin(body, "x-min")
    sim.add("cut", time=0.05, plane={"point": [1.0, 0.5, 0.5], "normal": [1, 0, 0]})
    before = len(sim.positions())
    for _ in range(4):
        sim.step()
    assert len(sim.positions()) == before + 16  # the nodes of the cut are there twice
