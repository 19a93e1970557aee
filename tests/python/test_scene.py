"""Scene files from Python: the same bits, the same files and the same messages as the command line."""

import json
import warnings

import numpy as np
import pytest
from conftest import error

import pliant

SMALL = ["body.beam.box.cells=[8, 2, 2]", "simulation.fps=30", "output.pictures=false"]


def test_a_scene_gives_the_same_bits_as_the_command_line(scenes, program, tmp_path):
    scene = scenes / "twisted-beam.toml"
    sets = [argument for change in SMALL for argument in ("--set", change)]
    ended = program("run", scene, *sets, "--out", tmp_path / "cli", "--frames", 12, "--quiet")
    assert ended.returncode == 0, ended.stderr

    sim = pliant.Simulation.from_scene(scene, SMALL)
    sim.run(steps=12)
    by_run = sim.state.copy()
    stepped = pliant.Simulation.from_scene(scene, {"body.beam.box.cells": [8, 2, 2], "simulation.fps": 30})
    for _ in range(12):
        stepped.step()
    assert stepped.state == by_run

    loaded = pliant.Simulation.from_scene(scene, SMALL)
    loaded.load(tmp_path / "cli" / "checkpoints" / "step_000000012.pliant")
    assert loaded.state == by_run

    lines = [json.loads(line) for line in (tmp_path / "cli" / "steps.jsonl").read_text().splitlines()]
    reports = pliant.Simulation.from_scene(scene, SMALL).run(steps=12).reports
    for line, report in zip(lines, reports):
        assert line["iterations"] == report.iterations
        assert line["energy"] == report.energy
        assert line["residuals"] == report.residuals.asdict()


def test_the_same_scene_built_in_code_gives_the_same_bits(scenes):
    from_file = pliant.Simulation.from_scene(scenes / "twisted-beam.toml", SMALL)
    sim = pliant.Simulation(fps=30, duration=4, solver={"name": "pod-newton", "tolerance": 0.1})
    material = pliant.material("neo-hookean", young=1e6, poisson=0.45)
    mesh = pliant.box(size=(4, 1, 1), cells=(8, 2, 2))
    beam = sim.add_body(mesh, material, name="beam", density=1000)
    sim.pin(beam, mesh.vertices[:, 0] == 0)
    rotate = {"axis": (1, 0, 0), "centre": (4, 0.5, 0.5), "revolutions": 1.5}
    sim.move(beam, mesh.sets["x-max"], rotate=rotate, times=(0, 2), release=2.5)
    from_file.run(steps=10)
    sim.run(steps=10)
    assert sim.state == from_file.state


def test_results_are_written_as_the_command_line_writes_them(scenes, program, tmp_path):
    scene = scenes / "cantilever.toml"
    small = ["body.0.box.cells=[4, 1, 1]", "output.every=2", "output.checkpoint_every=2", "output.pictures=false"]
    sets = [argument for change in small for argument in ("--set", change)]
    assert program("run", scene, *sets, "--out", tmp_path / "cli", "--frames", 2, "--quiet").returncode == 0
    run = pliant.Simulation.from_scene(scene, small).run(steps=4, out=tmp_path / "python")
    assert run.finished and run.steps == 4

    def files(folder):
        return {p.relative_to(folder): p for p in sorted(folder.rglob("*")) if p.is_file()}

    cli, python = files(tmp_path / "cli"), files(tmp_path / "python")
    assert list(cli) == list(python)
    for name, path in cli.items():
        if path.suffix in (".vtu", ".pvd", ".pliant"):
            assert path.read_bytes() == python[name].read_bytes(), name


