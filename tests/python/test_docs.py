"""Pages for people say what works: the commands and the code of the manual are run as they stand."""

import os
import pathlib
import re
import shlex
import shutil
import subprocess

import numpy as np
import pytest
from conftest import ROOT

import pliant


def blocks(page, language=""):
    """The fenced blocks of a page in a language, one after the other."""
    text = (ROOT / "docs" / page).read_text()
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def missing(command):
    """A program that a command needs and this machine lacks."""
    needs = {"--film": "ffmpeg", "tetrahedralise": "gmsh"}
    return next((need for word, need in needs.items() if word in command and shutil.which(need) is None), None)


@pytest.fixture
def workshop(tmp_path, monkeypatch):
    """A folder that looks like the sources, with a surface called figure.obj."""
    (tmp_path / "scenes").symlink_to(ROOT / "scenes")
    ball = pliant.sphere(radius=0.3, cells=6)
    used, triangles = np.unique(ball.surface, return_inverse=True)
    pliant.write_surface(tmp_path / "figure.obj", ball.vertices[used], triangles.reshape(-1, 3))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_first_hour_works_word_by_word(workshop):
    program = os.environ.get("PLIANT_PROGRAM")
    if program is None:
        program = str(pathlib.Path(pliant.__file__).resolve().parent.parent.parent / "pliant")
    without = set()
    for line in "".join(blocks("first-hour.md")).splitlines():
        command = shlex.split(line)
        assert command[0] == "build/pliant", line
        if command[1] == "view":  # waits for a browser; the viewer has tests of its own
            continue
        if missing(command) or without.intersection(command):
            without.update(word for word in command if word.startswith("figure.") and word != "figure.obj")
            continue
        done = subprocess.run([program, *command[1:]], capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{line}\n{done.stderr}"
    for name in ("first/picture.png", "first/film.png", "mine/mine.glb", "twisted-beam-compare/compare.html"):
        assert (workshop / "out" / name).exists(), name


def test_the_python_of_the_page_on_comparisons_runs(workshop):
    names = {"pliant": pliant}
    for block in blocks("compare.md", "python"):
        exec(block, names)  # noqa: S102
    assert names["result"]["quasi-newton"].finished
