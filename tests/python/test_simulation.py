"""Simulations built in code: the state as arrays, masks, motion, changes, failures."""

import copy
import pickle

import numpy as np
import pytest
from conftest import error

import pliant


def test_the_example_of_the_design_runs():
    mesh = pliant.box(size=(2, 1, 1), cells=(16, 8, 8))
    sim = pliant.Simulation(dt=1 / 60, gravity=(0, -9.81, 0), solver="pod-newton")
    beam = sim.add_body(mesh, pliant.material("neo-hookean", young=4e5, poisson=0.4), density=1000)
    sim.pin(beam, mesh.vertices[:, 0] < 1e-9)
    report = sim.step()
    x = sim.positions(beam)
    assert report.converged and report.iterations >= 1
    assert x.shape == mesh.vertices.shape
    assert sim.masses().sum() == pytest.approx(2000)
    # A free node falls by g dt^2 in the first implicit Euler step, a pinned one not at all, and none any further.
    fall = 9.81 / 60**2
    assert -fall * (1 + 1e-3) < x[:, 1].min() - mesh.vertices[:, 1].min() < -0.99 * fall
    assert (x[mesh.vertices[:, 0] == 0] == mesh.vertices[mesh.vertices[:, 0] == 0]).all()


def test_solver_settings_are_given_as_a_dict():
    settings = {"name": "newton", "criterion": "residual", "tolerance": 1e-6, "line_search": "armijo", "history": True}
    sim = pliant.Simulation(dt=0.01, solver=settings, mass="consistent")
    sim.add_body(pliant.box(), pliant.material(young=1e5, poisson=0.3), velocity=(1, 0, 0))
    report = sim.step()
    assert sim.solver["criterion"] == "residual"
    assert len(report.history) == report.iterations
    assert report.residuals.force <= 1e-6


def test_positions_are_a_writable_view_that_outlives_the_simulation(beam):
    sim, body = beam
    x = sim.positions(body)
    assert not x.flags.owndata and x.flags.writeable
    before = x.copy()
    sim.step()
    assert (x != before).any()
    x[:] = before
    assert (sim.positions() == before).all()
    assert np.shares_memory(x, sim.state.x)
    del sim, body, beam
    assert (x == before).all()


def test_writing_positions_and_velocities_changes_what_is_stepped():
    sim = pliant.Simulation(dt=0.1, gravity=(0, 0, 0))
    body = sim.add_body(pliant.box(), pliant.material(young=1e5, poisson=0.3))
    sim.positions(body)[:] += (1, 2, 3)
    sim.velocities(body)[:] = (4, 5, 6)
    sim.step()
    assert np.allclose(sim.positions(body), body.mesh.vertices + (1.4, 2.5, 3.6), atol=1e-12)


def test_masks_indices_names_comparisons_and_functions_select_the_same():
    mesh = pliant.box(size=(2, 1, 1), cells=(4, 2, 2))
    mask = mesh.vertices[:, 0] == 0
    ways = [
        mask,
        np.flatnonzero(mask),
        list(np.flatnonzero(mask)),
        "x-min",
        "x < 0.1",
        {"box": {"min": [-1, -1, -1], "max": [0.1, 2, 2]}},
        ["x < 0.1", mask],
        lambda X: X[:, 0] < 0.1,
    ]
    results = []
    for where in ways:
        sim = pliant.Simulation(dt=1 / 60)
        body = sim.add_body(mesh, pliant.material(young=4e5, poisson=0.4))
        sim.pin(body, where)
        sim.step()
        results.append(sim.positions().copy())
    assert all((result == results[0]).all() for result in results)
    assert (results[0][mask] == mesh.vertices[mask]).all()


def test_a_mask_of_another_length_is_refused(beam):
    sim, body = beam
    assert "the mask has the shape (3,), but the mesh has 45 vertices" in error(lambda: sim.pin(body, np.ones(3, bool)))
    assert "selects no vertex" in error(lambda: sim.pin(body, np.zeros(45, bool)))
    assert "names vertex 45, but the vertices are numbered 0 to 44" in error(lambda: sim.pin(body, [45]))
    assert "must be whole numbers" in error(lambda: sim.pin(body, [0.5]))


def stretched(**motion):
    mesh = pliant.box(size=(2, 1, 1), cells=(4, 2, 2))
    sim = pliant.Simulation(dt=0.02, gravity=(0, 0, 0))
    body = sim.add_body(mesh, pliant.material(young=4e5, poisson=0.4))
    sim.pin(body, "x-min")
    sim.move(body, "x-max", **motion)
    for _ in range(10):
        assert sim.step().converged
    return sim.positions(body).copy()


