"""Threads, the interpreter's lock, and interruptions."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import pliant


def beam(cells=(12, 6, 6)):
    mesh = pliant.box(size=(2, 1, 1), cells=cells)
    sim = pliant.Simulation(dt=1 / 60)
    body = sim.add_body(mesh, pliant.material("neo-hookean", young=4e5, poisson=0.4))
    sim.pin(body, "x-min")
    return sim


def test_one_and_two_threads_give_the_same_bits():
    states = []
    try:
        for threads in (1, 2):
            pliant.set_threads(threads)
            assert pliant.threads() == threads
            sim = beam()
            sim.run(steps=5)
            states.append(sim.state.copy())
    finally:
        pliant.set_threads(0)
    assert states[0] == states[1]
    with pytest.raises(pliant.InputError):
        pliant.set_threads(-1)


def test_other_python_threads_run_during_a_step():
    sim = beam((20, 10, 10))
    sim.build()
    ticks = []
    done = threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.0005)

    ticker = threading.Thread(target=tick)
    ticker.start()
    begin = time.perf_counter()
    sim.step()
    end = time.perf_counter()
    done.set()
    ticker.join()
    inside = [t for t in ticks if begin < t < end]
    # If the step held the lock, the ticker would have been silent for its whole length.
    silences = np.diff([begin, *inside, end])
    assert len(inside) > 5
    assert silences.max() < 0.5 * (end - begin)


def test_two_simulations_step_in_two_threads():
    alone = beam()
    alone.run(steps=3)
    sims = [beam(), beam()]
    threads = [threading.Thread(target=sim.run, kwargs={"steps": 3}) for sim in sims]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(sim.state == alone.state for sim in sims)


def test_custom_energies_step_in_several_threads():
    def hold(x):
        return 0.5 * (x**2).sum(axis=(1, 2)), x

    def simulation():
        sim = beam((4, 2, 2))
        sim.add_energy(np.arange(45)[:, None], hold, hessian=lambda x: np.broadcast_to(np.eye(3), (45, 3, 3)))
        return sim

    alone = simulation()
    alone.run(steps=5)
    sims = [simulation() for _ in range(3)]
    threads = [threading.Thread(target=sim.run, kwargs={"steps": 5}) for sim in sims]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(sim.state == alone.state for sim in sims)


def test_one_simulation_is_not_stepped_by_two_threads_at_once():
    inside, go_on = threading.Event(), threading.Event()

    def slow(x):
        inside.set()
        go_on.wait(60)
        return np.zeros(len(x)), np.zeros_like(x)

    sim = beam((2, 1, 1))
    sim.add_energy([[0, 1]], slow)
    thread = threading.Thread(target=sim.step)
    sim.build()
    thread.start()
    inside.wait(60)
    for call in (sim.step, sim.forces, lambda: sim.run(steps=1)):
        with pytest.raises(RuntimeError, match="already running"):
            call()
    go_on.set()
    thread.join()
    assert sim.steps_taken == 1


SCRIPT = """
import sys, pliant
sim = pliant.Simulation(dt=1 / 60, output={"pictures": False})
body = sim.add_body(pliant.box(size=(2, 1, 1), cells=(8, 4, 4)), pliant.material(young=4e5, poisson=0.4))
sim.pin(body, "x-min")
try:
    sim.run(1e6, out=sys.argv[1], callback=lambda s, r: s.steps_taken == 2 and print("going", flush=True))
except KeyboardInterrupt:
    assert sim.step().converged
    print("interrupted after", sim.steps_taken - 1, flush=True)
"""


def test_ctrl_c_ends_a_run_between_steps_with_everything_written(tmp_path):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(tmp_path / "out")], stdout=subprocess.PIPE, text=True, env=environment
    )
    assert process.stdout.readline() == "going\n"
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    steps = int(output.split()[-1])
    assert steps >= 2
    assert len((tmp_path / "out" / "steps.jsonl").read_text().splitlines()) == steps
    assert (tmp_path / "out" / "checkpoints" / f"step_{steps:09}.pliant").exists()
    assert '"end": "interrupted"' in (tmp_path / "out" / "summary.json").read_text()


ENDLESS = """
import sys, time, pliant
sim = pliant.Simulation(dt=1 / 60, solver={"name": "fp-pxpbd", "iterations": 10**9}, output={"pictures": False})
body = sim.add_body(pliant.box(size=(2, 1, 1), cells=(4, 2, 2)), pliant.material("fixed-corotated", young=4e5, poisson=0.4))
sim.pin(body, "x-min")
before = sim.positions(body).copy()
print("going", flush=True)
try:
    if sys.argv[1] == "step":
        sim.step()
    else:
        sim.run(steps=3, out=sys.argv[2])
except KeyboardInterrupt:
    assert (sim.positions(body) == before).all() and sim.steps_taken == 0
    print("left", flush=True)
"""


@pytest.mark.parametrize("how", ["step", "run"])
def test_ctrl_c_ends_a_step_that_goes_on_for_ever(how, tmp_path):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(
        [sys.executable, "-c", ENDLESS, how, str(tmp_path / "out")], stdout=subprocess.PIPE, text=True, env=environment
    )
    assert process.stdout.readline() == "going\n"
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert output == "left\n"


def test_progress_is_shown_when_asked_for(capsys):
    sim = beam((2, 1, 1))
    sim.run(steps=2, progress=True)
    shown = capsys.readouterr().err
    assert "step 2/2" in shown and "0.0 s left" in shown
    sim.run(steps=2)
    assert capsys.readouterr().err == ""
