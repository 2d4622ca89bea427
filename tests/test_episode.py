"""Episodes: what was recorded comes back, whatever its texts and writers, and can be replayed and judged again."""

from __future__ import annotations

import fcntl
import json
import math
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_envs import __version__
from agent_envs.artifact import Artifact, Outcome, Verdict
from agent_envs.dialects import Parsed
from agent_envs.episode import (
    SCHEMA,
    Episode,
    EpisodeRecorder,
    Turn,
    append_episode,
    messages,
    read_episodes,
    transcript,
)
from agent_envs.errors import EndReason, EpisodeError, InfraError
from agent_envs.rewards import no_reward
from agent_envs.tasks import Task
from agent_envs.tools import ToolCall, ToolResult

TASK = Task(id="sums/1", prompt="What is 1 + 2?", secret={"answer": 3})
ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()))
NUMBER = st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | NUMBER | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY_TEXT, inner, max_size=3),
    max_leaves=6,
)
OBJECT = st.dictionaries(ANY_TEXT, JSON, max_size=3)
NAMED_NUMBERS = st.dictionaries(ANY_TEXT, NUMBER, max_size=3)

TURNS = st.builds(
    Turn,
    action=ANY_TEXT | OBJECT,
    thought=ANY_TEXT,
    call=st.none() | st.builds(ToolCall, ANY_TEXT, OBJECT, ANY_TEXT),
    repairs=st.lists(ANY_TEXT, max_size=2).map(tuple),
    error=ANY_TEXT,
    ran=st.none() | st.booleans(),
    observation=ANY_TEXT,
    output=ANY_TEXT,
    reward=NUMBER,
    parts=NAMED_NUMBERS,
)
VERDICTS = st.builds(
    Verdict,
    st.sampled_from([Outcome.RESOLVED, Outcome.UNRESOLVED, Outcome.TAMPERED]),
    st.floats(0, 1),
    parts=NAMED_NUMBERS,
    flags=st.lists(ANY_TEXT, max_size=2).map(tuple),
    evidence=OBJECT,
)
ARTIFACTS = st.builds(
    Artifact,
    answer=ANY_TEXT,
    submitted=st.booleans(),
    files=st.dictionaries(ANY_TEXT, st.binary(), max_size=3),
    rejected=st.dictionaries(ANY_TEXT, ANY_TEXT, max_size=2),
    state=OBJECT,
)
EPISODES = st.builds(
    Episode,
    id=ANY_TEXT,
    task_id=ANY_TEXT,
    task_hash=ANY_TEXT,
    seed=st.integers(),
    env=ANY_TEXT,
    prompt=ANY_TEXT,
    turns=st.lists(TURNS, max_size=3).map(tuple),
    end_reason=st.none() | st.sampled_from(EndReason),
    verdict=st.none() | VERDICTS,
    artifact=st.none() | ARTIFACTS,
    dropped_files=st.lists(ANY_TEXT, max_size=2).map(tuple),
    labels=st.dictionaries(ANY_TEXT, ANY_TEXT, max_size=2),
)


def parsed(call: ToolCall | None = None, *, thought: str = "", error: str = "", repairs: Any = ()) -> Parsed:
    return Parsed(call=call, thought=thought, error=error, message="", repairs=repairs, well_formed=not error)


def recorded(*actions: Any, end: EndReason = EndReason.SUBMITTED, artifact: Artifact | None = None) -> Episode:
    """An episode in which every action called `submit`."""
    recorder = EpisodeRecorder(TASK, env='{"id": "AgentRL/Sums-v0"}', seed=7, dialect="json", prompt="What is 1 + 2?")
    for action in actions:
        call = parsed(ToolCall("submit", {"answer": "3"}), thought="easy")
        recorder.add_turn(action, call, ToolResult("submitted", ends=True), "submitted", no_reward() | {"outcome": 1.0})
    return recorder.finish(end, Verdict.resolved(), artifact or Artifact(answer="3", submitted=True))


# --- the record ---


@given(EPISODES)
def test_an_episode_survives_json_whatever_its_texts(episode: Episode) -> None:
    line = episode.to_json()
    assert Episode.from_json(line) == episode
    assert "\n" not in line