def test_a_run_with_results_is_resumed_from_either_side(scenes, program, tmp_path):
    scene = scenes / "cantilever.toml"
    small = ["body.0.box.cells=[4, 1, 1]", "output.pictures=false"]
    sets = [argument for change in small for argument in ("--set", change)]
    sim = pliant.Simulation.from_scene(scene, small)
    assert sim.run(steps=3, out=tmp_path / "out").finished
    assert "already holds files" in error(
        lambda: pliant.Simulation.from_scene(scene, small).run(steps=3, out=tmp_path / "out")
    )
    resumed = program("run", scene, *sets, "--out", tmp_path / "out", "--frames", 6, "--quiet", "--resume")
    assert resumed.returncode == 0, resumed.stderr
    again = pliant.Simulation.from_scene(scene, small)
    run = again.run(steps=9, out=tmp_path / "out", resume=True)
    assert run.steps == 3 and again.steps_taken == 9 and run.totals.steps == 9
    whole = pliant.Simulation.from_scene(scene, small)
    whole.run(steps=9)
    assert whole.state == again.state
    assert len((tmp_path / "out" / "steps.jsonl").read_text().splitlines()) == 9
    replaced = pliant.Simulation.from_scene(scene, small)
    assert replaced.run(steps=1, out=tmp_path / "out", replace=True).finished
    assert "results are written from the first step on" in error(lambda: replaced.run(steps=1, out=tmp_path / "new"))


BROKEN = [
    ("young = 4e5", "young = -4e5"),
    ("young = 4e5", "youngg = 4e5"),
    ('material = "neo-hookean"', 'material = "neo-hokean"'),
    ('where = "x-min"', 'where = "x-mini"'),
    ('where = "x-min"', 'where = "x < -5"'),
    ("fps = 60", "fps = 0"),
    ("duration = 2.0", ""),
    ('name = "pod-newton"', 'name = "pod-newtn"'),
    ('name = "pod-newton"', 'name = "pod-newton"\ntolerence = 1'),
    ("version = 1", "version = 99"),
    ("version = 1", "version = ["),
]
SCENE = """version = 1
[simulation]
fps = 60
duration = 2.0
[[body]]
box = {size = [4, 1, 1], cells = [4, 1, 1]}
material = "neo-hookean"
young = 4e5
poisson = 0.4
[[pin]]
where = "x-min"
[solver]
name = "pod-newton"
"""


@pytest.mark.parametrize("good, bad", BROKEN)
def test_messages_are_those_of_the_command_line(good, bad, program, tmp_path):
    file = tmp_path / "broken.toml"
    file.write_text(SCENE.replace(good, bad))
    said = program("check", file)
    assert said.returncode == 2
    expected = said.stderr.removeprefix("error: ").strip()
    assert error(lambda: pliant.Simulation.from_scene(file).build()) == expected


def test_a_missing_file_and_a_wrong_override_are_named(scenes, program):
    expected = program("check", "no-such.toml").stderr.removeprefix("error: ").strip()
    assert error(lambda: pliant.load_scene("no-such.toml")) == expected
    scene = scenes / "cantilever.toml"
    expected = program("check", scene, "--set", "body.0.yung=1").stderr.removeprefix("error: ").strip()
    assert error(lambda: pliant.load_scene(scene, {"body.0.yung": 1})) == expected == error(
        lambda: pliant.load_scene(scene, ["body.0.yung=1"])
    )
    assert isinstance(pliant.InputError("x"), ValueError)


