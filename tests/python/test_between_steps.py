"""What may change between two steps, each as docs/python.md says."""

import numpy as np
import pytest

import pliant


def beam(solver="pod-newton", cells=(6, 2, 2), **options):
    mesh = pliant.box(size=(1, 0.2, 0.2), cells=cells)
    sim = pliant.Simulation(dt=0.01, solver=solver, **options)
    body = sim.add_body(mesh, pliant.material("fixed-corotated", young=1e5, poisson=0.3), name="beam")
    sim.pin(body, "x-min", name="wall")
    return sim, body


def tip(body):
    return body.positions[body.vertices[:, 0] > 0.999].mean(axis=0)


def settle(sim, steps=300):
    for _ in range(steps):
        assert sim.step().succeeded


def test_a_material_changed_on_the_way_gives_the_sag_of_the_new_one():
    sim, body = beam(integrator="quasistatic")
    settle(sim, 1)
    before = tip(body)
    sim.change("body", "beam", young=2e5)
    assert np.array_equal(tip(body), before)  # it begins where it was
    settle(sim, 1)
    fresh, other = beam(integrator="quasistatic")
    fresh.change("body", "beam", young=2e5)
    settle(fresh, 1)
    assert np.allclose(tip(body), tip(other), atol=2e-4)
    assert tip(body)[1] > before[1]


def test_another_solver_goes_on_from_the_same_state():
    sim, body = beam()
    settle(sim, 5)
    before = body.positions.copy()
    for name in ("quasi-newton", "linearly-implicit", "corotational", "b-pxpbd", "pod-newton"):
        sim.set("solver", name=name)
        assert np.array_equal(body.positions, before)
        assert sim.step().succeeded
        assert sim.solver["name"] == name
        assert np.abs(body.positions - before).max() < 0.05
        before = body.positions.copy()
    sim.set("solver", tolerance=1e-5)
    assert sim.solver["tolerance"] == 1e-5
    assert sim.step().residuals.acceleration <= 1e-5
    with pytest.raises(pliant.InputError, match="tolerance"):
        sim.set("solver", tolerence=1e-3)


def fall(sim, body):
    """The velocity of the centre of mass along y, m/s."""
    masses = sim.masses(body)
    return (masses * sim.velocities(body)[:, 1]).sum() / masses.sum()


def test_pins_and_loads_come_and_go():
    sim, body = beam()
    settle(sim, 5)
    sim.remove("pin", "wall")
    settle(sim, 1)
    speed = fall(sim, body)
    settle(sim, 10)
    assert fall(sim, body) - speed == pytest.approx(-0.1 * 9.81, rel=1e-3)  # it falls freely
    weight = sim.masses(body).sum() * 9.81
    sim.add_load(body, "all", (0, weight, 0), name="balloon")
    speed = fall(sim, body)
    settle(sim, 5)
    assert fall(sim, body) == pytest.approx(speed, abs=1e-3)  # and no more
    sim.change("load", "balloon", force=(0, 2 * weight, 0))
    settle(sim, 5)
    assert fall(sim, body) == pytest.approx(speed + 0.05 * 9.81, abs=1e-3)
    sim.remove("load", "balloon")


def test_contact_comes_and_its_friction_changes():
    sim = pliant.Simulation(dt=0.01)
    cube = sim.add_body(pliant.box(size=(0.1, 0.1, 0.1), cells=(2, 2, 2), origin=(0, 0.002, 0)), name="cube",
                        material="neo-hookean", young=1e5, poisson=0.3)
    sim.add_collider(name="floor", plane={"point": (0, 0, 0), "normal": (0, 1, 0)})
    sim.set_contact(friction=0.0)
    settle(sim, 20)
    sim.velocities(cube)[:] += (0.5, 0, 0)
    settle(sim, 5)
    assert sim.velocities(cube).mean(axis=0)[0] == pytest.approx(0.5, abs=0.01)
    sim.set_contact(friction=0.8)
    settle(sim, 20)
    assert abs(sim.velocities(cube).mean(axis=0)[0]) < 0.01