@given(EPISODES)
def test_every_reader_of_json_can_read_a_line(episode: Episode) -> None:
    line = episode.to_json()
    assert json.loads(line)["schema"] == SCHEMA
    assert line.encode("utf-8").decode("utf-8") == line


@pytest.mark.parametrize("text", ["\ud83d\ude00", "\ud800", "\\ud800", "\\\ud800\\\\", "\x00", "\u2028"])
def test_texts_that_json_cannot_hold_come_back_exactly(text: str) -> None:
    assert Episode.from_json(recorded(text).to_json()).actions == [text]


def test_a_record_says_what_it_takes_to_run_the_episode_again() -> None:
    episode = recorded("a", {"name": "submit", "arguments": {"answer": "3"}})
    assert (episode.task_id, episode.task_hash, episode.seed) == ("sums/1", TASK.content_hash, 7)
    assert (episode.env, episode.version, episode.dialect) == ('{"id": "AgentRL/Sums-v0"}', __version__, "json")
    assert episode.actions == ["a", {"name": "submit", "arguments": {"answer": "3"}}]


def test_a_record_says_what_it_takes_to_judge_the_episode_again() -> None:
    artifact = Artifact(answer="3", submitted=True, files={"a/b": b"\x00\xff"}, rejected={"l": "a link"})
    episode = Episode.from_json(recorded("a", artifact=artifact).to_json())
    assert episode.artifact == artifact
    assert episode.reverifiable


def test_a_record_says_how_the_episode_was_judged() -> None:
    episode = recorded("a", "b")
    assert (episode.outcome, episode.score, episode.total_reward, episode.reward_valid) == (
        Outcome.RESOLVED,
        1.0,
        2.0,
        True,
    )


@pytest.mark.parametrize("end", [EndReason.INFRA_ERROR, EndReason.AGENT_ERROR])
def test_the_rewards_of_an_episode_that_broke_are_not_valid(end: EndReason) -> None:
    episode = EpisodeRecorder(TASK).finish(end, Verdict.error("the sandbox died"), None)
    assert (episode.reward_valid, episode.score, episode.outcome) == (False, None, Outcome.ERROR)
    assert (episode.why, episode.reverifiable) == ("the sandbox died", False)


@pytest.mark.parametrize("verdict", [None, Verdict.error("no verifier")])
def test_without_a_score_no_reward_is_valid(verdict: Verdict | None) -> None:
    assert not EpisodeRecorder(TASK).finish(EndReason.SUBMITTED, verdict, None).reward_valid


def test_a_turn_keeps_everything_that_came_of_its_action() -> None:
    call, result = ToolCall("run", {"code": "1/0"}, id="c1"), ToolResult("long text", error="tool_failed", ran=False)
    recorder = EpisodeRecorder(TASK)
    turn = recorder.add_turn(
        "raw",
        parsed(call, thought="hm", repairs=("code_fence",)),
        result,
        "long ...",
        no_reward() | {"execution": -0.3, "format": 0.2},
        wall_s=0.5,
        sandbox_s=0.25,
    )
    assert (turn.action, turn.thought, turn.call, turn.repairs) == ("raw", "hm", call, ("code_fence",))
    assert (turn.error, turn.ran, turn.observation, turn.output) == ("tool_failed", False, "long ...", "long text")
    assert (turn.reward, turn.wall_s, turn.sandbox_s) == (pytest.approx(-0.1, abs=1e-12), 0.5, 0.25)
    assert recorder.episode().turns == (turn,)


def test_a_tool_output_is_kept_only_where_the_observation_shows_less() -> None:
    assert recorded("a").turns[0].output == ""


def test_a_tool_output_is_kept_up_to_a_limit() -> None:
    turn = EpisodeRecorder(TASK).add_turn("a", parsed(), ToolResult("x" * 10**6), "x", no_reward())
    assert len(turn.output) == 2**18


def test_what_happens_to_an_action_after_the_step_does_not_change_the_record() -> None:
    action: dict[str, Any] = {"name": "submit", "arguments": {"answer": ["3"]}}
    episode = recorded(action)
    action["arguments"]["answer"].append("4")
    assert episode.actions == [{"name": "submit", "arguments": {"answer": ["3"]}}]