def test_mistakes_in_code_name_the_line_of_code():
    sim = pliant.Simulation(dt=0.1)
    body = sim.add_body(pliant.box(), pliant.material(young=1e5, poisson=0.3))
    here = r"test_scene.py:"
    for call, words in [
        (lambda: pliant.Simulation(dt=-1), "'dt' in [simulation] must be a number above 0 (s), but is -1"),
        (lambda: pliant.Simulation(), "[simulation] needs 'dt' or 'fps'"),
        (lambda: pliant.Simulation(dt=0.1, solver="nwton"), "did you mean 'newton'?"),
        (lambda: pliant.Simulation(dt=0.1, solver={"name": "newton", "toleranze": 1}), "did you mean 'tolerance'?"),
        (lambda: sim.add_body(pliant.box(), young=1e5), "'young' in [[body]] also needs 'poisson'"),
        (lambda: sim.add_body(None, young=1e5, poisson=0.3), "[[body]] needs 'box'"),
        (lambda: sim.add_body("no-such.msh", young=1e5, poisson=0.3), "there is no mesh file"),
        (lambda: sim.add_body(pliant.box(), young=object(), poisson=0.3), "numbers, text, lists and dicts, not <object"),
        (lambda: sim.pin(body, "x-min", axes="xw"), "'axes' in [[pin]] must be letters of x, y, z"),
        (lambda: sim.add_load(body, "x-min", (1, 2)), "'force' in [[load]] must be three numbers"),
        (lambda: sim.move(body, "x-min", translate=(1, 0, 0)), "say when the motion begins and ends"),
        (lambda: sim.move(body, "x-min", lambda t: 0, position=lambda t: 0), "exclude each other"),
    ]:
        message = error(call)
        assert here in message and words in message, message
    sim.pin(body, "x-mini")  # whether a set exists is known when the model is built
    message = error(sim.step)
    assert here in message and "did you mean 'x-min'?" in message


def test_a_scene_says_what_it_is_and_can_be_added_to(scenes):
    scene = pliant.load_scene(scenes / "twisted-beam.toml", SMALL, solver="newton")
    assert (scene.name, scene.dt, scene.steps, scene.solver["name"]) == ("twisted-beam", 1 / 30, 120, "newton")
    assert scene.as_dict()["body"][0]["box"]["cells"] == [8, 2, 2]
    sim = scene.simulation()
    beam = sim.body("beam")
    assert sim.bodies == [beam] and beam.mesh.vertices.shape == (81, 3)
    sim.add_load(beam, beam.mesh.vertices[:, 0] > 3.9, (0, 0, 100))
    assert sim.external_forces()[:, 2].sum() == pytest.approx(100)
    assert "beam: 81 vertices" in sim.describe()
    assert "there is no body 'bem'" in error(lambda: sim.body("bem"))


def test_notices_are_warnings(scenes):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        pliant.Simulation.from_scene(scenes / "cantilever.toml", ["solver.projection=numerical"], solver="pod-newton")
        assert caught == []
        pliant.Simulation.from_scene(scenes / "cantilever.toml", solver="newton")
    for warning in caught:
        assert "left out" in str(warning.message)


def test_every_example_scene_builds(scenes):
    for scene in sorted(scenes.glob("*.toml")):
        sim = pliant.Simulation.from_scene(scene)
        sim.build()
        assert len(sim.positions()) > 0


def test_solvers_and_laws_are_listed():
    solvers = pliant.solvers()
    assert {"newton", "projected-newton", "pod-newton", "kinetic-newton"} <= set(solvers)
    tolerance = next(p for p in solvers["newton"].parameters if p.key == "tolerance")
    assert tolerance.default == 0.01 and "m/s^2" in tolerance.unit
    assert not pliant.laws()["neo-hookean"].survives_inversion
    assert pliant.__version__.count(".") == 2
    assert np.isinf(tolerance.greatest)
    assert solvers["conjac"].supports.links and not solvers["newton"].supports.links
    assert solvers["xpbd"].supports.laws == ("fixed-corotated", "arap", "macklin-mueller")
    assert set(solvers["newton"].supports.laws) == set(pliant.laws())


def test_a_simulation_knows_the_solvers_that_can_run_it():
    sim = pliant.Simulation(dt=0.01, solver="xpbd")
    sim.add_body(pliant.box(size=(1, 1, 1), cells=(1, 1, 1)), pliant.material("neo-hookean", young=1e5, poisson=0.3))
    assert "pod-newton" in sim.solvers_that_fit() and "xpbd" not in sim.solvers_that_fit()
    assert "neo-hookean" in sim.solver_refusals()["xpbd"]
    assert set(sim.solvers_that_fit()) | set(sim.solver_refusals()) == set(pliant.solvers())
    with pytest.raises(pliant.InputError, match="Solvers that can: pod-newton"):
        sim.build()
