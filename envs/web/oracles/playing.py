"""Acting as an agent does: a tool call in, an observation out, and what to do next read from that."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from agent_envs.envs.web.oracles.reading import Item, Reading, read

from agent_envs.env import AgentEnv

Policy = Callable[["Player"], None]
POLICIES: dict[str, Policy] = {}
"""What plays each page, by its name."""
INSTANCES = (1, 3, 4)
"""Instances that say all that is needed: in others two mails may be from the same person, and one of them is meant."""


class EpisodeOver(Exception):
    """The page has decided; there is nothing more to do."""


class Stuck(Exception):
    """A tool has refused what a policy wanted."""


def solves(*pages: str) -> Callable[[Policy], Policy]:
    """Register a policy for some pages."""

    def registered(policy: Policy) -> Policy:
        POLICIES.update(dict.fromkeys(pages, policy))
        return policy

    return registered


class Player:
    """One episode, seen through its observations."""

    def __init__(self, env: AgentEnv, task_id: str) -> None:
        """The environment has to show whole pages (`view="full"`) and to take JSON actions."""
        self.env = env
        observation, self.info = env.reset(seed=0, options={"task_id": task_id})
        self._see(observation)
        self.asked = observation.rpartition("\nTask: ")[2].partition("\n")[0]
        """What the page asks for."""

    def act(self, tool: str, **arguments: Any) -> str:
        """Call a tool; what is there to see afterwards is in `page`."""
        call = json.dumps({"name": tool, "arguments": arguments})
        observation, _, terminated, truncated, self.info = self.env.step(call)
        if terminated or truncated:
            raise EpisodeOver
        if self.info["error"]:
            raise Stuck(f"{tool} {arguments}: {observation}")
        self._see(observation)
        return observation

    def _see(self, observation: str) -> None:
        self.observation = observation
        self.page: Reading = read(observation)

    def click(self, what: Item | str, **more: Any) -> None:
        """Click an element."""
        self.act("click", element_id=_id(what), **more)

    def type(self, what: Item | str, text: str, **more: Any) -> None:
        """Type into a field."""
        self.act("type", element_id=_id(what), text=text, **more)

    def press(self, keys: str, what: Item | str = "", times: int = 1) -> None:
        """Press keys, several times in a row."""
        for _ in range(times):
            self.act("press", keys=keys, element_id=_id(what))

    def button(self, name: str) -> None:
        """Click a button."""
        self.click(self.page.one("button", name))


def _id(what: Item | str) -> str:
    return what if isinstance(what, str) else what.ref


def play(env: AgentEnv, task_id: str) -> bool:
    """Whether the policy of a page makes it give its full reward.

    A policy that meets what it does not know ends with an error of its own: `Stuck`, `LookupError`.
    """
    player = Player(env, task_id)
    with suppress(EpisodeOver):
        POLICIES[task_id.partition("/")[0]](player)
        player.act("submit")
    return bool(player.info["outcome"] == "resolved")
