"""Meshes from and to numpy and meshio."""

import pickle

import numpy as np
import pytest
from conftest import error

import pliant


def test_a_box_has_what_it_says():
    mesh = pliant.box(size=(2, 1, 1), cells=(4, 2, 2), origin=(-1, 0, 0))
    assert mesh.vertices.shape == (45, 3) and mesh.tets.shape == (80, 4)
    assert mesh.total_volume == pytest.approx(2) == mesh.volumes().sum()
    assert mesh.vertices.min(axis=0) == pytest.approx([-1, 0, 0])
    assert (mesh.vertices[mesh.sets["x-max"], 0] == 1).all() and len(mesh.sets["x-max"]) == 9
    assert mesh.surface.shape == (2 * 2 * (8 + 8 + 4), 3)
    assert mesh.quality()["pieces"] == 1
    assert len(pliant.box(cells=(2, 2, 2), split="six").tets) == 48


@pytest.mark.parametrize(
    "make, volume",
    [
        (lambda: pliant.cylinder(0.5, 2, axis="x", cells=16), np.pi * 0.25 * 2),
        (lambda: pliant.tube(0.3, 0.5, 1, layers=4), np.pi * (0.25 - 0.09)),
        (lambda: pliant.sphere(0.5, centre=(1, 2, 3), cells=16), np.pi / 6),
        (lambda: pliant.torus(0.5, 0.15, axis="y", cells=12), 2 * np.pi**2 * 0.5 * 0.15**2),
        (lambda: pliant.sheet((2, 1), 0.1, normal="y", cells=(8, 4)), 0.2),
        (lambda: pliant.lattice((1, 1, 1), (2, 2, 2), 0.2), 9 * 3 * 0.04 - 27 * 2 * 0.008),
    ],
)
def test_generated_shapes_have_their_volume(make, volume):
    mesh = make()
    assert mesh.total_volume == pytest.approx(volume, rel=0.03)
    assert "boundary" in mesh.sets and mesh.quality()["quality"][0] > 0.05


def test_generators_name_what_is_wrong():
    assert 'axis must be "x", "y" or "z", not "w"' in error(lambda: pliant.cylinder(axis="w"))
    assert "cells" in error(lambda: pliant.box(cells=(0, 1, 1)))
    assert "size must be three numbers, but has the shape (2,)" in error(lambda: pliant.box(size=(1, 1)))
    assert "cells cannot be (1.5, 1, 1)" in error(lambda: pliant.box(cells=(1.5, 1, 1)))
    assert "radius" in error(lambda: pliant.sphere(-1))


def test_meshes_round_trip_through_numpy_and_pickle():
    mesh = pliant.box(cells=(2, 2, 2))
    regions = np.arange(len(mesh.tets)) % 3
    again = pliant.TetMesh(mesh.vertices, mesh.tets, regions=regions, sets={"left": mesh.vertices[:, 0] == 0, "one": [1]})
    assert (again.vertices == mesh.vertices).all() and (again.tets == mesh.tets).all()
    assert (again.regions == regions).all()
    assert (again.sets["left"] == mesh.sets["x-min"]).all() and list(again.sets["one"]) == [1]
    pickled = pickle.loads(pickle.dumps(again))
    assert (pickled.vertices == mesh.vertices).all() and (pickled.regions == regions).all()
    assert list(pickled.sets) == ["left", "one"]


def test_arrays_are_views_that_cannot_be_written_and_keep_the_mesh_alive():
    vertices = pliant.box(cells=(2, 2, 2)).vertices
    assert not vertices.flags.owndata
    assert vertices.sum() == pytest.approx(27 * 1.5)
    with pytest.raises(ValueError):
        vertices[0] = 1


def test_any_layout_and_integer_type_is_taken():
    mesh = pliant.box(cells=(2, 2, 2))
    for tets in (mesh.tets.astype(np.int64), np.asfortranarray(mesh.tets), mesh.tets.astype(np.uint8), mesh.tets.tolist()):
        again = pliant.TetMesh(np.asfortranarray(mesh.vertices), tets)
        assert (again.tets == mesh.tets).all()


