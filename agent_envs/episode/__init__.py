"""The record of one run: enough to read it, to replay it against the same task, and to judge it again.

An episode is one line of JSON. Nothing in it refers to a file, a process or a machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from agent_envs import json_lines
from agent_envs.episode._record import SCHEMA, Episode, Turn
from agent_envs.episode._recorder import EpisodeRecorder
from agent_envs.episode._transcript import messages, transcript
from agent_envs.errors import ConfigError, EpisodeError, InfraError

__all__ = [
    "SCHEMA",
    "Episode",
    "EpisodeRecorder",
    "Turn",
    "append_episode",
    "check_writable",
    "messages",
    "read_episodes",
    "transcript",
]


def check_writable(path: str | Path) -> None:
    """Fail before an episode is played where its record could not be kept after it."""
    try:
        open(path, "ab").close()
    except (OSError, ValueError) as cause:
        raise ConfigError(f"the record {str(path)!r} cannot be written: {cause}") from cause


def append_episode(path: str | Path, episode: Episode) -> None:
    """Add an episode to a JSONL file that other processes may be adding to; all of it or nothing."""
    try:
        json_lines.append(path, json_lines.encode(episode))
    except (OSError, TypeError) as cause:
        raise InfraError(f"episode {episode.id} could not be written to {path}: {cause}") from cause


def read_episodes(path: str | Path, *, on_error: Callable[[EpisodeError], None] | None = None) -> Iterator[Episode]:
    """The episodes of a JSONL file, one at a time.

    A line that cannot be read raises `EpisodeError` with its number, after all lines before it. Where `on_error` is
    given it receives the error instead, and reading goes on.
    """
    try:
        for number, line, whole in json_lines.numbered_lines(path):
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
