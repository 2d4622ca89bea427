"""Who can act in an environment, and the function that lets one of them play an episode.

An agent is anything with `begin` and `act`. The four here need no model: they prove that an environment can be
solved (`oracle`), is not solved by doing nothing (`nop`), survives anything (`random`), and replays (`scripted`).
"""

from __future__ import annotations

from agent_envs.agents.modelless import NopAgent, OracleAgent, RandomAgent, ScriptedAgent, make_agent
from agent_envs.agents.play import Agent, AgentFailed, play_episode

__all__ = [
    "Agent",
    "AgentFailed",
    "NopAgent",
    "OracleAgent",
    "RandomAgent",
    "ScriptedAgent",
    "make_agent",
    "play_episode",
]