@pytest.mark.parametrize("value", [object(), {1, 2}, "\ud800"])
def test_an_action_that_is_no_data_is_recorded_all_the_same(value: object) -> None:
    episode = recorded({"name": value})
    assert Episode.from_json(episode.to_json()) == episode
    assert "name" in str(episode.actions[0])


@pytest.mark.parametrize("reward", [math.nan, math.inf])
def test_a_reward_that_is_no_number_is_never_recorded(reward: float) -> None:
    with pytest.raises(InfraError, match="expected finite parts"):
        EpisodeRecorder(TASK).add_turn("a", parsed(), ToolResult(""), "", no_reward() | {"process": reward})


def test_an_artifact_too_large_for_a_line_loses_its_largest_files_and_says_so() -> None:
    files = {"big": bytes(16 << 20), "small": b"x", "small too": b"y"}
    episode = recorded("a", artifact=Artifact(answer="3", files=files))
    assert episode.artifact == Artifact(answer="3", files={"small": b"x", "small too": b"y"})
    assert episode.dropped_files == ("big",)
    assert not episode.reverifiable


def test_an_artifact_at_the_limit_is_kept_whole() -> None:
    assert recorded("a", artifact=Artifact(files={"big": bytes(16 << 20)})).dropped_files == ()


def test_a_forked_recorder_continues_the_same_past_as_another_episode() -> None:
    recorder = EpisodeRecorder(TASK)
    first = recorder.add_turn("a", parsed(), ToolResult(""), "", no_reward())
    twin = recorder.copy()
    second = twin.add_turn("b", parsed(), ToolResult(""), "", no_reward())
    assert (recorder.episode().turns, twin.episode().turns) == ((first,), (first, second))
    assert recorder.episode().id != twin.episode().id


def test_a_turn_is_recorded_in_thirty_microseconds() -> None:
    text, call = "a thought and an action " * 20, parsed(ToolCall("run", {"code": "print(1)" * 20}), thought="hm " * 50)

    def seconds_per_turn() -> float:
        recorder, began = EpisodeRecorder(TASK), time.thread_time()
        for _ in range(500):
            recorder.add_turn(text, call, ToolResult(text), text, no_reward(), wall_s=0.1)
        recorder.finish(EndReason.SUBMITTED, Verdict.resolved(), None).to_json()
        return (time.thread_time() - began) / 500

    assert min(seconds_per_turn() for _ in range(10)) < 30e-6


# --- files ---


def test_appended_episodes_are_read_back_in_order(tmp_path: Path) -> None:
    episodes = [recorded("a"), recorded("b\ud800"), recorded()]
    for episode in episodes:
        append_episode(tmp_path / "runs.jsonl", episode)
    assert list(read_episodes(tmp_path / "runs.jsonl")) == episodes
    assert (tmp_path / "runs.jsonl").read_bytes().count(b"\n") == 3


WRITER = """
import sys
from agent_envs.episode import Episode, append_episode
for _ in range(25):
    append_episode(sys.argv[1], Episode(task_id="t", task_hash="h", prompt=sys.argv[2] * 100_000))
"""


def test_several_processes_append_to_one_file_without_mixing_lines(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(path), letter]) for letter in "abcd"]
    assert [writer.wait(300) for writer in writers] == [0, 0, 0, 0]
    prompts = sorted(episode.prompt for episode in read_episodes(path))
    assert prompts == [letter * 100_000 for letter in "abcd" for _ in range(25)]


def test_a_writer_waits_while_another_one_writes(tmp_path: Path) -> None:
    path, episode = tmp_path / "runs.jsonl", recorded("a")
    writer = threading.Thread(target=append_episode, args=(path, episode))
    with path.open("ab") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        writer.start()
        writer.join(0.2)
        assert path.read_bytes() == b""
    writer.join(60)
    assert list(read_episodes(path)) == [episode]


def torn_file(path: Path) -> tuple[Episode, Episode]:
    """Two whole episodes, and a third whose writer was killed in the middle."""
    whole = recorded("a"), recorded("b")
    for episode in (*whole, recorded("c")):
        append_episode(path, episode)
    path.write_bytes(path.read_bytes()[:-20])
    return whole


