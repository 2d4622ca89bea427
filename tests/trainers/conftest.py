"""What the tests of training share: environments that a stranger would write, with plain Text spaces."""

from __future__ import annotations

import string
import threading
import time
from collections.abc import Iterator
from typing import Any, ClassVar

import gymnasium
import pytest
import torch
from gymnasium.spaces import Text


class Levers(gymnasium.Env[str, str]):
    """A bandit in words: one answer out of eight pays."""

    observation_space = Text(40, charset=string.ascii_letters + " .")
    action_space = Text(8, min_length=0, charset=string.printable)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        super().reset(seed=seed)
        return "Pull a lever.", {}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        return "Thanks.", float(bool(action) and ord(action[0]) % 8 == 3), True, False, {}


class Corridor(gymnasium.Env[str, str]):
    """A few turns; each is paid for the length of what was said, so that episodes of a group differ."""

    observation_space = Text(60, charset=string.printable)
    action_space = Text(100, min_length=0, charset=string.printable)
    turns = 3
    wait_s = 0.0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        super().reset(seed=seed)
        self.number = 0
        self.door = int(self.np_random.integers(100))
        return f"You see door {self.door}. <|im_end|>", {"state_hash": f"{self.door}"}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        time.sleep(self.wait_s)
        self.number += 1
        paid = 0.1 * (sum(map(ord, action)) % 7)
        over = self.number >= self.turns
        return f"Door {self.number}.", paid, over, False, {"state_hash": f"{self.door}/{self.number}"}


class Faulty(Corridor):
    """Breaks as often as it was told to, over all of its instances."""

    faults: ClassVar[list[str]] = []
    lock = threading.Lock()
    released = threading.Event()
    """Set when the test is over: a turn that hangs does so until then."""

    def step(self, action: str) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        with self.lock:
            fault = self.faults.pop() if self.faults else ""
        if fault == "raise":
            raise OSError("the disk is on fire")
        if fault == "hang":
            self.released.wait(60)
        observation, reward, terminated, truncated, info = super().step(action)
        if fault == "not text":
            return {"image": 1}, reward, terminated, truncated, info
        if fault == "not valid":
            return observation, reward, True, False, info | {"reward_valid": False}
        return observation, reward, terminated, truncated, info


class Endless(Corridor):
    """Never ends."""

    turns = 1 << 30


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> None:
    """Tiny models are slower on many threads, and tests run side by side."""
    torch.set_num_threads(1)


@pytest.fixture
def levers() -> type[Levers]:
    return Levers


@pytest.fixture
def corridor() -> type[Corridor]:
    return Corridor


@pytest.fixture
def faulty() -> Iterator[type[Faulty]]:
    Faulty.faults.clear()
    Faulty.released.clear()
    yield Faulty
    Faulty.released.set()


@pytest.fixture
def endless() -> type[Endless]:
    return Endless
