"""The record of an episode while it runs: it grows turn by turn, and nothing in it changes afterwards."""

from __future__ import annotations

import math
import time
import uuid
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec

from agent_envs import json_lines
from agent_envs.artifact import Artifact, Verdict
from agent_envs.episode._record import Episode, Turn
from agent_envs.errors import END_POLICY, EndReason, InfraError
from agent_envs.json_lines import JsonObject
from agent_envs.rewards import total
from agent_envs.tasks import Task
from agent_envs.tools import ToolResult

if TYPE_CHECKING:
    from agent_envs.dialects import Parsed


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
        action: str | Mapping[str, object],
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
            action=_as_data(action),
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


def _as_data(action: str | Mapping[str, object]) -> str | JsonObject:
    """A copy that JSON can hold; of a mapping with anything else in it, its Python text."""
    if isinstance(action, str):
        return action
    try:
        return dict(msgspec.json.decode(json_lines.encode(action)))
    except (TypeError, ValueError, RecursionError):
        return repr(action)


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