def test_a_torn_last_line_is_reported_after_the_episodes_before_it(tmp_path: Path) -> None:
    whole = torn_file(tmp_path / "runs.jsonl")
    episodes = read_episodes(tmp_path / "runs.jsonl")
    assert (next(episodes), next(episodes)) == whole
    with pytest.raises(EpisodeError, match=r"runs\.jsonl, line 3: .*torn"):
        next(episodes)


def test_a_torn_line_never_swallows_the_episode_appended_after_it(tmp_path: Path) -> None:
    whole, later, errors = torn_file(tmp_path / "runs.jsonl"), recorded("d"), list[EpisodeError]()
    append_episode(tmp_path / "runs.jsonl", later)
    assert list(read_episodes(tmp_path / "runs.jsonl", on_error=errors.append)) == [*whole, later]
    assert [str(error).split(":")[0].rsplit(" ", 1)[1] for error in errors] == ["3"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"task_id": "a"}', "missing required field `task_hash`"),
        ('{"task_id": 1, "task_hash": "x"}', "Expected `str`"),
        ("nonsense", "malformed"),
        ('{"schema": 2, "task_id": "a", "task_hash": "x"}', "its schema is 2"),
        ('{"schema": 2, "somehow": "different"}', "its schema is 2"),
    ],
)
def test_a_line_that_is_no_episode_says_what_is_wrong(line: str, message: str) -> None:
    with pytest.raises(EpisodeError, match=message):
        Episode.from_json(line)


@contextmanager
def files_no_larger_than(size: int) -> Iterator[None]:
    """A stand-in for a full disk: the kernel refuses to let a file grow beyond `size`."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_an_episode_that_does_not_fit_on_the_disk_leaves_no_torn_line(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    append_episode(path, recorded("a"))
    before = path.read_bytes()
    with files_no_larger_than(len(before) + 1000), pytest.raises(InfraError, match="could not be written"):
        append_episode(path, recorded("x" * 10_000))
    assert path.read_bytes() == before


def test_a_folder_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(InfraError, match="No such file"):
        append_episode(tmp_path / "none" / "runs.jsonl", recorded("a"))
    with pytest.raises(EpisodeError, match="expected a file of episodes"):
        next(read_episodes(tmp_path / "none.jsonl"))


# --- for readers and for models ---


def test_a_transcript_tells_the_whole_story() -> None:
    story = transcript(recorded("I submit 3"))
    for part in ("sums/1", "seed 7", "What is 1 + 2?", "I submit 3", "submitted", "outcome +1", "resolved, score 1"):
        assert part in story


def test_a_transcript_names_what_went_wrong() -> None:
    recorder = EpisodeRecorder(TASK)
    recorder.add_turn("?", parsed(error="malformed", repairs=("code_fence",)), ToolResult("no"), "no", no_reward())
    assert "malformed; repaired: code_fence" in transcript(recorder.episode())
    assert "still running" in transcript(recorder.episode())
    ended = transcript(recorder.finish(EndReason.INFRA_ERROR, Verdict.error("the disk is full"), None))
    assert "infra_error; error, score unknown: the disk is full; reward not valid" in ended


def test_a_transcript_can_always_be_printed() -> None:
    assert "bad \\ud800 text" in transcript(recorded("bad \ud800 text"))
    transcript(recorded("bad \ud800 text")).encode("utf-8")


def test_text_actions_become_chat_messages_word_for_word() -> None:
    assert messages(recorded("<think>easy</think> 3")) == [
        {"role": "user", "content": "What is 1 + 2?"},
        {"role": "assistant", "content": "<think>easy</think> 3"},
        {"role": "user", "content": "submitted"},
    ]


def test_mapping_actions_become_tool_calls_with_their_answers() -> None:
    chat = messages(recorded({"name": "submit", "arguments": {"answer": "3"}}))
    function = {"name": "submit", "arguments": '{"answer": "3"}'}
    call = {"id": "call_1", "type": "function", "function": function}
    assert chat[1] == {"role": "assistant", "content": "easy", "tool_calls": [call]}
    assert chat[2] == {"role": "tool", "tool_call_id": "call_1", "content": "submitted"}


def test_a_record_is_a_value() -> None:
    episode = recorded("a")
    assert replace(episode) == episode
    with pytest.raises(AttributeError):
        episode.seed = 1  # type: ignore[misc]
