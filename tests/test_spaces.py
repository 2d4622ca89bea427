"""Text spaces: members, samples, and the same trace from every kind of vector environment."""

from __future__ import annotations

import copy
import json
import multiprocessing
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any, Literal, SupportsFloat

import gymnasium
import msgspec
import numpy as np
import pytest
from gymnasium.spaces import Box, Dict
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv
from gymnasium.vector.utils import create_shared_memory, write_to_shared_memory
from hypothesis import given
from hypothesis import strategies as st

from agent_envs.errors import ConfigError
from agent_envs.spaces import ToolCallSpace, UnicodeText
from agent_envs.tools import Toolbox, tool


class Node(msgspec.Struct):
    value: int
    children: list[Node] = []


class Left(msgspec.Struct, tag="left"):
    x: Annotated[int, msgspec.Meta(gt=0, multiple_of=7)]


class Right(msgspec.Struct, tag="right"):
    y: Annotated[float, msgspec.Meta(gt=0, lt=1)]


@tool
def add(a: Annotated[int, msgspec.Meta(ge=0, le=9)], b: int = 0) -> str:
    """Add."""
    return str(a + b)


@tool
def everything(
    node: Node,
    side: Left | Right,
    pair: tuple[int, str],
    word: Annotated[str, msgspec.Meta(min_length=3, max_length=4)],
    few: Annotated[list[bool], msgspec.Meta(min_length=2)],
    table: Annotated[dict[str, float], msgspec.Meta(min_length=1)],
    mode: Literal["a", "b"] | None = "a",
    free: Any = None,
    wide: Annotated[int, msgspec.Meta(ge=-(2**62), lt=2**62)] = 0,
) -> str:
    """Take everything a schema can say."""
    return ""


TOOLS = Toolbox(add, everything)


class Toy(gymnasium.Env[str, str]):
    """Answers every text with itself, upside down, and ends after five."""

    metadata = {"render_modes": [], "render_fps": 1}  # noqa: RUF012 - Gymnasium's form

    def __init__(self) -> None:
        self.observation_space = UnicodeText(300)
        self.action_space = ToolCallSpace(TOOLS, 4000)
        self._steps = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        super().reset(seed=seed)
        self._steps = 0
        return f"¿{self.np_random.integers(1000)}? 🙂", {}

    def step(self, action: str) -> tuple[str, SupportsFloat, bool, bool, dict[str, Any]]:
        self._steps += 1
        return self.observation_space.clip(action[::-1]), float(len(action)), self._steps >= 5, False, {}  # type: ignore[attr-defined]


class Pictured(gymnasium.ObservationWrapper[Any, str, str]):
    """The text beside an array, as an environment with screenshots has it."""

    def __init__(self) -> None:
        super().__init__(Toy())
        self.observation_space = Dict(text=UnicodeText(300), pixels=Box(0, 255, (2, 2), np.uint8))

    def observation(self, observation: str) -> dict[str, Any]:
        return {"text": observation, "pixels": np.full((2, 2), len(observation) % 256, np.uint8)}


def trace(envs: SyncVectorEnv | AsyncVectorEnv) -> list[Any]:
    observations, _ = envs.reset(seed=7)
    envs.action_space.seed(3)
    seen: list[Any] = [observations]
    for _ in range(7):
        observations, rewards, terminated, *_ = envs.step(envs.action_space.sample())
        assert observations in envs.observation_space
        seen.append((observations, rewards.tolist(), terminated.tolist()))
    seen.append(envs.step(("", "no call", "é🙂\n"))[0])
    envs.close()
    return seen


@pytest.mark.parametrize("options", [{"shared_memory": True}, {"shared_memory": False}])
def test_processes_give_the_trace_of_one_process(options: dict[str, Any]) -> None:
    expected = trace(SyncVectorEnv([Toy] * 3))
    assert len({str(step) for step in expected}) == len(expected)
    assert trace(AsyncVectorEnv([Toy] * 3, **options)) == expected


SPAWNED = """
import importlib.util, sys, warnings
warnings.simplefilter("error")
spec = importlib.util.spec_from_file_location("test_spaces", sys.argv[1])
sys.modules["test_spaces"] = module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
sys.path.append(sys.argv[2])

if __name__ == "__main__":
    spawned = module.AsyncVectorEnv([module.Toy] * 3, context="spawn")
    assert module.trace(spawned) == module.trace(module.SyncVectorEnv([module.Toy] * 3))
    print("equal")
"""


