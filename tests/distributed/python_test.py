"""A Python script under mpirun, with any number of processes, against itself without: `mpirun -n 2 python3 python_test.py`.

The first process starts the run on one machine, and judges.
"""

import os
import pickle
import shutil
import subprocess
import sys
import tempfile

import numpy as np

import pliant

STEPS = 12


def simulation():
    sim = pliant.Simulation(fps=60, solver={"name": "pod-newton", "tolerance": 1e-8})
    mesh = pliant.box(size=(2, 0.5, 0.5), cells=(12, 3, 3))
    beam = sim.add_body(mesh, pliant.material("neo-hookean", young=4e5, poisson=0.4), name="beam")
    sim.pin(beam, mesh.vertices[:, 0] < 1e-9)
    sim.pin(beam, lambda x: x[:, 0] > 2 - 1e-9, axes="z")
    sim.add_load(beam, "x-max", force=(0, 300, 0), factor=lambda t: min(1.0, 10 * t))
    ball = sim.add_body(None, "fixed-corotated", young=1e5, poisson=0.3, name="cube", velocity=(0, -1, 0),
                        box={"size": (0.3, 0.3, 0.3), "cells": (2, 2, 2), "origin": (0.5, -0.48, 0)})
    assert len(ball.vertices) == len(ball.mesh.vertices) == 27  # of the whole, before it is divided
    sim.add_probe(beam, "x-max", "displacement", name="tip")
    sim.add_probe(ball, "all", ["volume", "energy", "contact_force"], name="all of it")
    sim.add_collider(plane={"point": (0, -0.5, 0), "normal": (0, 1, 0)}, friction=0.2)
    return sim, beam, ball


def measured(sim, beam, ball):
    """Numbers on all processes, arrays on the first alone."""
    energies = sim.energies()
    probes = sim.probes
    assert len(probes["time"]) == STEPS + 1
    found = {"probes": np.nan_to_num(np.array(list(probes.values()))), "numbers": [energies.kinetic, energies.external, energies.elastic["beam"], energies.elastic["cube"]]}
    for name, body in (("beam", beam), ("cube", ball)):
        found[f"x of {name}"] = sim.gather(body=body)
        for quantity in ("masses", "forces", "reactions", "external_forces", "contact_forces", "residuals"):
            found[f"{quantity} of {name}"] = sim.gather(getattr(sim, quantity)(body), body)
    return found


def run(folder):
    sim, beam, ball = simulation()
    reports = [sim.step() for _ in range(STEPS)]
    assert all(report.succeeded for report in reports)
    found = measured(sim, beam, ball)
    middle = sim.snapshot()
    sim.save(os.path.join(folder, "middle"))
    sim.step()
    found["later"] = sim.gather()
    for go_back in (lambda: sim.restore(middle), lambda: sim.load(os.path.join(folder, "middle"))):
        go_back()
        sim.step()
        again = sim.gather()
        assert again is None or np.array_equal(again, found["later"]), "other bits after going back"
    other, _, _ = simulation()
    seen = []
    report = other.run(steps=STEPS, out=os.path.join(folder, "run"), callback=lambda s, r: seen.append(s.time))
    assert report.end == "finished" and len(seen) == STEPS and report.totals.steps == STEPS
    found["run"] = other.gather()
    return found, sim, beam, pickle.dumps(middle)


def refused(function, *words):
    try:
        function()
    except pliant.InputError as error:
        message = str(error)
        assert any(word in message for word in (*words, "the first process says")), message
    else:
        raise AssertionError("not refused")


def check_parts(sim, beam):
    """What each process has, before it is gathered."""
    numbers, owned = sim.node_numbers(beam), sim.owned(beam)
    whole = pliant.box(size=(2, 0.5, 0.5), cells=(12, 3, 3)).vertices
    assert len(sim.positions(beam)) == len(numbers) == len(owned)
    assert np.array_equal(sim.rest_positions(beam), whole[numbers])
    assert len(beam.vertices) == len(numbers) and beam.elements.max(initial=0) <= len(numbers)
    counts = sim.gather(owned.astype(float), beam)
    assert counts is None or np.all(counts == 1)
    if pliant.processes() == 1:
        return
    assert len(numbers) < len(whole)
    refused(lambda: sim.cut(beam, plane={"point": (1, 0, 0), "normal": (1, 0, 0)}), "mpirun")
    refused(lambda: sim.gradient(), "mpirun")
    sim.set("solver", tolerance=1e-6)
    refused(lambda: sim.step(), "mpirun")
    other = pliant.Simulation(dt=0.01, solver="quasi-newton")
    other.add_body(None, "neo-hookean", young=1e5, poisson=0.3, box={"size": (1, 1, 1), "cells": (6, 3, 3)})
    refused(lambda: other.step(), "--solver pod-newton")


def main():
    if len(sys.argv) > 1:  # on one machine
        with tempfile.TemporaryDirectory() as folder:
            found, *_ = run(folder)
        with open(sys.argv[1], "wb") as file:
            pickle.dump(found, file)
        return
    folder = os.path.join(tempfile.gettempdir(), f"pliant-python-{os.getppid()}")  # mpirun's: the same for all
    os.makedirs(folder, exist_ok=True)
    found, sim, beam, middle = run(folder)
    check_parts(sim, beam)
    assert isinstance(pickle.loads(middle), pliant.Snapshot)
    if pliant.rank() > 0:
        assert all(values is None for name, values in found.items() if name not in ("numbers", "probes"))
        return
    result = os.path.join(folder, "alone")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("OMPI_COMM", "PMI"))}
    subprocess.run([sys.executable, __file__, result], check=True, env=environment)
    with open(result, "rb") as file:
        expected = pickle.load(file)
    shutil.rmtree(folder)
    for name, values in expected.items():
        scale = 1 + np.abs(values).max()
        error = np.abs(np.asarray(found[name]) - values).max()
        assert np.shape(found[name]) == np.shape(values), name
        # Forces are stiffness times positions, which agree as far as the steps' tolerance says.
        assert error < (1e-8 if "x of" in name or name in ("later", "run") else 1e-5) * scale, f"{name}: off by {error}"
    print(f"{pliant.processes()} processes: as on one machine")


if __name__ == "__main__":
    main()
