"""Loads and probes from Python: what presses, functions of time, and what is recorded."""

import numpy as np
import pytest
from conftest import error

import pliant


def block(**keys):
    sim = pliant.Simulation(dt=0.01, gravity=(0, 0, 0), **keys)
    body = sim.add_body(
        pliant.box(size=(0.2, 0.2, 0.2), cells=(2, 2, 2)), pliant.material(young=1e6, poisson=0.3), density=1000
    )
    return sim, body


def momentum(sim):
    return (sim.masses()[:, None] * sim.velocities()).sum(axis=0)


def test_a_pressure_by_a_function_of_time_pushes_as_much_as_the_function_says():
    sim, body = block()
    sim.add_load(body, "y-min", pressure=500.0, factor=lambda t: 10 * t)
    for _ in range(10):
        assert sim.step().converged
    impulse = sum(0.01 * 500 * 0.04 * 10 * 0.01 * k for k in range(1, 11))
    assert momentum(sim)[1] == pytest.approx(impulse, rel=5e-3)  # on the present area, which is pressed a little


def test_each_kind_of_load_is_taken_and_two_at_once_are_refused():
    sim, body = block()
    sim.add_load(body, "y-max", (0, 1, 0))
    sim.add_load(body, "y-max", traction=(0, 25, 0), follows=True)
    sim.add_load(body, "all", body_force=(0, 125, 0), keyframes=[{"time": 0, "factor": 1}, {"time": 1, "factor": 0}])
    assert sim.external_forces().sum(axis=0) == pytest.approx((0, 2, 0))  # what follows is not among them
    assert sim.step().converged
    assert momentum(sim)[1] == pytest.approx(0.01 * (2 + 0.99), rel=1e-3)
    assert "exclude" in error(lambda: sim.add_load(body, "y-max", (0, 1, 0), pressure=3.0))
    assert "exclude" in error(
        lambda: sim.add_load(body, "y-max", pressure=3.0, factor=abs, keyframes=[{"time": 0, "factor": 1}])
    )


def test_gravity_over_time_is_a_list():
    sim = pliant.Simulation(dt=0.1, gravity=[{"time": 0, "gravity": (0, 0, 0)}, {"time": 1, "gravity": (0, -10, 0)}])
    sim.add_body(pliant.box(), pliant.material(young=1e6, poisson=0.3))
    sim.step()
    assert sim.velocities()[:, 1] == pytest.approx(-0.1, abs=1e-9)


def test_gravity_may_be_a_function_of_time_and_change_between_steps():
    sim = pliant.Simulation(dt=0.1, gravity=lambda t: (0, -10 * t, 0))
    sim.add_body(pliant.box(), pliant.material(young=1e6, poisson=0.3), density=1000)
    for k in range(1, 4):
        assert sim.step().converged
        assert sim.external_forces()[:, 1].sum() == pytest.approx(-1000 * 10 * 0.1 * k)
    assert sim.velocities()[:, 1] == pytest.approx(-0.1 * (1 + 2 + 3), abs=1e-6)  # of the ends of the steps
    assert "by a function of time" in sim.describe()
    sim.set("simulation", gravity=lambda t: np.array([1.0, 0, 0]))
    sim.step()
    assert sim.velocities()[:, 0] == pytest.approx(0.1, abs=1e-6)
    sim.set("simulation", gravity=(0, 0, 0))
    before = sim.velocities().copy()
    sim.run(steps=2)
    assert sim.velocities() == pytest.approx(before, abs=1e-6)


def test_a_gravity_that_is_no_vector_says_so_and_is_not_recorded():
    sim = pliant.Simulation(dt=0.1, gravity=lambda t: (0, -9.81, 0) if t < 0.15 else -9.81)
    sim.add_body(pliant.box(), pliant.material(young=1e6, poisson=0.3))
    sim.step()
    assert "a gravity must return three numbers" in error(sim.step)
    assert "functions of time" in error(lambda: pliant.record(sim))
    assert "no functions" in error(lambda: pliant.Batch(sim, 2))


def test_functions_of_time_that_return_something_else_say_so():
    sim, body = block()
    sim.add_load(body, "y-max", (0, 1, 0), factor=lambda t: "more")
    assert "the factor of a load must return a number, but returned 'more'" in error(sim.step)
    sim, body = block()
    sim.add_load(body, "y-max", (0, 1, 0), factor=lambda t: (1, 2))
    assert "must return a number, but returned 2 of them" in error(sim.step)
    assert "a gravity must return three numbers, but returned 'down'" in error(
        lambda: pliant.Simulation(dt=0.1, gravity=lambda t: "down")
    )
    sim, body = block()
    sim.move(body, "x-min", lambda t: None)
    assert "a motion must return three numbers" in error(sim.step)


