#!/usr/bin/python3
"""A picture per material: the same rubber-like block is sheared, twisted and squeezed under each law.

    PYTHONPATH=build/python /usr/bin/python3 python/examples/gallery.py out/gallery

Every law gets the same stiffness at small strain, so that what differs in the pictures is what the laws make of large
strain. Colours are the von Mises stress. The script asserts that each run converged and that the laws agree where they
should: in a small deformation.
"""

from __future__ import annotations

import argparse
import pathlib

import numpy as np

import pliant

YOUNG, POISSON = 1e5, 0.4


def materials() -> dict[str, pliant.Material]:
    """Each law with the same linear elasticity; laws by curves are left out, since they are what their curves are."""
    made = {}
    for name in pliant.laws():
        try:
            made[name] = pliant.material(name, young=YOUNG, poisson=POISSON)
        except pliant.InputError:
            continue
    return made


def twisted(material: pliant.Material, cells: int, turn: float, lift: float) -> tuple[pliant.Simulation, pliant.Body]:
    """A column whose top is turned by `turn` (rad) and pressed down by `lift` (m), in equilibrium."""
    mesh = pliant.box(size=(1, 2, 1), cells=(cells, 2 * cells, cells))
    steps = max(1, round(abs(turn) / 0.15))
    sim = pliant.Simulation(
        dt=1 / steps,
        gravity=(0, 0, 0),
        integrator="quasistatic",
        solver={"name": "pod-newton", "criterion": "characteristic", "tolerance": 1e-6},
    )
    column = sim.add_body(mesh, material, density=1000)
    sim.pin(column, "y-min")

    def top(t: float, X: np.ndarray) -> np.ndarray:
        centre = np.array([0.5, 0, 0.5])
        c, s = np.cos(turn * t), np.sin(turn * t)
        turned = (X - centre) @ np.array([[c, 0, -s], [0, 1, 0], [s, 0, c]]) + centre
        return turned + (0, lift * t, 0)

    sim.move(column, "y-max", position=top, imposition="penalty", sigma=1e10)
    run = sim.run(steps=steps)
    assert run.finished, f"{material}: {run.detail}"
    return sim, column


def check_small_strain(made: dict[str, pliant.Material]) -> None:
    """At 0.1 % of strain all laws with shear and volume stiffness are linear elasticity."""
    torques = {}
    for name, material in made.items():
        sim, column = twisted(material, 2, 0.002, 0.0)
        torques[name] = sim.energies().elastic[column.name]
    reference = torques["linear-corotated"]
    for name, energy in torques.items():
        assert abs(energy - reference) < 0.02 * reference or name == "arap", f"{name}: {energy} J, not {reference} J"


def draw(axes, sim: pliant.Simulation, body: pliant.Body, title: str, limit: float) -> None:
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    x = sim.positions(body)
    triangles = x[body.mesh.surface][:, :, [0, 2, 1]]
    stress = sim.stresses(body, "von-mises")[body.mesh.surface_tets]
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    light = 0.55 + 0.45 * np.abs(normals @ np.array([0.35, -0.7, 0.62]))
    from matplotlib import colormaps

    colours = colormaps["viridis"](np.clip(stress / limit, 0, 1))
    colours[:, :3] *= light[:, None]
    axes.add_collection3d(Poly3DCollection(triangles, facecolors=colours, edgecolors=(0, 0, 0, 0.25), linewidths=0.2))
    axes.set(xlim=(-0.2, 1.2), ylim=(-0.2, 1.2), zlim=(0, 2.0), title=title)
    axes.set_box_aspect((1.4, 1.4, 2.0))
    axes.view_init(elev=14, azim=-58)
    axes.set_axis_off()


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
    check_small_strain(made)
    results = {name: twisted(material, 2 if options.quick else 6, 1.8, -0.25) for name, material in made.items()}
    limit = float(np.median([np.percentile(sim.stresses(body, "von-mises"), 90) for sim, body in results.values()]))
    written = []
    for name, (sim, body) in results.items():
        figure = plt.figure(figsize=(3, 4))
        draw(figure.add_subplot(projection="3d"), sim, body, name, limit)
        written.append(options.out / f"{name}.png")
        figure.savefig(written[-1], dpi=110)
        plt.close(figure)
        energy = sim.energies().elastic[body.name]
        print(f"{name:24} {energy:8.1f} J   {sim.stresses(body, 'von-mises').max() / 1e3:8.1f} kPa at most")

    columns = 5
    rows = -(-len(results) // columns)
    figure = plt.figure(figsize=(2.6 * columns, 3.3 * rows))
    for number, (name, (sim, body)) in enumerate(results.items()):
        draw(figure.add_subplot(rows, columns, number + 1, projection="3d"), sim, body, name, limit)
    figure.subplots_adjust(left=0, right=1, bottom=0, top=0.95, wspace=0, hspace=0.05)
    written.append(options.out / "all.png")
    figure.savefig(written[-1], dpi=80)
    plt.close(figure)
    print(f"pictures in {options.out}")
    return written


if __name__ == "__main__":
    main()