def test_broken_meshes_are_refused_by_name():
    vertices = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
    assert "names vertex 7" in error(lambda: pliant.TetMesh(vertices, [[0, 1, 2, 7]]))
    assert "is inverted" in error(lambda: pliant.TetMesh(vertices, [[0, 2, 1, 3]]))
    assert "tets must have the shape (m, 4), but has (1, 3)" in error(lambda: pliant.TetMesh(vertices, [[0, 1, 2]]))
    assert "vertices must have the shape (n, 3)" in error(lambda: pliant.TetMesh(vertices[:, :2], [[0, 1, 2, 3]]))
    assert "tets must be whole numbers, but has the type float64" in error(lambda: pliant.TetMesh(vertices, [[0, 1, 2, 3.0]]))
    assert "not a finite number" in error(lambda: pliant.TetMesh(vertices * np.nan, [[0, 1, 2, 3]]))
    more = np.vstack([vertices, [5, 5, 5]])
    assert "vertex 4 belongs to no tetrahedron" in error(lambda: pliant.TetMesh(more, [[0, 1, 2, 3]]))
    dropped = pliant.TetMesh(more, [[0, 1, 2, 3]], orphans="drop")
    assert len(dropped.vertices) == 4 and dropped.notes == ["1 vertices without an element were dropped"]


def test_a_mesh_file_that_is_none_says_so(tmp_path):
    (tmp_path / "mesh.msh").write_text("nonsense\n")
    assert "mesh.msh" in error(lambda: pliant.read_mesh(tmp_path / "mesh.msh"))


@pytest.mark.parametrize("name", ["box.mesh", "box.meshb", "box.msh", "box.vtk", "box.vtu", "box.ele"])
def test_files_keep_every_bit(name, tmp_path):
    mesh = pliant.sphere(np.pi / 3, cells=4)
    pliant.write_mesh(tmp_path / name, mesh)
    again = pliant.read_mesh(tmp_path / name)
    assert (again.vertices == mesh.vertices).all() and (again.tets == mesh.tets).all()


def test_surfaces_are_written_and_read(tmp_path):
    mesh = pliant.sphere(cells=4)
    used = np.unique(mesh.surface)
    numbers = np.full(len(mesh.vertices), -1)
    numbers[used] = np.arange(len(used))
    pliant.write_surface(tmp_path / "ball.obj", mesh.vertices[used], numbers[mesh.surface])
    vertices, triangles = pliant.read_surface(tmp_path / "ball.obj")
    assert (vertices == mesh.vertices[used]).all() and (triangles == numbers[mesh.surface]).all()
    assert "names vertex" in error(lambda: pliant.write_surface(tmp_path / "bad.obj", vertices, triangles + 1000))


def test_element_fields_and_region_names_stay_with_the_mesh(tmp_path):
    box = pliant.box(cells=(2, 2, 2))
    count = len(box.tets)
    fields = {"E": np.arange(1.0, count + 1), "fibre": np.ones((count, 3))}
    mesh = pliant.TetMesh(
        box.vertices, box.tets, np.arange(count) % 2, region_names={0: "bone", 1: "flesh"}, element_fields=fields
    )
    for again in (mesh, pickle.loads(pickle.dumps(mesh))):
        assert again.region_names == {0: "bone", 1: "flesh"}
        assert (again.element_fields["E"] == fields["E"]).all() and again.element_fields["fibre"].shape == (count, 3)


def test_meshes_go_to_and_come_from_meshio(tmp_path):
    meshio = pytest.importorskip("meshio")
    mesh = pliant.box(cells=(2, 2, 2))
    mesh = pliant.TetMesh(mesh.vertices, mesh.tets, regions=np.arange(len(mesh.tets)) % 2)
    pliant.to_meshio(mesh).write(tmp_path / "box.mesh")
    again = pliant.from_meshio(meshio.read(tmp_path / "box.mesh"))
    assert np.allclose(again.vertices, mesh.vertices) and (again.tets == mesh.tets).all()
    assert (again.regions == mesh.regions).all()
    read = pliant.read_mesh(tmp_path / "box.mesh")
    assert (read.tets == mesh.tets).all()
    flat = meshio.Mesh(mesh.vertices, [("triangle", mesh.surface)])
    assert "no tetrahedra" in error(lambda: pliant.from_meshio(flat))
    bricks = meshio.Mesh(mesh.vertices, [("hexahedron", np.arange(8)[None])])
    assert "elements of the kind 'hexahedron'" in error(lambda: pliant.from_meshio(bricks))


def test_a_fine_surface_is_filled_coarsely_and_carried():
    fine = pliant.sphere(radius=0.5, cells=16)
    mesh = pliant.tetrahedralise(fine.vertices, fine.surface, coarse=800)
    assert 600 < len(mesh.tets) < 1000
    assert mesh.total_volume == pytest.approx(4 / 3 * np.pi * 0.125, rel=0.1)
    assert "surface" in mesh.sets
    with pytest.raises(pliant.InputError, match="ask for 50 to"):
        pliant.tetrahedralise(fine.vertices, fine.surface, coarse=2)
