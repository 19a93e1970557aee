#!/usr/bin/python3
"""A slender beam bends under a force at its tip, and agrees with beam theory.

    PYTHONPATH=build/python /usr/bin/python3 python/examples/cantilever.py

Shows statics, quadratic elements, a load, and stresses as arrays.
"""

import numpy as np

import pliant

LENGTH, WIDTH, YOUNG, FORCE = 2.0, 0.2, 1e7, 5.0  # m, m, Pa, N


def main():
    mesh = pliant.box(size=(LENGTH, WIDTH, WIDTH), cells=(20, 2, 2))
    solver = {"name": "newton", "criterion": "residual", "tolerance": 1e-8}
    sim = pliant.Simulation(dt=1, gravity=(0, 0, 0), integrator="quasistatic", solver=solver)
    beam = sim.add_body(mesh, pliant.material("stvk", young=YOUNG, poisson=0.0), order=2)
    sim.pin(beam, mesh.vertices[:, 0] == 0)
    sim.add_load(beam, "x-max", (0, -FORCE, 0))
    report = sim.step()
    assert report.converged, report.detail

    inertia = WIDTH**4 / 12
    theory = FORCE * LENGTH**3 / (3 * YOUNG * inertia)
    tip = beam.rest_positions[:, 0] == LENGTH
    deflection = (beam.rest_positions - beam.positions)[tip, 1].mean()
    print(f"deflection of the tip {1e3 * deflection:.3f} mm, beam theory {1e3 * theory:.3f} mm")
    assert abs(deflection / theory - 1) < 0.02

    # The largest bending stress is at the clamp; elements are measured at their centroids, so compare there.
    centroids = mesh.vertices[mesh.tets].mean(axis=1)
    arm, height = LENGTH - centroids[:, 0], centroids[:, 1] - WIDTH / 2
    sigma = sim.stresses(beam)[:, 0, 0]
    middle = (centroids[:, 0] > 0.3) & (centroids[:, 0] < LENGTH - 0.3)
    bending = FORCE * arm * height / inertia
    error = np.abs(sigma - bending)[middle].max() / np.abs(bending[middle]).max()
    print(f"bending stress within {100 * error:.1f} % of theory")
    assert error < 0.05


if __name__ == "__main__":
    main()
