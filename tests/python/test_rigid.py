"""Rigid bodies and joints from Python."""

import numpy as np
import pytest
from conftest import error

import pliant


def test_a_rigid_body_falls_and_turns_as_its_pose_says():
    sim = pliant.Simulation(dt=0.01, gravity=(0, 0, 0), solver="newton")
    box = sim.add_rigid(
        box={"centre": (1, 2, 3), "size": (0.1, 0.2, 0.3)}, velocity=(1, 0, 0), angular_velocity=(0, 0, 2)
    )
    rest = box.vertices
    assert box.is_rigid and rest.shape == (8, 3) and box.surface.max() == 7
    for _ in range(20):
        assert sim.step().converged
    centre, rotation = box.pose
    assert centre == pytest.approx((1.2, 2, 3), abs=1e-6)
    assert np.arctan2(rotation[1, 0], rotation[0, 0]) == pytest.approx(0.4, abs=0.01)
    expected = centre + (rest - (1, 2, 3)) @ rotation.T
    assert box.surface_positions == pytest.approx(expected, abs=1e-4)


def test_a_hinge_holds_and_its_motor_turns_it():
    sim = pliant.Simulation(dt=0.01, solver="newton")
    rod = sim.add_rigid(box={"centre": (0.2, 0, 0), "size": (0.4, 0.05, 0.05)}, name="rod")
    sim.add_joint(
        rod, (0, 0, 0), kind="hinge", axis=(0, 0, 1), motor=[{"time": 0, "angle": 0}, {"time": 0.3, "angle": 60}]
    )
    for _ in range(50):
        assert sim.step().converged
    centre, _ = rod.pose
    assert np.degrees(np.arctan2(centre[1], centre[0])) == pytest.approx(60, abs=0.5)
    assert np.linalg.norm(centre) == pytest.approx(0.2, abs=1e-4)


def test_rigid_and_soft_bodies_touch():
    sim = pliant.Simulation(dt=0.01)
    ball = sim.add_rigid(sphere={"centre": (0.1, 0.27, 0.1), "radius": 0.05}, name="ball")
    cube = sim.add_body(pliant.box(size=(0.2, 0.2, 0.2), cells=(2, 2, 2)), pliant.material(young=1e5, poisson=0.3))
    sim.pin(cube, "y-min")
    sim.set_contact(friction=0.3)
    assert [body.name for body in sim.bodies] == [cube.name, "ball"]
    for _ in range(40):
        assert sim.step().converged
    assert ball.surface_positions[:, 1].min() > 0.15
    assert ball.pose[0][1] < 0.255


def test_what_cannot_be_is_said():
    sim = pliant.Simulation(dt=0.01)
    ball = sim.add_rigid(sphere={"radius": 0.1}, name="ball")
    assert "rigid" in error(lambda: ball.mesh)
    assert "limits" in error(lambda: sim.add_joint(ball, (0, 0, 0), kind="hinge", limits=(30, -30)))


def test_links_stay_where_they_are_when_the_solver_changes(tmp_path):
    scene = tmp_path / "pendulum.toml"
    scene.write_text(
        """
simulation = {dt = 0.005, duration = 1.0}
solver = {name = "pod-newton"}
[[link]]
name = "rod"
joint = "hinge"
pivot = [0, 0, 0]
capsule = {begin = [0, 0, 0], end = [1, 0, 0], radius = 0.03}
[[body]]
name = "bob"
box = {size = [0.1, 0.1, 0.1], cells = [1, 1, 1], origin = [1.0, -0.05, -0.05]}
young = 1e5
poisson = 0.3
[[attachment]]
where = "x-min"
link = "rod"
"""
    )

    def rod(sim):
        nodes = slice(8, None)  # behind those of the bob
        masses = sim.masses()[nodes, None]
        return (masses * sim.positions()[nodes]).sum(0) / masses.sum(), (masses * sim.velocities()[nodes]).sum(0)

    sim = pliant.Simulation.from_scene(scene)
    assert sim.run(steps=60, progress=False).finished
    place, momentum = rod(sim)
    for solver, count in (("conjac", None), ("quasi-newton", 12)):
        sim.set("solver", name=solver)
        sim.build()
        assert count is None or len(sim.positions()) == count
        found = rod(sim)
        assert np.allclose(found[0], place, atol=1e-6) and np.allclose(found[1], momentum, atol=1e-3 * np.abs(momentum).max())
        assert sim.run(steps=5, progress=False).finished
        place, momentum = rod(sim)


def test_a_body_that_begins_inside_another_is_refused_and_one_in_a_cavity_is_not():
    def scene(**shape):
        sim = pliant.Simulation(dt=0.01)
        sim.add_body(pliant.sphere(radius=0.2, cells=6, **shape), pliant.material(young=1e5, poisson=0.3), name="ball")
        sim.add_rigid(box={"centre": (0, 0, 0), "size": (0.05, 0.05, 0.05)}, name="stone")
        sim.set_contact()
        return sim

    message = error(scene().step)
    assert "body 'stone' begins inside body 'ball'" in message and "touches = false" in message
    apart = scene()
    apart.set_contact(pair=[{"first": "ball", "second": "stone", "touches": False}])
    assert apart.step().succeeded
    assert scene(inner_radius=0.15, layers=1).step().succeeded
