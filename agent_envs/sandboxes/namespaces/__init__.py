"""A sandbox made of Linux namespaces, by the standard library and ctypes alone.

A trusted process that is executed once, the zygote, clones one small trusted process 1 per episode into namespaces of
its own; everything the agent runs is a child of that, under limits and a filter of system calls.
"""

from __future__ import annotations

from agent_envs.sandboxes.namespaces._sandbox import NamespaceSandbox, start_namespace_sandbox

__all__ = ["NamespaceSandbox", "start_namespace_sandbox"]
