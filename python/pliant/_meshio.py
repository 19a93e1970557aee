"""Exchange with meshio, which reads and writes many more mesh formats. It is needed only when these are called."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._pliant import InputError, TetMesh


def from_meshio(mesh: Any) -> TetMesh:
    """The tetrahedra of a `meshio.Mesh`. Point sets become vertex sets, `gmsh:physical` or `medit:ref` regions.

    Vertices without a tetrahedron are dropped. Raises InputError when there are volume elements of another kind, since
    the body would have holes without them.
    """
    points = np.asarray(mesh.points, dtype=float)
    labels = mesh.cell_data.get("gmsh:physical") or mesh.cell_data.get("medit:ref")
    tets, regions = [], []
    for number, block in enumerate(mesh.cells):
        if block.type == "tetra":
            tets.append(np.asarray(block.data))
            regions.append(np.asarray(labels[number]) if labels else np.zeros(len(block.data), dtype=np.int64))
        elif block.dim == 3:
            raise InputError(f"the mesh has {len(block.data)} elements of the kind '{block.type}'; use tetrahedra")
    if not tets:
        raise InputError("the mesh has no tetrahedra; mesh the volume first")
    sets = {str(name): np.asarray(members) for name, members in mesh.point_sets.items()}
    return TetMesh(
        points,
        np.concatenate(tets),
        np.concatenate(regions).astype(np.int64) if labels else None,
        sets,
        source="meshio mesh",
        orphans="drop",
    )


def to_meshio(mesh: TetMesh, positions: Any = None) -> Any:
    """A `meshio.Mesh`, at rest or with other positions (n, 3) of the vertices."""
    import meshio  # type: ignore[import]

    points = np.array(mesh.vertices if positions is None else positions)
    cell_data = {"medit:ref": [np.array(mesh.regions)]} if len(mesh.regions) else {}
    sets = {name: np.array(members) for name, members in mesh.sets.items()}
    return meshio.Mesh(points, [("tetra", np.array(mesh.tets))], cell_data=cell_data, point_sets=sets)
