"""Sandboxes that are containers of a Docker engine, here or on another machine (`pip install 'agent-envs[docker]'`)."""

from __future__ import annotations

import os

from agent_envs.sandboxes.docker._connect import DEFAULT_SOCKET, Connections
from agent_envs.sandboxes.docker._owner import sweep_connected
from agent_envs.sandboxes.docker.engine import DockerEngine

__all__ = ["DockerEngine", "sweep"]

NOTHING_SWEPT = {"containers": 0, "volumes": 0, "copies of containers": 0}


def is_likely_here() -> bool:
    """Whether there is a socket to ask, or the name of one; the library is not loaded for this."""
    return bool(os.environ.get("DOCKER_HOST")) or os.path.exists(DEFAULT_SOCKET)


def sweep() -> dict[str, int]:
    """Remove what dead processes of this machine have left in the Docker engine, and say how many of each kind.

    Raises `SandboxUnavailable` where there is no engine.
    """
    connections = Connections()
    try:
        return sweep_connected(connections)
    finally:
        connections.close()