def test_functions_keyframes_and_translations_move_alike():
    reference = stretched(translate=(0.3, 0, 0), times=(0, 0.3))
    frames = [{"time": 0, "translate": [0, 0, 0]}, {"time": 0.3, "translate": [0.3, 0, 0]}]
    assert (stretched(keyframes=frames) == reference).all()
    for motion in (
        {"displacement": lambda t: (t, 0, 0)},
        {"displacement": lambda t, X: np.outer(np.full(len(X), t), (1, 0, 0))},
        {"position": lambda t, X: X + (t, 0, 0)},
    ):
        assert np.abs(stretched(**motion) - reference).max() < 1e-9
    direct = stretched(displacement=lambda t: (t, 0, 0), imposition="direct")
    assert np.abs(direct - reference).max() < 1e-3


def test_a_function_turns_nodes_as_a_rotation_does():
    def turn(t, X):
        angle = np.pi / 2 * t / 0.2
        c, s = np.cos(angle), np.sin(angle)
        centre = np.array([2, 0.5, 0.5])
        return centre + (X - centre) @ np.array([[1, 0, 0], [0, c, s], [0, -s, c]])

    rotate = {"axis": [1, 0, 0], "centre": [2, 0.5, 0.5], "angle": 90}
    reference = stretched(rotate=rotate, times=(0, 0.2), imposition="direct")
    assert np.abs(stretched(position=turn, imposition="direct") - reference).max() < 1e-9


def test_functions_of_time_are_called_once_before_each_step_with_its_end():
    sim = pliant.Simulation(dt=0.5)
    body = sim.add_body(pliant.box(), pliant.material(young=1e5, poisson=0.3))
    times = []
    sim.move(body, "x-min", lambda t: times.append(t) or (0, 0, 0))
    sim.step()
    sim.run(steps=2)
    assert times == [0.5, 1.0, 1.5]