def test_bodies_are_added_and_removed():
    sim, body = beam()
    settle(sim, 3)
    before = body.positions.copy()
    other = sim.add_body(pliant.box(size=(0.1, 0.1, 0.1), cells=(1, 1, 1), origin=(3, 0, 0)), name="other",
                         material="neo-hookean", young=1e5, poisson=0.3, velocity=(1, 0, 0))
    stone = sim.add_rigid(sphere={"centre": (5, 0, 0), "radius": 0.1}, name="stone")
    assert np.array_equal(body.positions, before)
    settle(sim, 3)
    assert other.positions.mean(axis=0)[0] == pytest.approx(3.05 + 0.03, abs=1e-6)
    where = body.positions.copy()
    sim.remove("body", "other")
    sim.remove("rigid", "stone")
    assert [b.name for b in sim.bodies] == ["beam"]
    assert np.array_equal(body.positions, where)
    settle(sim, 2)
    with pytest.raises(pliant.InputError, match="wall"):
        sim.remove("pin", "wal")


def test_several_cuts_where_the_body_is_now_and_changes_after_them():
    sim, body = beam(cells=(10, 2, 2))
    settle(sim, 20)
    body.positions[:] += (0, 5, 0)  # far from where it was at rest
    sim.remove("pin", "wall")
    vertices, momentum = len(body.vertices), (sim.masses()[:, None] * sim.velocities()).sum(axis=0)
    with pytest.raises(pliant.InputError, match="passes between no two elements"):
        sim.cut(body, plane={"point": (0.7, 0.1, 0.1), "normal": (1, 0, 0), "radius": 0.5})
    sim.cut(body, plane={"point": tuple(np.array([0.7, 0, 0]) + (0, 5, 0)), "normal": (1, 0, 0)})
    assert len(body.vertices) > vertices
    assert len(body.mesh.vertices) == len(body.vertices)
    after = (sim.masses()[:, None] * sim.velocities()).sum(axis=0)
    assert np.allclose(after, momentum, rtol=1e-2)  # copies move as what they are copies of
    middle = len(body.vertices)
    sim.cut(body, plane={"point": (0.3, 0.1, 0.1), "normal": (1, 0, 0)}, now=False)
    assert len(body.vertices) > middle
    settle(sim, 2)
    sim.change("body", "beam", young=2e5)
    sim.add_load(body, "x-max", (400, 0, 0))
    settle(sim, 20)
    ends = body.positions[body.vertices[:, 0] > 0.999], body.positions[body.vertices[:, 0] < 0.25]
    assert ends[0][:, 0].mean() > 1.0  # the cut piece is pulled away
    assert ends[1][:, 0].mean() < 0.3  # and the other stays


def test_a_cut_of_the_scene_does_not_end_changes():
    sim, body = beam()
    mask = body.vertices[:, 0] > 0.999
    sim.add_load(body, mask, (0, 1, 0), name="lift")
    sim.add("cut", name="slit", body="beam", time=0.02, plane={"point": (0.5, 0.1, 0.1), "normal": (1, 0, 0)})
    settle(sim, 5)
    vertices = len(body.vertices)
    assert vertices > 63
    positions = body.positions.copy()
    sim.change("body", "beam", young=3e5)
    assert np.array_equal(body.positions, positions)
    assert len(body.vertices) == vertices
    settle(sim, 3)


def test_a_grab_pulls_a_vertex_and_lets_go():
    sim, body = beam()
    settle(sim, 3)
    hand = sim.grab(body, at=(1, 0.2, 0.2))
    assert np.linalg.norm(body.vertices[hand.vertex] - (1, 0.2, 0.2)) < 1e-9
    hand.target = (1, 0.5, 0.2)
    settle(sim, 100)
    assert np.linalg.norm(body.positions[hand.vertex] - hand.target) < 0.05
    assert hand.force[1] > 0
    sim.change("body", "beam", young=1.5e5)  # it holds on
    settle(sim, 2)
    assert np.linalg.norm(body.positions[hand.vertex] - hand.target) < 0.06
    hand.release()
    assert sim.grabs == []
    settle(sim, 10)
    assert body.positions[hand.vertex][1] < 0.45
    stone = sim.add_rigid(sphere={"centre": (5, 0, 0), "radius": 0.1})
    with pytest.raises(pliant.InputError, match="add_spring"):
        sim.grab(stone, at=(5, 0, 0))
    with pytest.raises(pliant.InputError, match="three finite numbers"):
        hand.target = (1, 2)


