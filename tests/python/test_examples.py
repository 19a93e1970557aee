"""The examples run, in quick form; they assert their outcome themselves."""

import importlib.util
import pathlib

import pytest

EXAMPLES = pathlib.Path(__file__).resolve().parent.parent.parent / "python" / "examples"


def load(name):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_gallery_draws_a_picture_per_material(tmp_path):
    pytest.importorskip("matplotlib")
    gallery = load("gallery")
    written = gallery.main([str(tmp_path), "--quick"])
    names = {path.stem for path in written}
    assert {"all", "neo-hookean", "stable-neo-hookean", "fixed-corotated", "stvk", "arap", "linear-corotated"} <= names
    assert all(path.stat().st_size > 5000 for path in written)


@pytest.mark.parametrize("name", ["spring_net", "cantilever", "compare_solvers", "find_stiffness", "find_throw"])
def test_an_example_runs_and_agrees_with_what_it_says(name):
    load(name).main()
