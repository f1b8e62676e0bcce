"""What no driver may ask of an arm."""

import math

import pytest

from workers.sims.guard import FASTEST_STEP_M, HIGHEST, LOWEST, carried_out, refusal

TIP = (0.3, 0.0, 0.2)


@pytest.mark.parametrize("action", [(0.0, 0.0, 0.0, 1.0), (1.0, -1.0, 1.0, -1.0), (1.04, 0.0, 0.0, 0.0)])
def test_what_drivers_do_is_allowed(action):
    assert refusal(action, TIP) == ""


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("place", range(4))
def test_what_is_not_finite_is_refused(place, value):
    action = [0.0] * 4
    action[place] = value
    assert "finite" in refusal(action, TIP)


@pytest.mark.parametrize("place", range(3))
@pytest.mark.parametrize("sign", [1, -1])
def test_ten_times_the_speed_is_refused(place, sign):
    action = [0.0, 0.0, 0.0, 1.0]
    action[place] = sign * 10.0 * 0.3
    assert "times as fast" in refusal(action, TIP)


@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("sign", [1, -1])
def test_leaving_the_workspace_is_refused(axis, sign):
    action = [0.0, 0.0, 0.0, 1.0]
    wall = HIGHEST[axis] if sign > 0 else LOWEST[axis]
    action[axis] = (wall + sign * 0.1 - TIP[axis]) / FASTEST_STEP_M
    assert "workspace" in refusal(action, TIP)


@pytest.mark.parametrize("length", [0, 3, 5])
def test_another_number_of_parts_is_refused(length):
    assert "numbers" in refusal([0.0] * length, TIP)


def test_the_wall_stops_who_pushes_at_it():
    at_the_wall = (HIGHEST[0], 0.0, LOWEST[2])
    push = (1.0, 0.0, -1.0, 1.0)
    assert refusal(push, at_the_wall) == ""
    assert carried_out(push, at_the_wall) == at_the_wall
