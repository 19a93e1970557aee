"""What Python code must bear: circles through native objects, wrong types, numbers beyond all bounds."""

import gc
import os
import subprocess
import sys
import weakref

import numpy as np
import pytest

import pliant


def beam(**keys):
    sim = pliant.Simulation(dt=1 / 60, **keys)
    body = sim.add_body(pliant.box(size=(1, 1, 1), cells=(1, 1, 1)), pliant.material("neo-hookean", young=1e5, poisson=0.3))
    return sim, body


def test_an_energy_whose_function_refers_to_its_simulation_is_collected():
    sim, body = beam()

    def spring(positions):
        assert sim.time >= 0  # the circle
        difference = positions[:, 1] - positions[:, 0]
        gradients = np.stack([-difference, difference], axis=1)
        return 0.5 * np.sum(difference**2, axis=1), gradients

    sim.add_energy([[0, 1]], spring, body=body)
    sim.step()
    gone = weakref.ref(sim)
    del sim, body, spring
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize(
    "vertices",
    [
        np.array([["0", "0", "0"], ["1", "0", "0"], ["0", "1", "0"], ["0", "0", "1"]]),
        np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1j]]),
        np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, None]]),
        [[0, 0, 0], [1, 0]],
        "vertices",
        object(),
    ],
)
def test_what_is_no_array_of_numbers_is_an_input_error(vertices):
    with pytest.raises(pliant.InputError, match="array of numbers"):
        pliant.TetMesh(vertices, [[0, 1, 2, 3]])
    with pytest.raises(pliant.InputError, match="array of numbers"):
        pliant.TetMesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], vertices)
    with pytest.raises(pliant.InputError, match="array of numbers"):
        pliant.material("neo-hookean", young=1e5, poisson=0.3).stress(vertices)


def test_an_energy_that_returns_nonsense_is_an_input_error():
    sim, body = beam()
    sim.add_energy([[0, 1]], lambda positions: ("a", "b"), body=body)
    with pytest.raises(pliant.InputError, match="array of numbers"):
        sim.step()


def test_a_list_that_holds_itself_is_an_input_error():
    endless = []
    endless.append(endless)
    sim, body = beam()
    with pytest.raises(pliant.InputError, match="nested"):
        sim.add_collider(sphere=endless)


@pytest.mark.parametrize("how", [{"duration": 1e308}, {"steps": 10**30}, {"steps": 2**63 - 1}, {"steps": 10**400}])
def test_runs_without_an_end_are_refused(how):
    sim, _ = beam()
    with pytest.raises(pliant.InputError, match="at most"):
        sim.run(**how)


@pytest.mark.parametrize("steps", [0, -1, float("nan"), float("inf"), -float("inf")])
def test_numbers_of_steps_that_are_none_are_refused(steps):
    sim, _ = beam()
    with pytest.raises(pliant.InputError, match="at least 1"):
        sim.run(steps=steps)


@pytest.mark.parametrize("section", [None, 3, 1.5, object()])
def test_a_section_that_is_no_word_is_an_input_error(section):
    sim, _ = beam()
    with pytest.raises(pliant.InputError, match="name a section"):
        sim.set(section)


COMMA = """
import locale, sys, numpy as np, pliant
locale.setlocale(locale.LC_ALL, "de_DE.UTF-8")
assert locale.localeconv()["decimal_point"] == ","
sim = pliant.Simulation(dt=1 / 64, gravity=(0, -9.81, 0), output={"pictures": False})
mesh = pliant.box(size=(1, 1, 1), cells=(1, 1, 1))
body = sim.add_body(mesh, pliant.material("neo-hookean", young=1.5e5, poisson=0.3))
sim.run(steps=3, out=sys.argv[1])
pliant.picture(sys.argv[1])
scene = pliant.load_scene(sys.argv[2])
print(repr(scene))
"""


def test_a_locale_with_a_decimal_comma_changes_nothing(tmp_path):
    made = subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", str(tmp_path / "de_DE.UTF-8")], capture_output=True)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "LOCPATH": str(tmp_path)}
    # Without the sources of locales a folder is left of which nothing can be set.
    probe = [sys.executable, "-c", "import locale; locale.setlocale(locale.LC_ALL, 'de_DE.UTF-8')"]
    if subprocess.run(probe, env=environment, capture_output=True).returncode != 0:
        pytest.skip(f"no locale can be made here: {made.stderr[:100]!r}")
    scene = tmp_path / "scene.toml"
    scene.write_text("simulation = {dt = 0.015625, duration = 0.5}\nbody = [{box = {size = [0.5, 1, 1], cells = [1, 1, 1]}, young = 1.5e5, poisson = 0.25}]\n")
    told = {}
    for name in ("comma", "point"):
        code = COMMA if name == "comma" else COMMA.replace('"de_DE.UTF-8"', '"C"').replace('== ","', '== "."')
        done = subprocess.run(
            [sys.executable, "-c", code, str(tmp_path / name), str(scene)], env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        told[name] = done.stdout
    assert told["comma"] == told["point"]
    for file in ("result.pvd", "frames/frame_000003.vtu", "film.png"):
        assert (tmp_path / "comma" / file).read_bytes() == (tmp_path / "point" / file).read_bytes(), file


def test_contact_with_itself_can_be_switched_off():
    sim, _ = beam()
    sim.set_contact(dhat=1e-3, self=False)
    sim.step()
    assert sim._tree.as_dict()["contact"]["self"] is False