def test_gradient_and_hessian_are_those_of_the_energy_and_of_a_step():
    sparse = pytest.importorskip("scipy.sparse")
    linalg = pytest.importorskip("scipy.sparse.linalg")
    sim, body = beam(solver={"name": "newton", "criterion": "residual", "tolerance": 1e-9})
    sim.add_spring(body, (1, 0.1, 0.1), (1, 0.6, 0.1), stiffness=100)
    settle(sim, 3)
    assert np.allclose(sim.gradient(), -sim.forces(), atol=1e-10)
    K = sim.hessian()
    assert sparse.issparse(K) and K.shape == (3 * len(body.positions),) * 2
    assert abs(K - K.T).max() < 1e-9
    x, d = body.positions.copy(), np.random.default_rng(1).normal(size=body.positions.shape)
    body.positions[:] = x + 1e-6 * d
    up = sim.gradient()
    body.positions[:] = x - 1e-6 * d
    down = sim.gradient()
    body.positions[:] = x
    expected = (up - down).ravel() / 2e-6
    assert np.allclose(K @ d.ravel(), expected, atol=1e-5 * np.abs(expected).max())
    projected = sim.hessian(projected=True)
    assert linalg.eigsh(projected, k=1, which="SA", return_eigenvectors=False)[0] > -1e-6 * abs(K).max()
    # Newton's method by hand ends where the solver does.
    core = sim.positions().copy()
    H, g = sim.hessian("step"), sim.gradient("step")
    step = linalg.spsolve(H.tocsc(), g.ravel()).reshape(-1, 3)
    assert sim.step().succeeded
    assert np.abs(core - step - sim.positions()).max() < 0.02 * np.abs(step).max()
    with pytest.raises(pliant.InputError, match="energy"):
        sim.hessian("energie")


def test_the_hessian_of_what_is_stored_has_nothing_else_in_it():
    pytest.importorskip("scipy.sparse")
    sim, body = beam()
    wire = sim.add_rod([[2, 0, 0], [3, 0.1, 0], [3, 1, 0]], radius=0.01, young=1e6, segments=6)
    ball = sim.add_rigid(sphere={"centre": (1.3, 0.1, 0.1), "radius": 0.2}, young=1e5)
    sim.add_spring(body, (1, 0.1, 0.1), (1, 0.6, 0.1), stiffness=100, damping=50)
    sim.attach(body, [len(body.vertices) - 1], ball, along=(0, 1, 0))
    sim.add_joint(ball, at=(1.3, 0.1, 0.1), kind="slider", axis=(0, 0, 1), stiffness=1e3)
    sim.move(wire, "start", translate=(0, 1, 0), times=(0, 1))  # by a penalty
    sim.add_load(body, "y-max", pressure=100)
    sim.grab(wire, at=(3, 1, 0))
    settle(sim, 1)
    rng = np.random.default_rng(1)
    x = sim.positions()
    x[:] += 1e-3 * rng.normal(size=x.shape)
    start, d = x.copy(), rng.normal(size=x.shape)
    ends = []
    for sign in (1, -1):
        x[:] = start + sign * 1e-7 * d
        ends.append(sim.gradient().copy())
    x[:] = start
    expected = (ends[0] - ends[1]).ravel() / 2e-7
    assert np.allclose(sim.hessian() @ d.ravel(), expected, atol=1e-6 * np.abs(expected).max())


def test_attachments_slide_and_probes_see_their_force():
    sim = pliant.Simulation(dt=0.01)
    cube = sim.add_body(pliant.box(size=(0.1, 0.1, 0.1), cells=(2, 2, 2)), name="cube", material="fixed-corotated",
                        young=1e6, poisson=0.3)
    rail = sim.attach(cube, "y-min", along=(1, 0, 0))
    sim.velocities(cube)[:] = (1, 0, 0)
    sim.add_probe(attachment=rail, name="rail", quantities=["force", "length"])
    settle(sim, 100)
    assert cube.positions[:, 0].mean() == pytest.approx(0.05 + 1.0, rel=1e-3)
    assert sim.probes["rail.force_y (N)"][-1] == pytest.approx(9.81, rel=0.05)
    with pytest.raises(pliant.InputError, match="give one"):
        sim.add_probe(cube, attachment=rail)
    with pytest.raises(pliant.InputError, match="rail|attachment"):
        sim.add_probe(attachment="rale")


