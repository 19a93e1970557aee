"""Exports, pictures, comparisons and sweeps from Python, and exports opened in Blender."""

import json
import shutil
import struct
import subprocess

import numpy as np
import pytest
from conftest import error

import pliant

SCENE = """name = "falling"
[simulation]
fps = 50
frames = 8
[[body]]
name = "cube"
box = {size = [1, 1, 1], cells = [2, 2, 2]}
young = 1e5
poisson = 0.4
translate = [0, 0.05, 0]
[[collider]]
name = "floor"
plane = {point = [0, 0, 0], normal = [0, 1, 0]}
"""


@pytest.fixture
def scene(tmp_path):
    path = tmp_path / "falling.toml"
    path.write_text(SCENE)
    return path


@pytest.fixture
def run(scene, tmp_path):
    pliant.Simulation.from_scene(scene).run(out=tmp_path / "run")
    return tmp_path / "run"


def test_a_run_is_exported_with_the_positions_it_had(run):
    out = pliant.export(run, "pc2")
    content = (run / "pc2" / "cube.pc2").read_bytes()
    assert str(out) == str(run / "pc2")
    count, samples = struct.unpack_from("<i", content, 16)[0], struct.unpack_from("<i", content, 28)[0]
    assert (count, samples) == (26, 9)
    x = np.frombuffer(content, dtype="<f4", offset=32).reshape(samples, count, 3)
    assert np.isclose(x[0, :, 1].min(), 0.05)
    assert x[8, :, 1].min() > 0  # contact holds


def test_an_unknown_format_or_field_is_told_with_those_there_are(run):
    assert "glb, usda, pc2, mdd, ply, obj" in error(lambda: pliant.export(run, "fbx"))
    assert "stretch" in error(lambda: pliant.export(run, "ply", colour="heat"))


def test_pictures_are_drawn_from_a_finished_run(run, tmp_path):
    (tmp_path / "pictures").mkdir()
    pliant.picture(run, out=tmp_path / "pictures", colour="body")
    assert (tmp_path / "pictures" / "picture.png").read_bytes()[1:4] == b"PNG"
    assert (tmp_path / "pictures" / "film.png").read_bytes()[1:4] == b"PNG"
    film = tmp_path / "run.gif"
    pliant.picture(run, film=film, from_=(3, 2, 5), at=(0, 0, 0), size=(160, 90), legend=False, every=2)
    data = film.read_bytes()
    assert data[:6] == b"GIF89a"
    assert (int.from_bytes(data[6:8], "little"), int.from_bytes(data[8:10], "little")) == (160, 90)
    with pytest.raises(pliant.InputError, match="from 16 to 16384"):
        pliant.picture(run, size=(4, 90))


def test_solvers_are_compared_as_arrays(scene, tmp_path):
    told = []
    result = pliant.compare(
        scene, ["newton", "quasi-newton"], steps=4, out=tmp_path / "compare", progress=lambda *what: told.append(what)
    )
    assert [trial.solver for trial in result.trials] == ["newton", "quasi-newton"]
    assert result["newton"].series["distance"].shape == (4,)
    assert np.isinf(result["newton"].series["gap"]).all(), "nothing is near"
    assert result["newton"].error < 1e-4
    assert len(result.curves["quasi-newton"]) == 5
    assert len(told) == 1 + 2 + 5 + 5
    assert json.loads((tmp_path / "compare" / "compare.json").read_text())["scene"] == "falling"
    assert "<svg" in (tmp_path / "compare" / "compare.html").read_text()


def test_a_key_is_swept(scene):
    result = pliant.sweep(scene, "body.0.young", [1e5, 1e7], steps=8)
    assert result.trials[0].error == 0
    assert np.isfinite(result["10000000.0"].series["total"]).all()