def test_spawned_processes_give_the_same_trace(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SPAWNED)
    here = Path(__file__)
    command = [sys.executable, str(tmp_path / "script.py"), str(here), str(here.parent)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.stdout == "equal\n", done.stderr


def test_a_text_inside_a_dict_is_shared_too() -> None:
    runs = []
    for envs in (SyncVectorEnv([Pictured] * 2), AsyncVectorEnv([Pictured] * 2)):
        first, _ = envs.reset(seed=1)
        second = envs.step(("abc", "🙂"))[0]
        runs.append([first["text"], second["text"], second["pixels"].tolist()])
        envs.close()
    assert runs[0] == runs[1]
    assert runs[0][1] == ("cba", "🙂")


def test_without_copies_observations_are_a_live_view() -> None:
    envs = AsyncVectorEnv([Toy] * 2, copy=False)
    view, _ = envs.reset(seed=1)
    kept = copy.deepcopy(view)
    envs.step(("abc", "🙂"))
    assert (view[0], view[1], len(view), view[0:1]) == ("cba", "🙂", 2, ("cba",))
    assert view == ("cba", "🙂")
    assert isinstance(kept, tuple)
    assert kept != view
    envs.close()


def test_an_observation_that_was_not_clipped_is_an_error_and_not_a_shorter_text() -> None:
    space = UnicodeText(3)
    memory = create_shared_memory(space, n=1, ctx=multiprocessing)
    for text in ("abcd", "\ud800"):
        with pytest.raises(ConfigError, match="pass it through clip"):
            write_to_shared_memory(space, 0, text, memory)


def test_gymnasium_finds_nothing_to_complain_about() -> None:
    check_env(Toy(), skip_render_check=True)


def test_every_text_is_a_legal_action() -> None:
    space = ToolCallSpace(TOOLS, 10)
    assert all(text in space for text in ("", "no call", '{"name":', "漢字🙂", "x" * 10))
    assert all(other not in space for other in ("x" * 11, "\ud800", 3, None, b"x"))


def test_samples_are_calls_that_their_tools_accept() -> None:
    space = ToolCallSpace(TOOLS, seed=0)
    names = set()
    for _ in range(400):
        call = json.loads(space.sample())
        TOOLS[call["name"]].validate(call["arguments"])
        names.add(call["name"])
    assert names == {"add", "everything"}


@pytest.mark.parametrize("space", [UnicodeText(50), ToolCallSpace(TOOLS)])
def test_equal_seeds_give_equal_samples(space: UnicodeText) -> None:
    space.seed(5)
    first = [space.sample() for _ in range(10)]
    space.seed(5)
    assert [space.sample() for _ in range(10)] == first
    assert all(text in space for text in first)
    assert len(set(first)) > 1


def test_spaces_compare_hash_and_travel_by_what_they_are() -> None:
    space = ToolCallSpace(TOOLS, 100)
    for other in (
        ToolCallSpace(Toolbox(add, everything), 100),
        pickle.loads(pickle.dumps(space)),
        copy.deepcopy(space),
    ):
        assert space == other
        assert hash(space) == hash(other)
    assert space != ToolCallSpace(TOOLS, 101)
    assert space != ToolCallSpace(Toolbox(add), 100)
    assert space != UnicodeText(100)
    assert (repr(space), repr(UnicodeText(9))) == ("ToolCallSpace([add, everything], 100)", "UnicodeText(9)")


def test_tools_that_cannot_be_imported_do_not_keep_a_space_from_travelling() -> None:
    @tool
    def local(x: int) -> str:
        """Do."""
        return ""

    space = ToolCallSpace(Toolbox(local))
    assert pickle.loads(pickle.dumps(space)) == space


@given(st.text(st.characters(), max_size=400), st.integers(1, 200))
def test_a_clipped_text_is_a_member_and_keeps_head_and_tail(text: str, limit: int) -> None:
    space = UnicodeText(limit)
    clipped = space.clip(text)
    assert clipped in space
    if text in space:
        assert clipped is text


def test_the_mark_counts_what_was_left_out() -> None:
    for length in (101, 109, 110, 199, 1_000_100, 12_345_678):
        clipped = UnicodeText(100).clip("h" * (length // 2) + "t" * (length - length // 2))
        kept = sum(clipped.split("\n")[part].count(sign) for part, sign in ((0, "h"), (2, "t")))
        assert f"[... {length - kept} characters left out ...]" in clipped
        assert len(clipped) == 100


def test_lone_surrogates_are_replaced_one_by_one() -> None:
    assert UnicodeText(10).clip("a\ud800\udfffé") == "a\ufffd\ufffdé"


def test_impossible_wishes_are_refused_in_words() -> None:
    with pytest.raises(ConfigError, match="at least 1"):
        UnicodeText(0)
    with pytest.raises(ConfigError, match="raise max_length"):
        ToolCallSpace(TOOLS, 5).sample()
    with pytest.raises(ConfigError, match="no mask"):
        UnicodeText(5).sample(mask=np.ones(2))  # type: ignore[arg-type]