def test_shells_are_made_from_arrays():
    n = 9
    x, z = np.meshgrid(np.linspace(0, 1, n), np.linspace(0, 1, n), indexing="ij")
    vertices = np.stack([x.ravel(), 0 * x.ravel(), z.ravel()], axis=1)
    i = np.arange(n * n).reshape(n, n)
    a, b, c, d = i[:-1, :-1].ravel(), i[1:, :-1].ravel(), i[1:, 1:].ravel(), i[:-1, 1:].ravel()
    triangles = np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])
    sim = pliant.Simulation(dt=0.02)
    sheet = sim.add_shell(vertices, triangles, thickness=1e-3, young=1e6, density=300, strain_limit=0.05, name="sheet")
    sim.pin(sheet, vertices[:, 0] < 1e-9)
    settle(sim, 10)
    assert sim.masses(sheet).sum() == pytest.approx(0.3, rel=1e-9)
    assert sheet.elements.shape == triangles.shape
    assert sheet.positions[vertices[:, 0] > 0.99, 1].mean() < -0.05
    with pytest.raises(pliant.InputError, match="triangles"):
        sim.add_shell(vertices, triangles.ravel(), thickness=1e-3, young=1e6)
    with pytest.raises(pliant.InputError, match="strain_limit"):
        sim.add_shell(vertices, triangles, thickness=1e-3, young=1e6, strain_limit=-1)
    soup = vertices[triangles].reshape(-1, 3)
    sim.add_shell(soup, np.arange(len(soup)).reshape(-1, 3), thickness=1e-3, young=1e6, name="soup")
    assert "vertices lie where others do" in sim.describe()


def test_rods_are_made_from_points():
    angles = np.linspace(0, np.pi, 21)
    points = np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=1)
    sim = pliant.Simulation(dt=0.02)
    ball = sim.add_rigid(sphere={"centre": (0, 3, 0), "radius": 0.1})
    arch = sim.add_rod(points, radius=0.01, young=1e10, density=800, segments=20, name="arch")
    wire = sim.add_rod([[0, 2, 0], [1, 2, 0]], radius=0.01, young=1e7)
    assert [body.name for body in sim.bodies] == ["arch", "rod-2", "rigid"]
    sim.pin(arch, "first-segment")
    sim.pin(arch, [19, 20])
    settle(sim, 10)
    assert sim.masses(arch).sum() == pytest.approx(800 * np.pi * 0.01**2 * np.pi, rel=5e-3)
    assert arch.vertices.shape == (21, 3) and wire.elements.tolist() == [[k, k + 1] for k in range(40)]
    # Beam theory for an arch clamped in the middles of its first and last segments.
    assert 1 - arch.positions[10, 1] == pytest.approx(1.450e-4, rel=0.06)
    assert wire.positions[:, 1].max() < 1.85 and ball.positions[:, 1].max() < 3
    sim.add_joint(ball, at=(1, 2, 0), kind="ball", to_body=wire, name="knot", stiffness=1.0)
    with pytest.raises(pliant.InputError, match="rigid 'rigid' cannot be removed: without it, "):
        sim.remove("rigid", "rigid")
    sim.remove("joint", "knot")
    sim.change("rod", "arch", young=2e10)
    sim.remove("rod", "rod-2")
    sim.step()
    assert [body.name for body in sim.bodies] == ["arch", "rigid"]
    with pytest.raises(pliant.InputError, match="did you mean 'rest_curvature'"):
        sim.add_rod(points, radius=0.01, young=1e8, rest_curvatur=1)
        sim.step()


