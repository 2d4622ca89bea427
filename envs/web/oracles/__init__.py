"""Scripted players of MiniWoB++ pages: they see what an agent sees and use the tools an agent has, and nothing else.

What they solve is the proof that our view of a page loses nothing that its task needs; their episodes are
demonstrations.
"""

from __future__ import annotations

from agent_envs.envs.web.oracles import clicks, drags, drawings, forms, mail, texts
from agent_envs.envs.web.oracles.playing import INSTANCES, POLICIES, Player, play, solves

__all__ = ["INSTANCES", "POLICIES", "Player", "play", "solves"]

_ALL = (clicks, drags, drawings, forms, mail, texts)
"""Each registers what it plays."""
