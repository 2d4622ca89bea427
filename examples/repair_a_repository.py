"""A chat model at work in AgentRL/SWE-v0, with the messages and tools of the OpenAI API. Run it as it stands.

The model here is scripted. For a real one, let `ask` call `client.chat.completions.create(messages=..., tools=...)` and
return its message as a dict: nothing else changes.
"""

from __future__ import annotations

import itertools
import json
from typing import Any

import gymnasium

FIXED = """\
        sign = -1 if self.units < 0 else 1
        size = abs(self.units)
        shares = [size * weight // total for weight in weights]
        left = size - sum(shares)
        for position, weight in enumerate(weights):
            if left and weight:
                shares[position] += 1
                left -= 1
        return [Money(sign * share, self.currency) for share in shares]
"""
BROKEN = """\
        shares = [self.units * weight // total for weight in weights]
        shares[0] += self.units - sum(shares)
        return [Money(share, self.currency) for share in shares]
"""
BILL = 'from ledger import Money; print(*(m.plain() for m in Money.parse("100.00", "EUR").allocate([1] * 7)))'
SCRIPT: list[tuple[str, str, dict[str, Any]]] = [
    ("Where is it?", "search", {"pattern": "def allocate", "path": "src"}),
    ("What is promised?", "bash", {"command": "grep -n -A12 -i allocat docs/money.md"}),
    ("The whole rest goes to the first share.", "edit", {"path": "src/ledger/money.py", "old": BROKEN, "new": FIXED}),
    ("Does the bill come out?", "bash", {"command": f"PYTHONPATH=src python3 -c '{BILL}'"}),
    ("Is the rest as it was?", "run_tests", {}),
    ("Done.", "submit", {}),
]
_turns = itertools.count()


def ask(messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> dict[str, Any]:
    """The model's next message."""
    turn = next(_turns)
    thought, name, arguments = SCRIPT[turn]
    call = {"id": f"call_{turn}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
    return {"role": "assistant", "content": thought, "tool_calls": [call]}


def main() -> None:
    """One episode."""
    env = gymnasium.make("agent_envs:AgentRL/SWE-v0", instructions=False)
    observation, info = env.reset(options={"task_id": "ledger/split-cents"})
    tools = info["tools"]
    messages: list[dict[str, Any]] = [{"role": "user", "content": observation}]
    ended = False
    while not ended:
        message = ask(messages, tools)
        observation, reward, terminated, truncated, info = env.step(message)
        ended = terminated or truncated
        call = message["tool_calls"][0]
        messages += [message, {"role": "tool", "tool_call_id": call["id"], "content": observation}]
        print(f"> {call['function']['name']}: {message['content']}\n{observation}\n")
    print(f"reward {reward}, {info['outcome']}")
    env.close()


if __name__ == "__main__":
    main()
