"""The record of one run: enough to read it, to replay it against the same task, and to judge it again.

An episode is one line of JSON. Nothing in it refers to a file, a process or a machine.
"""

from __future__ import annotations

import math
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from agent_envs import __version__, _json_lines
from agent_envs._transcript import messages, transcript
from agent_envs.artifact import Artifact, Verdict
from agent_envs.errors import END_POLICY, EndReason, EpisodeError, InfraError
from agent_envs.rewards import total
from agent_envs.tasks import Task
from agent_envs.tools import ToolCall, ToolResult

if TYPE_CHECKING:
    from agent_envs.dialects import Parsed

__all__ = [
    "SCHEMA",
    "Episode",
    "EpisodeRecorder",
    "Turn",
    "append_episode",
    "messages",
    "read_episodes",
    "transcript",
]

SCHEMA = 1
"""The version of the record; it grows when an old reader could misunderstand a new line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One action and everything that came of it."""

    action: str | dict[str, Any]
    """What the agent sent, unchanged: its text, or a mapping."""
    thought: str = ""
    """The part of the action that is reasoning."""
    call: ToolCall | None = None
    """The tool call read from it."""
    repairs: tuple[str, ...] = ()
    """What the dialect had to mend to read it."""
    error: str = ""
    """Empty, or `malformed`, `unknown_tool`, `bad_arguments`, `tool_failed` or `timeout`."""
    ran: bool | None = None
    """Whether code or a command ran to its end; None where nothing was executed."""
    observation: str = ""
    """What the agent read next, clipped as it was clipped then."""
    output: str = ""
    """The tool's whole text where the observation shows less of it, up to a limit; empty where they are the same."""
    reward: float = 0.0
    """What the step paid: the sum of `parts`."""
    parts: dict[str, float] = field(default_factory=dict)
    wall_s: float = 0.0
    """Seconds from the action to the observation."""
    sandbox_s: float = 0.0
    """Seconds of them in the sandbox; 0.0 where it does not say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """A run from its prompt to its verdict."""

    schema: int = SCHEMA
    escaped: bool = False
    """Whether the JSON line was escaped because a text holds lone surrogates; false in memory."""
    id: str = ""
    """Unique among all episodes."""
    task_id: str
    task_hash: str
    """`Task.content_hash`: a task that was edited since is not the same task."""
    seed: int = -1
    """The seed given to `reset`; -1 where there was none."""
    env: str = ""
    """The `EnvSpec` as JSON text; empty where the environment was not made by `gymnasium.make`."""
    version: str = __version__
    """The version of agent-envs."""
    dialect: str = ""
    prompt: str = ""
    """The first observation."""
    turns: tuple[Turn, ...] = ()
    end_reason: EndReason | None = None
    """None while the episode runs."""
    verdict: Verdict | None = None
    """None where nothing was graded."""
    reward_valid: bool = False
    """Whether the rewards say anything about the agent; where not, mask the episode."""
    artifact: Artifact | None = None
    """What the agent left behind, for judging it again."""
    dropped_files: tuple[str, ...] = ()
    """Files of the artifact that were too large for the record; the verdict was reached with them."""
    labels: dict[str, str] = field(default_factory=dict)
    """Free words of whoever ran it: model, attempt, group."""
    began_at: float = 0.0
    """Seconds since 1970."""
    wall_s: float = 0.0
    """Seconds from `reset` to the end."""

    @property
    def actions(self) -> list[str | dict[str, Any]]:
        """What to send to `step`, in order, to replay it."""
        return [turn.action for turn in self.turns]

    @property
    def reward(self) -> float:
        """The sum of all rewards."""
        return math.fsum(turn.reward for turn in self.turns)

    @property
    def reverifiable(self) -> bool:
        """Whether a verifier can judge the artifact of this record as it judged the original."""
        return self.artifact is not None and not self.dropped_files

    def to_json(self) -> str:
        """One line of JSON that `from_json` reads back as an equal episode."""
        return _json_lines.encode(self).decode()

    @classmethod
    def from_json(cls, line: str | bytes) -> Episode:
        """The episode of one line; raises `EpisodeError` saying what is wrong with it."""
        try:
            episode = _decoder.decode(line)
            if episode.escaped:
                plain = _json_lines.unescaped(msgspec.json.decode(line)) | {"escaped": False}
                episode = msgspec.convert(plain, cls)
        except (msgspec.MsgspecError, UnicodeError) as cause:
            raise EpisodeError(_explained(line, cause)) from cause
        if episode.schema != SCHEMA:
            raise EpisodeError(_other_schema(episode.schema))
        return episode


_decoder = msgspec.json.Decoder(Episode)


class EpisodeRecorder:
    """Builds the record of a running episode, turn by turn."""

    def __init__(
        self,
        task: Task,
        *,
        env: str = "",
        seed: int = -1,
        dialect: str = "",
        prompt: str = "",
        labels: Mapping[str, str] | None = None,
    ) -> None:
        self.turns: list[Turn] = []
        self._episode = Episode(
            id=uuid.uuid4().hex,
            task_id=task.id,
            task_hash=task.content_hash,
            env=env,
            seed=seed,
            dialect=dialect,
            prompt=prompt,
            labels=dict(labels or {}),
            began_at=time.time(),
        )
        self._began = time.monotonic()

    def add_turn(
        self,
        action: str | Mapping[str, Any],
        parsed: Parsed,
        result: ToolResult,
        observation: str,
        parts: Mapping[str, float],
        *,
        wall_s: float = 0.0,
        sandbox_s: float = 0.0,
    ) -> Turn:
        """Record one step; raises `InfraError` where its reward is no number, because no trainer can use it."""
        reward = total(parts)
        if not math.isfinite(reward):
            raise InfraError(f"the reward of a step is {reward} ({dict(parts)}); expected finite parts")
        turn = Turn(
            action=action if isinstance(action, str) else dict(action),
            thought=parsed.thought,
            call=parsed.call,
            repairs=parsed.repairs,
            error=parsed.error or result.error,
            ran=result.ran,
            observation=observation,
            output="" if result.text == observation else result.text[:_OUTPUT_CHARS],
            reward=reward,
            parts=dict(parts),
            wall_s=wall_s,
            sandbox_s=sandbox_s,
        )
        self.turns.append(turn)
        return turn

    def episode(self) -> Episode:
        """The record so far, of an episode that is still running."""
        return replace(self._episode, turns=tuple(self.turns), wall_s=time.monotonic() - self._began)

    def finish(self, end: EndReason, verdict: Verdict | None, artifact: Artifact | None) -> Episode:
        """The record of the episode that has just ended."""
        kept, dropped = _bounded(artifact) if artifact is not None else (None, ())
        return replace(
            self.episode(),
            end_reason=end,
            verdict=verdict,
            reward_valid=END_POLICY[end].reward_valid and verdict is not None and verdict.score is not None,
            artifact=kept,
            dropped_files=dropped,
        )

    def copy(self) -> EpisodeRecorder:
        """An independent recorder that continues from here under an id of its own, for an episode that is forked."""
        twin = object.__new__(EpisodeRecorder)
        twin.turns, twin._began = self.turns.copy(), self._began
        twin._episode = replace(self._episode, id=uuid.uuid4().hex)
        return twin


_OUTPUT_CHARS = 1 << 18
_ARTIFACT_BYTES = 16 << 20


def _bounded(artifact: Artifact) -> tuple[Artifact, tuple[str, ...]]:
    """The artifact without its largest files where together they are too much for one line, and the names of those."""
    size = sum(map(len, artifact.files.values()))
    dropped: list[str] = []
    for path in sorted(artifact.files, key=lambda path: -len(artifact.files[path])):
        if size <= _ARTIFACT_BYTES:
            break
        size -= len(artifact.files[path])
        dropped.append(path)
    if not dropped:
        return artifact, ()
    files = {path: content for path, content in artifact.files.items() if path not in dropped}
    return replace(artifact, files=files), tuple(sorted(dropped))


def append_episode(path: str | Path, episode: Episode) -> None:
    """Add an episode to a JSONL file that other processes may be adding to; all of it or nothing."""
    try:
        _json_lines.append(path, _json_lines.encode(episode))
    except (OSError, TypeError) as cause:
        raise InfraError(f"episode {episode.id} could not be written to {path}: {cause}") from cause


def read_episodes(path: str | Path, *, on_error: Callable[[EpisodeError], None] | None = None) -> Iterator[Episode]:
    """The episodes of a JSONL file, one at a time.

    A line that cannot be read raises `EpisodeError` with its number, after all lines before it. Where `on_error` is
    given it receives the error instead, and reading goes on.
    """
    try:
        for number, line, whole in _json_lines.numbered_lines(path):
            try:
                episode = Episode.from_json(line)
            except EpisodeError as cause:
                torn = "" if whole else " (the line is torn: its writer was interrupted; run that episode again)"
                error = EpisodeError(f"{path}, line {number}: {cause}{torn}")
                if on_error is None:
                    raise error from cause
                on_error(error)
                continue
            yield episode
    except OSError as cause:
        raise EpisodeError(f"{path} cannot be read ({cause.strerror}); expected a file of episodes") from cause


class _Version(msgspec.Struct):
    schema: int = SCHEMA


def _explained(line: str | bytes, cause: Exception) -> str:
    try:
        schema = msgspec.json.decode(line, type=_Version).schema
    except (msgspec.MsgspecError, UnicodeError):
        schema = SCHEMA
    return f"this is no episode: {cause}" if schema == SCHEMA else _other_schema(schema)


def _other_schema(schema: int) -> str:
    return f"its schema is {schema}, but agent-envs {__version__} reads {SCHEMA}; use the version that wrote it"