def test_what_is_removed_takes_its_functions_and_hands_along():
    sim = pliant.Simulation(dt=0.01, gravity=(0, 0, 0))
    box = sim.add_body(pliant.box(size=(1, 1, 1), cells=(1, 1, 1)), young=1e5, poisson=0.3, name="box")
    wire = sim.add_rod([[0, 3, 0], [1, 3, 0]], radius=0.01, young=1e7, segments=10, name="wire")
    script = sim.move(box, "x-min", lambda t: (0, t, 0), imposition="direct")
    load = sim.add_load(box, "x-max", (0, 800, 0), factor=lambda t: 0.0)
    settle(sim, 3)
    sim.remove("script", script)
    sim.remove("load", load)
    assert len(pliant.Batch(sim, 2)) == 2
    # The same names again, and nothing of the functions.
    assert sim.move(box, "x-min", translate=(0, 0, 1), times=(0, 1), imposition="direct") == script
    settle(sim, 1)
    assert sim.positions(box)[box.vertices[:, 0] < 0.5] == pytest.approx(box.vertices[box.vertices[:, 0] < 0.5] + (0, 0, 0.04), abs=1e-9)
    sim.remove("script", script)
    before = (sim.masses(box) @ sim.velocities(box))[1]
    assert sim.add_load(box, "x-max", (0, 800, 0)) == load
    settle(sim, 1)
    assert (sim.masses(box) @ sim.velocities(box))[1] - before == pytest.approx(8.0, rel=1e-6)
    hand = sim.grab(wire, at=(1, 3, 0))
    sim.change("rod", "wire", segments=3)
    with pytest.raises(pliant.InputError, match="a vertex that is no longer there"):
        sim.step()
    sim.remove("rod", "wire")
    settle(sim, 1)
    assert sim.grabs == [] and (hand.force == 0).all()
    with pytest.raises(pliant.InputError, match="body 'wire' has been removed"):
        sim.positions(wire)
    # A motion that is refused leaves nothing behind either.
    with pytest.raises(pliant.InputError, match="vertex 99"):
        sim.move(box, [99], lambda t: (0, t, 0))
    sim.move(box, "x-min", translate=(0, 0, 0), times=(0, 1))
    settle(sim, 1)


def test_probes_that_are_added_later_leave_what_others_have_seen():
    sim = pliant.Simulation(dt=0.01)
    box = sim.add_body(pliant.box(size=(1, 1, 1), cells=(1, 1, 1)), young=1e5, poisson=0.3, name="box")
    sim.pin(box, "y-min")
    sim.add_probe(box, "y-min", ["reaction"], name="foot")
    settle(sim, 3)
    seen = sim.probes["foot.reaction_y (N)"]
    sim.add_probe(box, "y-max", ["position"], name="top")
    settle(sim, 2)
    probes = sim.probes
    assert len(probes["time"]) == len(seen) + 2 and np.array_equal(probes["foot.reaction_y (N)"][: len(seen)], seen, equal_nan=True)
    top = probes["top.position_y (m)"]
    assert np.isnan(top[:-3]).all() and np.isfinite(top[-3:]).all()  # where it was added, and since
    sim.remove("probe", "foot")
    settle(sim, 1)
    assert np.array_equal(sim.probes["top.position_y (m)"][:-1], top, equal_nan=True)


def test_visual_meshes_move_with_their_bodies(tmp_path):
    file = tmp_path / "fine.obj"
    file.write_text("v 0 0 0\nv 1 0 0\nv 0.5 0.2 0.1\nf 1 2 3\n")
    sim = pliant.Simulation(dt=0.01)
    body = sim.add_body(pliant.box(size=(1, 0.2, 0.2), cells=(4, 1, 1)), material="neo-hookean", young=1e5, poisson=0.3,
                        visual=str(file))
    sim.run(steps=2, out=tmp_path / "run")
    assert pliant.export(tmp_path / "run", "obj", visual=True)
    settle(sim, 8)
    points, triangles = body.visual
    assert triangles.tolist() == [[0, 1, 2]]
    assert np.allclose(points - [[0, 0, 0], [1, 0, 0], [0.5, 0.2, 0.1]],
                       body.positions.mean(axis=0) - body.rest_positions.mean(axis=0), atol=1e-9)
    with pytest.raises(pliant.InputError, match="visual"):
        sim.add_body(None, box={"size": [1, 1, 1], "cells": [1, 1, 1]}, young=1e5, poisson=0.3, name="plain")
        sim.body("plain").visual


