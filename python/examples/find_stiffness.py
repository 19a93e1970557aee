#!/usr/bin/python3
"""Finds how stiff a cantilever is, element by element, from how far it sags.

    PYTHONPATH=build/python /usr/bin/python3 python/examples/find_stiffness.py

A beam of two materials is clamped at one end and hangs under its weight. All that is known of it is how far its middle and
its tip have come down: two numbers, from which Newton's method finds the two moduli, with a gradient of the adjoint
method for each of the two numbers.
"""

import numpy as np

import pliant

MESH = pliant.box(size=(1.0, 0.1, 0.1), cells=(16, 2, 2))
NEAR = MESH.vertices[MESH.tets].mean(axis=1)[:, 0] < 0.5  # elements of the clamped half
TRUE = np.array([3e5, 1e5])  # Pa, of the clamped half and of the other


def hang(halves):
    """The beam at rest under its weight, recorded."""
    solver = {"name": "newton", "criterion": "residual", "tolerance": 1e-9}
    sim = pliant.Simulation(dt=1, integrator="quasistatic", solver=solver)
    beam = sim.add_body(MESH, "neo-hookean", young=np.where(NEAR, *halves), poisson=0.3, density=100, name="beam")
    sim.pin(beam, "x-min")
    return pliant.record(sim)


def by_logarithms(tape, of_positions, halves):
    """The derivatives of an objective by the logarithms of both moduli."""
    by_element = tape.gradient(of_positions, ["body.beam.young"])["body.beam.young"]
    return np.array([by_element[NEAR].sum(), by_element[~NEAR].sum()]) * halves


def main():
    goal = hang(TRUE).states[-1].x
    weights = [np.zeros_like(goal) for _ in range(2)]
    for weight, x in zip(weights, (0.5, 1.0)):
        weight[np.isclose(MESH.vertices[:, 0], x), 1] = 1 / 9  # the mean height there
    halves = np.array([2e5, 2e5])
    for iteration in range(12):
        tape = hang(halves)
        miss = np.array([(weight * (tape.states[-1].x - goal)).sum() for weight in weights])
        print(f"{iteration}: {halves[0]:9.1f} {halves[1]:9.1f} Pa, off by {1e3 * abs(miss).max():.2g} mm")
        if abs(miss).max() < 1e-9:
            break
        jacobian = np.array([by_logarithms(tape, weight, halves) for weight in weights])
        halves = halves * np.exp(np.clip(np.linalg.solve(jacobian, -miss), -1, 1))
    assert np.allclose(halves, TRUE, rtol=1e-5), halves


if __name__ == "__main__":
    main()
