"""Images without Docker: the namespaces backend over stored root file systems.

An image is a stack of folders in a store; a sandbox is an overlay of them whose changes live in memory and die with it.
"""

from __future__ import annotations

from agent_envs.sandboxes.roots.engine import NamespaceEngine

__all__ = ["NamespaceEngine"]
