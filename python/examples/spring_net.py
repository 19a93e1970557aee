#!/usr/bin/python3
"""A custom energy in ten lines: a block hangs in a net of springs, and rests where statics says.

    PYTHONPATH=build/python /usr/bin/python3 python/examples/spring_net.py
"""

import numpy as np

import pliant

K, REST = 200.0, 0.5  # N/m, m


def springs(x):  # x: (n, 2, 3) positions of the two ends of n springs
    d = x[:, 1] - x[:, 0]
    length = np.linalg.norm(d, axis=1)
    pull = (K * (length - REST) / length)[:, None] * d
    return K / 2 * (length - REST) ** 2, np.stack([-pull, pull], axis=1)


def main():
    rubber = pliant.material("neo-hookean", young=1e6, poisson=0.4)
    sim = pliant.Simulation(dt=1 / 60, solver={"name": "pod-newton", "tolerance": 1e-3})
    block = sim.add_body(pliant.box(cells=(2, 2, 2)), rubber, density=1.0)  # 1 kg
    frame = sim.add_body(pliant.box(size=(1, 0.1, 1), cells=(2, 1, 2)), rubber, translate=(0, 2, 0))
    sim.pin(frame, "all")

    top = np.flatnonzero(block.mesh.vertices[:, 1] == 1)
    bottom = frame.nodes.start + np.flatnonzero(frame.mesh.vertices[:, 1] == 2)
    sim.add_energy(np.stack([top, bottom], axis=1), springs, name="net")  # Hessian by differences

    sim.run(1.0)
    print(f"after 1 s: {sim.energies().more['net']:.2f} J in the net, block at {block.positions[:, 1].min():.3f} m")

    sim.set("simulation", integrator="quasistatic")
    report = sim.step()
    assert report.converged, report.detail
    length = 2 - block.positions[top, 1].mean()
    print(f"at rest the springs are {length:.4f} m long; m g / 9 k + rest is {REST + 9.81 / (9 * K):.4f} m")
    assert abs(length - (REST + 9.81 / (9 * K))) < 1e-4


if __name__ == "__main__":
    main()
