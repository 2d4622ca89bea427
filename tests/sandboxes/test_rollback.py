"""A cell that breaks costs the session nothing but itself, however often and whenever it happens."""

from __future__ import annotations

import random
import time

import pytest

from agent_envs.sandboxes import SessionState, Status
from agent_envs.sandboxes.namespaces import start_namespace_sandbox

BREAKS = {
    "exits": ("import os; n += 1; os._exit(3)", 60.0, Status.KILLED),
    "crashes": ("import os; n += 1; os.abort()", 60.0, Status.KILLED),
    "hangs": ("n += 1\nwhile True: pass", 0.3, Status.TIMEOUT),
    "floods": ("n += 1\nwhile True: print('x' * 4096)", 60.0, Status.OUTPUT_LIMIT),
}


@pytest.mark.parametrize("way", BREAKS)
@pytest.mark.parametrize("pause_s", [0.0, 0.03])
def test_the_state_is_as_before_the_cell_after_every_kind_of_end(way: str, pause_s: float) -> None:
    code, timeout_s, status = BREAKS[way]
    sandbox = start_namespace_sandbox()
    python = sandbox.open_python()
    try:
        for count in range(4):
            python.run("n = 0" if count == 0 else "n += 10")
            time.sleep(pause_s)
            broken = python.run(code, timeout_s=timeout_s)
            assert (broken.status, broken.state) == (status, SessionState.ROLLED_BACK)
            assert python.run("n").value == str(10 * count)
    finally:
        sandbox.close()


def test_many_cells_and_breaks_in_any_order_keep_count() -> None:
    sandbox = start_namespace_sandbox()
    python = sandbox.open_python()
    draw = random.Random(7)
    python.run("n = 0")
    expected = 0
    try:
        for _ in range(150):
            match draw.randrange(6):
                case 0:
                    assert python.run("import os; n = -1; os._exit(1)").state is SessionState.ROLLED_BACK
                case 1:
                    time.sleep(0.015)
                case 2:
                    assert python.run("n").value == str(expected)
                case _:
                    python.run("n += 1")
                    expected += 1
        assert python.run("n").value == str(expected)
    finally:
        sandbox.close()


def test_a_seeded_generator_survives_a_rollback() -> None:
    def drawn(*, broken: bool) -> str:
        sandbox = start_namespace_sandbox()
        try:
            python = sandbox.open_python()
            python.run("import random; random.seed(42)")
            time.sleep(0.03)
            if broken:
                python.run("import os; os._exit(1)")
            return python.run("random.random()").value
        finally:
            sandbox.close()

    assert drawn(broken=True) == drawn(broken=False) == str(random.Random(42).random())


def test_equal_sandboxes_draw_equal_random_numbers() -> None:
    def drawn() -> bytes:
        sandbox = start_namespace_sandbox()
        try:
            return sandbox.run_python("import random; print(random.random(), {'a', 'b', 'c'})").stdout
        finally:
            sandbox.close()

    assert drawn() == drawn()
