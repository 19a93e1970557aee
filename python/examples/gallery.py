#!/usr/bin/python3
"""A picture per material: the same soft bar hangs from its upper end and is pulled at the lower one by the same force.

    PYTHONPATH=build/python /usr/bin/python3 python/examples/gallery.py out/gallery

Every law gets the same Young's modulus and Poisson's ratio, so that what differs in the pictures is what the laws make of
large strain. Colours are the largest stretch. The script asserts that every bar comes to rest in balance with its load,
and that the laws agree where they should: at rest, where most of them are linear elasticity.
"""

from __future__ import annotations

import argparse
import pathlib

import numpy as np

import pliant

YOUNG, POISSON = 1e5, 0.4
PULL = 0.6 * YOUNG * 0.5**2  # N: by linear elasticity the bar would be longer by 60 %
LINEAR_AT_REST = (
    "neo-hookean",
    "stable-neo-hookean",
    "macklin-mueller",
    "mooney-rivlin",
    "fixed-corotated",
    "linear-corotated",
    "stvk",
)


def materials() -> dict[str, pliant.Material]:
    """Each law with the same parameters; a law that needs more than these is left out."""
    made = {}
    for name in pliant.laws():
        try:
            made[name] = pliant.material(name, young=YOUNG, poisson=POISSON)
        except pliant.InputError:
            continue
    return made


def check_rest(made: dict[str, pliant.Material]) -> None:
    """All laws are free of stress at rest, and the classical ones are the same linear elasticity there."""
    elasticity = made["linear-corotated"].hessian(np.eye(3))
    for name, material in made.items():
        assert np.abs(material.stress(np.eye(3))).max() < 1e-9 * YOUNG, name
        if name in LINEAR_AT_REST:
            assert np.allclose(material.hessian(np.eye(3)), elasticity, atol=1e-9 * YOUNG), name


def loaded(material: pliant.Material, cells: int) -> tuple[pliant.Simulation, pliant.Body]:
    """The bar under its load, at rest."""
    mesh = pliant.box(size=(0.5, 1.5, 0.5), cells=(cells, 3 * cells, cells), origin=(-0.25, -1.5, -0.25))
    # Long steps of implicit Euler damp the swinging within seconds; statics from the start would not do for a law that
    # has no stiffness at rest.
    sim = pliant.Simulation(dt=0.1, gravity=(0, 0, 0), solver={"name": "pod-newton", "tolerance": 1e-2})
    # The lowest layer of cells is a stiff plate, which spreads the force.
    plate = {"where": mesh.vertices[:, 1] < -1.49 + 0.5 / cells, "young": 1e3 * YOUNG, "poisson": POISSON}
    bar = sim.add_body(mesh, material, density=200, regions={"plate": plate})
    sim.pin(bar, "y-max")
    sim.add_load(bar, "y-min", (0, -PULL, 0))
    run = sim.run(steps=60)
    assert run.finished, f"{material}: {run.detail}"
    # In balance: the forces of all potentials and the load cancel but where the bar is held.
    free = mesh.vertices[:, 1] < 0
    unbalanced = np.abs(sim.forces(bar) + sim.external_forces(bar))[free].max()
    assert unbalanced < 1e-3 * PULL, f"{material}: {unbalanced} N out of balance"
    return sim, bar


def draw(axes, sim: pliant.Simulation, body: pliant.Body, at: float, title: str) -> None:
    """Draws the surface, seen a little from above and the side, with the upper end at (at, 0)."""
    from matplotlib import colormaps
    from matplotlib.collections import PolyCollection

    turn, tilt = np.radians(35), np.radians(12)
    about_y = np.array([[np.cos(turn), 0, np.sin(turn)], [0, 1, 0], [-np.sin(turn), 0, np.cos(turn)]])
    about_x = np.array([[1, 0, 0], [0, np.cos(tilt), -np.sin(tilt)], [0, np.sin(tilt), np.cos(tilt)]])
    x = sim.positions(body)[: len(body.vertices)] @ (about_x @ about_y).T  # towards the eye is +z
    triangles = x[body.surface]
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    seen = np.flatnonzero(normals[:, 2] > 0)
    seen = seen[np.argsort(triangles[seen, :, 2].mean(axis=1))]  # far ones first
    stretch = sim.stretches(body)[body.mesh.surface_tets[seen], 0]
    colours = colormaps["viridis"](np.clip((stretch - 1) / 1.5, 0, 1))
    colours[:, :3] *= (0.55 + 0.45 * np.clip(normals[seen] @ np.array([-0.45, 0.5, 0.74]), 0, 1))[:, None]
    flat = triangles[seen][:, :, :2] + (at, 0)
    axes.add_collection(PolyCollection(flat, facecolors=colours, edgecolors=(0, 0, 0, 0.3), linewidths=0.3))
    axes.text(at, 0.15, title, ha="center", va="bottom", fontsize=8)


def frame(plt, bars: int):
    """A figure with room for so many bars side by side."""
    figure, axes = plt.subplots(figsize=(1.1 * bars + 0.2, 4.2))
    figure.subplots_adjust(left=0, right=1, bottom=0, top=1)
    axes.set(xlim=(-0.6, 1.1 * (bars - 1) + 0.6), ylim=(-3.5, 0.7))
    axes.set_aspect("equal")
    axes.set_axis_off()
    return figure, axes


def main(arguments: list[str] | None = None) -> list[pathlib.Path]:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", nargs="?", default="out/gallery", type=pathlib.Path, help="folder for the pictures")
    parser.add_argument("--quick", action="store_true", help="coarse meshes")
    options = parser.parse_args(arguments)

    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    options.out.mkdir(parents=True, exist_ok=True)
    made = materials()
    check_rest(made)
    results, written = {}, []
    for name, material in made.items():
        sim, bar = results[name] = loaded(material, 2 if options.quick else 5)
        figure, axes = frame(plt, 1)
        draw(axes, sim, bar, 0, name)
        written.append(options.out / f"{name}.png")
        figure.savefig(written[-1], dpi=110)
        plt.close(figure)
        length = -sim.positions(bar)[:, 1].min()
        print(f"{name:24} {length:.3f} m long   {sim.stresses(bar, 'von-mises').max() / 1e3:7.1f} kPa at most")

    figure, axes = frame(plt, len(results))
    for number, (name, (sim, bar)) in enumerate(results.items()):
        draw(axes, sim, bar, 1.1 * number, name.replace("-", "\n"))
    written.append(options.out / "all.png")
    figure.savefig(written[-1], dpi=85)
    plt.close(figure)
    print(f"pictures in {options.out}")
    return written


if __name__ == "__main__":
    main()
