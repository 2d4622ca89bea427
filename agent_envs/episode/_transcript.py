"""An episode as people read it, and as chat models do."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from agent_envs.json_lines import JsonObject

if TYPE_CHECKING:
    from agent_envs.episode._record import Episode, Turn


def transcript(episode: Episode) -> str:
    """The episode as text for a reader: prompt, every action with what came of it, and the end."""
    head = f"episode {episode.id}: task {episode.task_id}, seed {episode.seed}, dialect {episode.dialect}"
    parts = [head, _block("prompt", episode.prompt)]
    for number, turn in enumerate(episode.turns, start=1):
        parts.append(_block(f"turn {number}: agent", _text(turn.action)))
        parts.append(_block(f"turn {number}: environment{_notes(turn)}", turn.observation))
    parts.append(_ending(episode))
    # A lone surrogate cannot be printed, and a transcript is for printing.
    return "\n\n".join(parts).encode("utf-8", "backslashreplace").decode()


def messages(episode: Episode) -> list[JsonObject]:
    """The episode as OpenAI chat messages.

    An action that was text stays that text, word for word, and is answered by the user; one that was a mapping becomes
    a tool call, answered by the tool.
    """
    chat: list[JsonObject] = [{"role": "user", "content": episode.prompt}]
    for number, turn in enumerate(episode.turns, start=1):
        if isinstance(turn.action, str):
            chat.append({"role": "assistant", "content": turn.action})
            chat.append({"role": "user", "content": turn.observation})
        else:
            chat.extend(_tool_messages(turn, turn.action, f"call_{number}"))
    return chat


def _tool_messages(turn: Turn, action: JsonObject, id: str) -> list[JsonObject]:  # noqa: A002 - OpenAI's word
    arguments = action.get("arguments", {})
    function = {
        "name": str(action.get("name", "")),
        "arguments": arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False),
    }
    call = {"id": id, "type": "function", "function": function}
    return [
        {"role": "assistant", "content": turn.thought, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": id, "content": turn.observation},
    ]


def _block(title: str, body: str) -> str:
    return f"--- {title} ---\n{body}"


def _text(action: str | JsonObject) -> str:
    return action if isinstance(action, str) else json.dumps(action, ensure_ascii=False)


def _notes(turn: Turn) -> str:
    notes = [turn.error] if turn.error else []
    notes += [f"repaired: {', '.join(turn.repairs)}"] if turn.repairs else []
    notes += [f"reward {turn.reward:g} ({_nonzero(turn.parts)})"] if any(turn.parts.values()) else []
    return f" ({'; '.join(notes)})" if notes else ""


def _nonzero(parts: dict[str, float]) -> str:
    return ", ".join(f"{name} {value:+g}" for name, value in parts.items() if value)


def _ending(episode: Episode) -> str:
    if episode.end_reason is None:
        return "--- still running ---"
    verdict = episode.verdict
    judged = "not judged"
    if verdict is not None:
        score = "unknown" if verdict.score is None else f"{verdict.score:g}"
        why = f": {episode.why}" if episode.why else ""
        judged = f"{verdict.outcome}, score {score}{why}"
    worth = f"reward {episode.total_reward:g}" if episode.reward_valid else "reward not valid"
    return f"--- end: {episode.end_reason}; {judged}; {worth} ---"