def test_an_exception_of_a_motion_reaches_the_caller_and_leaves_the_state():
    sim = pliant.Simulation(dt=0.5)
    body = sim.add_body(pliant.box(), pliant.material(young=1e5, poisson=0.3))
    sim.move(body, "x-min", lambda t: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        sim.step()
    with pytest.raises(ZeroDivisionError):
        sim.run(steps=1)
    assert sim.steps_taken == 0


def test_loads_act_as_external_forces():
    sim = pliant.Simulation(dt=0.01, gravity=(0, 0, 0))
    body = sim.add_body(pliant.box(), pliant.material(young=1e5, poisson=0.3))
    sim.add_load(body, "x-max", (8, 0, 0))
    assert np.allclose(sim.external_forces(body).sum(axis=0), (8, 0, 0))
    sim.run(steps=10)
    momentum = sim.masses() @ sim.velocities()
    assert np.allclose(momentum, (8 * 0.1, 0, 0), rtol=1e-9)


def test_forces_are_minus_the_gradient_of_the_energy(beam):
    sim, body = beam
    sim.run(steps=3)
    x = sim.positions(body)
    forces = sim.forces(body)
    h = 1e-6
    for node, axis in [(20, 0), (30, 1), (44, 2)]:
        at = x[node, axis]
        x[node, axis] = at + h
        above = sim.element_energies(body).sum()
        x[node, axis] = at - h
        below = sim.element_energies(body).sum()
        x[node, axis] = at
        assert forces[node, axis] == pytest.approx(-(above - below) / (2 * h), rel=1e-6)


def test_residuals_stresses_and_stretches_are_consistent(beam):
    sim, body = beam
    report = sim.run(steps=3).reports[-1]
    assert np.linalg.norm(sim.residuals()) == pytest.approx(report.residuals.force, rel=1e-12)
    F = sim.deformation_gradients(body)
    material = pliant.material("neo-hookean", young=4e5, poisson=0.4)
    assert np.allclose(sim.stresses(body, "piola"), material.stress(F), rtol=1e-12)
    cauchy = sim.stresses(body)
    assert np.allclose(cauchy, cauchy.transpose(0, 2, 1), atol=1e-6)
    assert (np.diff(sim.stretches(body), axis=1) <= 0).all()
    assert np.allclose(material.energy(F) * body.mesh.volumes(), sim.element_energies(body), rtol=1e-12)
    energies = sim.energies()
    assert energies.elastic["body"] == pytest.approx(sim.element_energies(body).sum())
    assert energies.total == pytest.approx(energies.kinetic + energies.elastic["body"] + energies.external)


def test_a_body_added_later_joins_and_the_state_is_carried_over(beam):
    sim, body = beam
    sim.run(steps=3)
    x, v = sim.positions(body).copy(), sim.velocities(body).copy()
    stale = sim.positions(body)
    block = sim.add_body(pliant.box(), pliant.material(young=1e5, poisson=0.3), translate=(0, 5, 0), velocity=(1, 0, 0))
    assert block.name == "body-2" and block.nodes == slice(45, 53)
    assert (sim.positions(body) == x).all() and (sim.velocities(body) == v).all()
    assert sim.steps_taken == 3
    assert np.allclose(sim.positions(block)[:, 1].min(), 5)
    assert (stale == x).all()
    sim.step()
    assert (stale == x).all() and (sim.positions(body) != x).any()


def test_settings_change_between_steps(beam):
    sim, body = beam
    sim.step()
    sim.set("solver", name="newton", tolerance=1e-3)
    sim.set("simulation", gravity=(0, 0, 0), dt=0.001)
    assert sim.step().converged
    assert sim.solver["name"] == "newton" and sim.solver["tolerance"] == 1e-3
    assert sim.time == pytest.approx(1 / 60 + 0.001)
    assert (sim.external_forces() == 0).all()
    assert "did you mean 'tolerance'?" in error(lambda: sim.set("solver", tolerence=1))
    assert sim.step().converged


def test_a_failed_step_is_a_report_and_leaves_the_state(beam):
    sim, body = beam
    sim.set("solver", max_iterations=1, tolerance=1e-12)
    before = sim.state.copy()
    report = sim.step()
    assert report.outcome == "iteration-limit" and not report.advanced
    assert "not converged after 1 iterations" in report.detail
    assert sim.state == before
    run = sim.run(steps=5)
    assert run.end == "failed" and run.steps == 0 and len(run.reports) == 1
    sim.set("solver", on_failure="continue")
    with pytest.warns(UserWarning, match="5 steps failed, and the run went on"):
        went_on = sim.run(steps=5)
    assert went_on.end == "finished" and "5 steps failed" in went_on.doubts[0]
    assert sim.steps_taken == 5


def test_states_pickle_and_copy_bit_for_bit(beam):
    sim, body = beam
    sim.run(steps=3)
    kept = pickle.loads(pickle.dumps(sim.state))
    assert kept == sim.state == copy.deepcopy(sim.state)
    sim.run(steps=2)
    after = sim.state.copy()
    assert kept != after
    sim.state = kept
    assert sim.steps_taken == 3
    sim.run(steps=2)
    assert sim.state == after
    assert "the model has 45 nodes" in error(lambda: setattr(sim, "state", pliant.State(np.zeros((2, 3)), np.zeros((2, 3)))))


def swinging_bar(solver, feature):
    sim = pliant.Simulation(dt=1 / 64, solver={"name": solver, "on_failure": "continue"})
    damping = {"mass": 2, "stiffness": 0.02} if feature == "damping" else None
    material = pliant.material("fixed-corotated", young=1e5, poisson=0.3)
    sim.add_body(pliant.box(size=(1, 0.2, 0.2), cells=(6, 1, 1)), material, damping=damping)
    sim.pin(0, "x-min")
    if feature in ("collider", "contact"):
        sim.add_collider(sphere={"centre": [0.8, -0.35, 0.1], "radius": 0.3}, friction=0.3)
    if feature == "contact":
        sim.set_contact(dhat=0.01)
    if feature == "cut":
        sim.add("cut", time=0.07, plane={"point": [0.5, 0, 0], "normal": [1, 0, 0]})
    return sim


@pytest.mark.parametrize("feature", ["plain", "damping", "collider", "contact", "cut"])
@pytest.mark.parametrize("solver", list(pliant.solvers()))
def test_snapshots_go_on_bit_for_bit_with_every_solver(solver, feature):
    sim = swinging_bar(solver, feature)
    try:
        sim.build()
    except pliant.InputError as refusal:
        pytest.skip(str(refusal))

    def take(simulation, steps):
        for _ in range(steps):
            assert simulation.step().advanced

    take(sim, 4)
    kept = pickle.dumps(sim.snapshot())
    take(sim, 5)
    end = sim.snapshot()
    other = swinging_bar(solver, feature)
    other.restore(pickle.loads(kept))
    take(other, 5)
    assert other.state == sim.state
    take(sim, 1)
    sim.restore(pickle.loads(kept))
    assert sim.steps_taken == 4
    take(sim, 5)
    assert sim.snapshot() == end


def test_snapshots_of_another_scene_or_damaged_ones_are_refused(beam):
    sim, body = beam
    sim.run(steps=2)
    snapshot = sim.snapshot()
    assert (snapshot.step, snapshot.time) == (2, sim.time) and snapshot.state == sim.state
    data = snapshot.to_bytes()
    assert pliant.Snapshot.from_bytes(data) == snapshot
    assert "damaged or cut short" in error(lambda: pliant.Snapshot.from_bytes(data[:-1]))
    sim.set("simulation", gravity=(0, 0, 0))
    assert "belongs to another scene: forces and initial velocities differ" in error(lambda: sim.restore(snapshot))


def test_bodies_follow_cuts_and_snapshots_from_before_them():
    sim = swinging_bar("pod-newton", "cut")
    sim.run(steps=2)
    before, nodes = sim.snapshot(), len(sim.positions(0))
    sim.run(steps=5)
    assert len(sim.positions(0)) == len(sim.forces(0)) == nodes + 4 == sim.bodies[0].nodes.stop
    sim.restore(before)
    assert len(sim.positions(0)) == len(sim.forces(0)) == nodes == sim.bodies[0].nodes.stop


def test_saving_and_loading_goes_on_bit_for_bit(beam, tmp_path):
    sim, body = beam
    x = sim.positions(body)
    sim.run(steps=3)
    sim.save(tmp_path / "here.pliant")
    sim.run(steps=2)
    after = sim.state.copy()
    sim.load(tmp_path / "here.pliant")
    assert sim.steps_taken == 3 and np.shares_memory(x, sim.state.x)
    sim.run(steps=2)
    assert sim.state == after
    (tmp_path / "broken.pliant").write_bytes((tmp_path / "here.pliant").read_bytes()[:-9])
    assert "is damaged or cut short" in error(lambda: sim.load(tmp_path / "broken.pliant"))
    with pytest.raises(OSError):
        sim.save(tmp_path / "nowhere" / "here.pliant")


def test_regions_take_materials_masks_and_names():
    mesh = pliant.box(size=(2, 1, 1), cells=(8, 4, 4))
    hard = pliant.material(young=4e7, poisson=0.4)
    soft = pliant.material(young=4e4, poisson=0.4)

    def sag(regions):
        sim = pliant.Simulation(dt=0.05)
        body = sim.add_body(mesh, soft, regions=regions)
        sim.pin(body, "x-min")
        sim.run(steps=3)
        return -sim.positions(body)[:, 1].min()

    half = {"where": mesh.vertices[:, 0] <= 1, "young": 4e7, "poisson": 0.4}
    assert sag({"half": half}) == sag({"half": {**half, "where": "x <= 1"}})
    assert sag({"all": hard}) < 0.1 * sag({"half": half}) < sag(None)


def test_bodies_of_order_two_have_more_nodes():
    sim = pliant.Simulation(dt=1 / 60)
    body = sim.add_body(pliant.box(cells=(2, 2, 2)), pliant.material(young=4e5, poisson=0.4), order=2)
    sim.pin(body, body.mesh.vertices[:, 0] == 0)
    assert body.order == 2 and body.elements.shape[1] == 10
    sim.step()
    held = body.rest_positions[:, 0] == 0
    assert held.sum() > (body.mesh.vertices[:, 0] == 0).sum()
    assert (sim.positions(body)[held] == body.rest_positions[held]).all()


def test_a_run_calls_back_and_ends_when_told(beam):
    sim, body = beam
    seen = []
    run = sim.run(1.0, callback=lambda s, report: seen.append((s.time, s.stresses(body).max())) or len(seen) == 4)
    assert run.end == "interrupted" and run.steps == 4 == len(seen) == len(run.reports)
    assert run.totals.iterations == sum(report.iterations for report in run.reports)
    assert "cannot be changed while run() is at work" in error(
        lambda: sim.run(steps=2, callback=lambda s, r: s.pin(body, "x-max") and s.step())
    )


def test_durations_make_the_same_number_of_steps_as_the_command_line(beam):
    sim, body = beam
    assert sim.run(0.05).steps == 3
    assert "say how long" in error(sim.run)
    assert "exclude each other" in error(lambda: sim.run(1.0, steps=3))
    assert "at least 1" in error(lambda: sim.run(steps=0))