BLENDER = """
import sys
import numpy
numpy.bool = bool  # Debian 12's importer of glTF was written for an older numpy
import bpy
kind, path = sys.argv[-2:]
bpy.ops.wm.read_factory_settings(use_empty=True)
if kind == "glb":
    bpy.ops.import_scene.gltf(filepath=path)
elif kind == "ply":
    bpy.ops.import_mesh.ply(filepath=path)
elif kind == "obj":
    bpy.ops.wm.obj_import(filepath=path)
else:
    exec(compile(open(path).read(), path, "exec"), {"__file__": path})
scene = bpy.context.scene
last = max([a.frame_range[1] for a in bpy.data.actions], default=scene.frame_end if kind in ("pc2", "mdd") else 1)
lows = []
for frame in (scene.frame_start if kind in ("pc2", "mdd") else 0, last):
    scene.frame_set(int(frame), subframe=frame - int(frame))
    graph = bpy.context.evaluated_depsgraph_get()
    cubes = [o for o in bpy.data.objects if o.type == "MESH" and not o.name.startswith("floor")]
    lows.append(min((o.matrix_world @ v.co).z for o in cubes for v in o.evaluated_get(graph).to_mesh().vertices))
print("FOUND", sorted(o.name for o in bpy.data.objects if o.type == "MESH"), *lows)
"""


@pytest.mark.skipif(shutil.which("blender") is None, reason="no Blender: scripts/setup scripts/packages-blender")
@pytest.mark.parametrize("kind", ["glb", "pc2", "mdd", "obj", "ply"])
def test_blender_opens_an_export_and_it_falls(run, tmp_path, kind):
    out = pliant.export(run, kind)
    path = {"glb": out, "obj": f"{out}/falling_000008.obj", "ply": f"{out}/falling_000008.ply"}.get(
        kind, f"{out}/import_in_blender.py"
    )
    (tmp_path / "open.py").write_text(BLENDER)
    command = ["blender", "-b", "--factory-startup", "--python", str(tmp_path / "open.py"), "--", kind, path]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    found = [line for line in done.stdout.splitlines() if line.startswith("FOUND")]
    assert found, done.stdout + done.stderr
    if kind != "ply":
        assert "'cube'" in found[0] and "'floor'" in found[0]
    first, last = (float(word) for word in found[0].split()[-2:])
    if kind in ("glb", "pc2", "mdd"):
        assert first == pytest.approx(0.05, abs=1e-4)
        assert 0 < last < 0.04


PARAVIEW = """
import sys
from paraview.simple import *
run, picture = sys.argv[-2:]
body, floor = PVDReader(FileName=run + "/result.pvd"), PVDReader(FileName=run + "/colliders.pvd")
lows = []
for time in (body.TimestepValues[0], body.TimestepValues[-1]):
    UpdatePipeline(time=time, proxy=body)
    lows.append(body.GetDataInformation().GetBounds()[2])
UpdatePipeline(time=body.TimestepValues[-1], proxy=floor)
print("FOUND", floor.GetDataInformation().GetNumberOfCells(), *lows)
view = CreateRenderView(ViewSize=[640, 360])
ColorBy(Show(body, view), ("CELLS", "stretch"))
Show(floor, view)
view.ViewTime = body.TimestepValues[-1]
view.CameraPosition, view.CameraFocalPoint, view.CameraViewUp = [4, 2.5, 5], [0.5, 0.5, 0.5], [0, 1, 0]
Render(view)
SaveScreenshot(picture, view)
"""


@pytest.mark.skipif(shutil.which("pvbatch") is None, reason="no ParaView: scripts/setup scripts/packages-paraview")
def test_paraview_opens_a_run_with_its_colliders(run, tmp_path):
    (tmp_path / "open.py").write_text(PARAVIEW)
    picture = tmp_path / "paraview.png"
    command = ["pvbatch", str(tmp_path / "open.py"), str(run), str(picture)]
    if shutil.which("xvfb-run"):  # Debian's ParaView draws on a display only
        command = ["xvfb-run", "-a", "-w", "10", "-s", "-screen 0 1280x800x24", *command]
    for _ in range(3):  # the virtual display does not always come up; what ParaView reads is the same each time
        done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
        if picture.exists():
            break
    found = [line for line in done.stdout.splitlines() if line.startswith("FOUND")]
    assert found, done.stdout + done.stderr
    cells, first, last = (float(word) for word in found[0].split()[1:])
    assert cells > 0
    assert first == pytest.approx(0.05, abs=1e-4)
    assert 0 < last < 0.04
    if not picture.exists():
        pytest.skip("what ParaView read is right; it had no display to draw on")
    assert picture.stat().st_size > 2000