def test_a_motion_that_returns_nan_is_refused_by_its_name_and_the_step_is_not_taken():
    for what in ((float("nan"), 0, 0), (0, float("inf"), 0)):
        sim, body = block()
        script = sim.move(body, "x-min", lambda t: (0, 0, 0) if t < 0.015 else what)
        assert sim.step().converged
        before = sim.positions().copy()
        assert f"finite numbers, but that of the script '{script}' returned" in error(sim.step)
        assert "at 0.02 s" in error(sim.step)
        assert (sim.positions() == before).all()


def test_gas_blows_up_a_ball():
    mesh = pliant.sphere(0.1, inner_radius=0.09, cells=16)
    sim = pliant.Simulation(dt=0.01, gravity=(0, 0, 0))
    ball = sim.add_body(mesh, pliant.material(young=1e5, poisson=0.3))
    sim.add_load(ball, "inner", gas={"pressure": 110e3})
    sim.add_probe(ball, "inner", "cavity", name="gas")
    for _ in range(5):
        assert sim.step().converged
    volumes = sim.probes["gas.cavity (m^3)"]
    assert len(volumes) == 6 and volumes[0] == pytest.approx(4 / 3 * np.pi * 0.09**3, rel=0.05)
    assert volumes[-1] > 1.01 * volumes[0]


def test_reactions_balance_the_weight_and_probes_record_them():
    solver = {"name": "pod-newton", "criterion": "residual", "tolerance": 1e-10}
    sim = pliant.Simulation(dt=1.0, integrator="quasistatic", solver=solver)
    body = sim.add_body(pliant.box(), pliant.material(young=1e6, poisson=0.3), density=1000)
    sim.pin(body, "y-min")
    probe = sim.add_probe(body, "y-min", ["reaction", "displacement"], name="foot")
    assert probe == "foot"
    sim.run(steps=2)
    assert sim.reactions().sum(axis=0) == pytest.approx((0, 9810, 0), abs=1e-4)
    seen = sim.probes
    assert list(seen)[:3] == ["step", "time", "foot.reaction_x (N)"]
    assert seen["step"].tolist() == [0, 1, 2] and np.isnan(seen["foot.reaction_y (N)"][0])
    assert seen["foot.reaction_y (N)"][1:] == pytest.approx(9810, rel=1e-8)
    assert (seen["foot.displacement_y (m)"] == 0).all()


def test_a_probe_of_nothing_is_refused_where_it_is_made():
    sim, body = block()
    assert "quantities" in error(lambda: sim.add_probe(body, "y-min", ["reacton"]))


def test_energies_have_that_of_contact():
    sim = pliant.Simulation(dt=0.01)
    sim.add_body(pliant.box(size=(0.1, 0.1, 0.1), cells=(1, 1, 1), origin=(0, 0.002, 0)), young=1e5, poisson=0.3)
    sim.add_collider(plane={"normal": [0, 1, 0]})
    assert sim.energies().more["contact"] == 0
    assert sim.run(steps=30, progress=False).finished
    energies = sim.energies()
    assert 0 < energies.more["contact"] < 0.01 * 9.81 * 0.1  # of a kilogram, far less than a centimetre of its fall
    assert energies.total == pytest.approx(sum(energies.elastic.values()) + energies.kinetic + energies.external + energies.more["contact"])


def landed(solver):
    """The height of a ball filled with gas after it has fallen on a floor, m."""
    laws = {"xpbd": "fixed-corotated", "b-pxpbd": "fixed-corotated"}
    turned = ("corotational", "corotational-cg", "stiffness-warping", "warp-canceling")
    laws.update({name: "linear-corotated" for name in turned})
    sim = pliant.Simulation(dt=0.005, solver=solver)
    mesh = pliant.sphere(radius=0.1, inner_radius=0.092, cells=8, layers=1, centre=(0, 0.15, 0))
    ball = sim.add_body(mesh, laws.get(solver, "neo-hookean"), young=3e5, poisson=0.3, density=1000)
    sim.add_load(ball, "inner", gas={"pressure": 104e3})
    sim.add_collider(plane={"normal": (0, 1, 0)})
    sim.set_contact(friction=0.2)
    assert sim.run(steps=26).finished
    masses = sim.masses()
    return (masses * sim.positions()[:, 1]).sum() / masses.sum()


@pytest.mark.parametrize("solver", [name for name, entry in pliant.solvers().items() if entry.supports.gas])
def test_a_ball_full_of_gas_lands_under_every_solver_as_under_newtons(solver):
    fall = 0.15 - landed("pod-newton")
    assert fall > 0.06
    assert 0.15 - landed(solver) == pytest.approx(fall, rel=0.03)
