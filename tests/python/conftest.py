import os
import pathlib
import subprocess

import pytest

import pliant

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


@pytest.fixture
def scenes():
    """The folder of the example scenes."""
    return ROOT / "scenes"


@pytest.fixture
def beam():
    """A simulation of a clamped rubber beam, and its body."""
    mesh = pliant.box(size=(2, 1, 1), cells=(4, 2, 2))
    sim = pliant.Simulation(dt=1 / 60)
    body = sim.add_body(mesh, pliant.material("neo-hookean", young=4e5, poisson=0.4))
    sim.pin(body, mesh.vertices[:, 0] < 1e-9)
    return sim, body


@pytest.fixture
def program():
    """Runs the command line: program("check", scene) gives a completed process with its output."""
    path = os.environ.get("PLIANT_PROGRAM")
    if path is None:
        path = pathlib.Path(pliant.__file__).resolve().parent.parent.parent / "pliant"

    def run(*arguments):
        return subprocess.run([str(path), *map(str, arguments)], capture_output=True, text=True, check=False)

    return run


def error(call):
    """The message of the InputError that a call raises."""
    with pytest.raises(pliant.InputError) as caught:
        call()
    return str(caught.value)
