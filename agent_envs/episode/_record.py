"""What a turn and an episode are, as data, and their JSON form."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import msgspec

from agent_envs import json_lines
from agent_envs._version import __version__
from agent_envs.artifact import Artifact, Outcome, Verdict
from agent_envs.errors import EndReason, EpisodeError
from agent_envs.json_lines import JsonObject
from agent_envs.tools import ToolCall

SCHEMA = 1
"""The version of the record; it grows when an old reader could misunderstand a new line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One action and everything that came of it."""

    action: str | JsonObject
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
    def actions(self) -> list[str | JsonObject]:
        """What to send to `step`, in order, to replay it."""
        return [turn.action for turn in self.turns]

    @property
    def outcome(self) -> Outcome:
        """What the verifier decided; ERROR where there is no verdict."""
        return Outcome.ERROR if self.verdict is None else self.verdict.outcome

    @property
    def score(self) -> float | None:
        """The verifier's score; None where there is none, so that it cannot be averaged by accident."""
        return None if self.verdict is None else self.verdict.score

    @property
    def why(self) -> str:
        """The verdict's own reason; empty where it gives none."""
        return "" if self.verdict is None else str(self.verdict.evidence.get("why", ""))

    @property
    def total_reward(self) -> float:
        """The sum of all rewards."""
        return math.fsum(turn.reward for turn in self.turns)

    @property
    def reverifiable(self) -> bool:
        """Whether a verifier can judge the artifact of this record as it judged the original."""
        return self.artifact is not None and not self.dropped_files

    def to_json(self) -> str:
        """One line of JSON that `from_json` reads back as an equal episode."""
        return json_lines.encode(self).decode()

    @classmethod
    def from_json(cls, line: str | bytes) -> Episode:
        """The episode of one line; raises `EpisodeError` saying what is wrong with it."""
        try:
            episode = _decoder.decode(line)
            if episode.escaped:
                episode = replace(msgspec.convert(json_lines.unescaped(msgspec.json.decode(line)), cls), escaped=False)
        except (msgspec.MsgspecError, UnicodeError) as cause:
            raise EpisodeError(_explained(line, cause)) from cause
        if episode.schema != SCHEMA:
            raise EpisodeError(_other_schema(episode.schema))
        return episode


_decoder = msgspec.json.Decoder(Episode)


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
