#!/usr/bin/python3
"""Finds the throw that makes a soft ball bounce off the floor into a goal.

    PYTHONPATH=build/python /usr/bin/python3 python/examples/find_throw.py

The ball flies, lands with friction, bounces and flies on. Half the squared distance of its centre from the goal at the end
has a gradient by the velocity it was thrown with, through flight and contact; Gauss-Newton follows it.
"""

import numpy as np

import pliant

GOAL = np.array([0.85, 0.12, 0.2])  # m
STEPS = 50


def throw(velocity):
    solver = {"name": "newton", "criterion": "residual", "tolerance": 1e-7}
    sim = pliant.Simulation(dt=0.01, solver=solver)
    mesh = pliant.sphere(radius=0.1, cells=4)
    sim.add_body(mesh, "neo-hookean", young=1e5, poisson=0.3, translate=(0, 0.4, 0), velocity=list(velocity), name="ball")
    sim.add_collider(plane={"normal": [0, 1, 0]}, friction=0.3)
    tape = pliant.record(sim, STEPS)
    masses = sim.masses()
    return tape, masses / masses.sum()


def main():
    velocity = np.array([2.0, 0.5, 0.0])
    tape, share = throw(velocity)
    off = share @ tape.states[-1].x - GOAL
    for iteration in range(20):
        print(f"{iteration}: thrown with {np.round(velocity, 3)} m/s, misses by {1e3 * np.linalg.norm(off):.3g} mm")
        if np.linalg.norm(off) < 1e-4:
            break
        rows = [tape.gradient(share[:, None] * axis, ["body.ball.velocity"])["body.ball.velocity"] for axis in np.eye(3)]
        step = np.linalg.lstsq(np.array(rows), -off, rcond=None)[0]
        step *= min(1, 0.5 / np.linalg.norm(step))
        for _ in range(8):  # shorter until it comes nearer
            tape, share = throw(velocity + step)
            next_off = share @ tape.states[-1].x - GOAL
            if np.linalg.norm(next_off) < np.linalg.norm(off):
                break
            step /= 2
        velocity, off = velocity + step, next_off
    assert np.linalg.norm(off) < 1e-4, off


if __name__ == "__main__":
    main()
