"""What Python code must bear: circles through native objects, wrong types, numbers beyond all bounds."""

import gc
import weakref

import numpy as np
import pytest

import pliant


def beam(**keys):
    sim = pliant.Simulation(dt=1 / 60, **keys)
    body = sim.add_body(pliant.box(size=(1, 1, 1), cells=(1, 1, 1)), pliant.material("neo-hookean", young=1e5, poisson=0.3))
    return sim, body


def test_an_energy_whose_function_refers_to_its_simulation_is_collected():
    sim, body = beam()

    def spring(positions):
        assert sim.time >= 0  # the circle
        difference = positions[:, 1] - positions[:, 0]
        gradients = np.stack([-difference, difference], axis=1)
        return 0.5 * np.sum(difference**2, axis=1), gradients

    sim.add_energy([[0, 1]], spring, body=body)
    sim.step()
    gone = weakref.ref(sim)
    del sim, body, spring
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize(
    "vertices",
    [
        np.array([["0", "0", "0"], ["1", "0", "0"], ["0", "1", "0"], ["0", "0", "1"]]),
        np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1j]]),
        np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, None]]),
        [[0, 0, 0], [1, 0]],
        "vertices",
        object(),
    ],
)
def test_what_is_no_array_of_numbers_is_an_input_error(vertices):
    with pytest.raises(pliant.InputError, match="array of numbers"):
        pliant.TetMesh(vertices, [[0, 1, 2, 3]])
    with pytest.raises(pliant.InputError, match="array of numbers"):
        pliant.TetMesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], vertices)
    with pytest.raises(pliant.InputError, match="array of numbers"):
        pliant.material("neo-hookean", young=1e5, poisson=0.3).stress(vertices)


def test_an_energy_that_returns_nonsense_is_an_input_error():
    sim, body = beam()
    sim.add_energy([[0, 1]], lambda positions: ("a", "b"), body=body)
    with pytest.raises(pliant.InputError, match="array of numbers"):
        sim.step()


def test_a_list_that_holds_itself_is_an_input_error():
    endless = []
    endless.append(endless)
    sim, body = beam()
    with pytest.raises(pliant.InputError, match="nested"):
        sim.add_collider(sphere=endless)


@pytest.mark.parametrize("how", [{"duration": 1e308}, {"steps": 10**30}, {"steps": 2**63 - 1}])
def test_runs_without_an_end_are_refused(how):
    sim, _ = beam()
    with pytest.raises(pliant.InputError, match="at most"):
        sim.run(**how)


def test_contact_with_itself_can_be_switched_off():
    sim, _ = beam()
    sim.set_contact(dhat=1e-3, self=False)
    sim.step()
    assert sim._tree.as_dict()["contact"]["self"] is False
