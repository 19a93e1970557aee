"""The package is typed: mypy, where it is installed, finds nothing to complain about."""

import inspect
import pathlib
import subprocess
import sys

import pytest

import pliant


def test_the_package_passes_strict_type_checking(tmp_path):
    pytest.importorskip("mypy")
    package = pathlib.Path(pliant.__file__).parent
    arguments = ["--strict", "--cache-dir", str(tmp_path), str(package)]
    checked = subprocess.run([sys.executable, "-m", "mypy", *arguments], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout


def test_everything_public_has_a_docstring():
    for name in pliant.__all__:
        thing = getattr(pliant, name)
        if callable(thing):
            assert thing.__doc__, name
    for name, member in inspect.getmembers(pliant.Simulation):
        if not name.startswith("_") and name not in ("bodies", "steps_taken"):
            assert member.__doc__, name