@pytest.mark.parametrize("solver", ["pod-newton", "warp-canceling"])
@pytest.mark.parametrize("now", [True, False])
def test_a_snapshot_undoes_cuts_and_makes_them_again_with_the_same_bits(solver, now, tmp_path):
    def run():
        sim, body = beam(solver)
        sim.add_load(body, body.vertices[:, 0] > 0.999, (0, 1, 0), name="lift")
        settle(sim, 5)
        return sim, body

    sim, body = run()
    start = sim.snapshot()
    uncut, uncut_body = run()
    settle(uncut, 4)

    plane = {"normal": (1, 0, 0)}
    sim.cut(body, plane={"point": body.positions[body.vertices[:, 0] == 0.5].mean(axis=0) if now else (0.5, 0.1, 0.1), **plane}, now=now)
    settle(sim, 2)
    once = sim.snapshot()
    sim.save(tmp_path / "once.pliant")
    settle(sim, 2)
    after_once = sim.positions().copy()
    sim.cut(body, plane={"point": (1 / 6, 0.1, 0.1), **plane}, now=False)
    settle(sim, 1)
    twice = sim.snapshot()
    assert len(uncut_body.vertices) < len(once.state.x) < len(twice.state.x)

    sim.restore(start)  # over both
    assert len(body.vertices) == len(body.mesh.vertices) == len(uncut_body.vertices)
    settle(sim, 4)
    assert np.array_equal(sim.positions(), uncut.positions())
    assert np.array_equal(sim.velocities(), uncut.velocities())
    sim.restore(twice)
    assert np.array_equal(sim.positions(), twice.state.x)
    sim.restore(once)
    settle(sim, 2)
    assert np.array_equal(sim.positions(), after_once)
    sim.load(tmp_path / "once.pliant")
    settle(sim, 2)
    assert np.array_equal(sim.positions(), after_once)
    sim.restore(start)
    sim.cut(body, plane={"point": (5 / 6, 0.1, 0.1), **plane}, now=False)  # another one instead
    settle(sim, 1)
    sim.restore(once)
    settle(sim, 2)
    assert np.array_equal(sim.positions(), after_once)


def test_a_cut_is_undone_among_cuts_of_the_scene():
    def run():
        sim, body = beam(cells=(10, 2, 2))
        sim.add("cut", name="slit", body="beam", time=0.02, plane={"point": (0.5, 0.1, 0.1), "normal": (1, 0, 0)})
        settle(sim, 1)
        return sim, body

    expected, _ = run()
    settle(expected, 4)
    sim, body = run()
    start = sim.snapshot()
    sim.cut(body, plane={"point": (0.8, 0.1, 0.1), "normal": (1, 0, 0)}, now=False)
    settle(sim, 4)  # the scene's own is made behind it
    sim.restore(start)
    settle(sim, 3)
    late = sim.snapshot()
    with pytest.raises(pliant.InputError, match="passes between no two elements"):
        sim.cut(body, plane={"point": (7, 0.1, 0.1), "normal": (1, 0, 0)})
    sim.cut(body, plane={"point": (0.8, 0.1, 0.1), "normal": (1, 0, 0)}, now=False)
    settle(sim, 2)
    sim.restore(late)
    settle(sim, 1)
    assert np.array_equal(sim.positions(), expected.positions())


def test_a_cut_is_not_undone_beyond_other_changes_which_would_be_lost():
    sim, body = beam()
    settle(sim, 2)
    start = sim.snapshot()
    sim.cut(body, plane={"point": (0.5, 0.1, 0.1), "normal": (1, 0, 0)})
    sim.change("body", "beam", young=2e5)
    settle(sim, 1)
    positions = sim.positions().copy()
    with pytest.raises(pliant.InputError, match="cuts are undone as long as nothing else is changed"):
        sim.restore(start)
    assert np.array_equal(sim.positions(), positions)


def test_a_cut_is_undone_within_a_run():
    sim, body = beam()
    kept = []

    def callback(sim, report):
        if report and sim.steps_taken == 3 and not kept:
            kept.append(sim.snapshot())
            sim.cut(body, plane={"point": (0.5, 0.1, 0.1), "normal": (1, 0, 0)}, now=False)
        elif sim.steps_taken == 5 and len(kept) == 1:
            kept.append(None)
            sim.restore(kept[0])

    sim.run(steps=8, callback=callback)
    expected, _ = beam()
    settle(expected, sim.steps_taken)
    assert np.array_equal(sim.positions(), expected.positions())
