"""Starts programs of ours inside guests, which cannot import this package: the modules arrive as a message."""

from __future__ import annotations

import marshal
import sys
from functools import cache
from importlib.resources import files

from agent_envs.errors import VerifierFailed
from agent_envs.sandboxes.protocol import Channel, ChannelClosed, Sandbox

# Compiled once here and reused where the guest runs the same Python; a guest's own compilation costs milliseconds.
# Every module gets its own copy of the builtins, so that a program that patches `builtins.len` changes only its own.
_BOOT = """
def boot(parts, version):
    import builtins, marshal, sys
    from types import ModuleType
    modules = marshal.loads(parts)
    for name, code, source in modules:
        module = sys.modules[name] = ModuleType(name)
        vars(module)["__builtins__"] = dict(vars(builtins))
        exec(marshal.loads(code) if sys.version == version else compile(source, name, "exec"), vars(module))
    for name, _, _ in modules:
        del sys.modules[name]
    return module.serve
"""


def open_guest(sandbox: Sandbox, *modules: str) -> Channel:
    """Load these modules of the package in a guest process and run the last one's `serve(receive, send)`."""
    channel = sandbox.open_channel(f"{_BOOT}\nboot(receive(), {sys.version!r})(receive, send)\n")
    try:
        channel.send(_parts(modules), timeout_s=10.0)
    except ChannelClosed as closed:
        raise VerifierFailed(f"the verifier's own process did not start: {closed}") from None
    return channel


@cache
def _parts(modules: tuple[str, ...]) -> bytes:
    return marshal.dumps([_part(module) for module in modules], 2)


def _part(module: str) -> tuple[str, bytes, str]:
    name = f"agent_envs.verifiers.{module}"
    source = files("agent_envs.verifiers").joinpath(f"{module}.py").read_text("utf-8")
    return name, marshal.dumps(compile(source, name, "exec", dont_inherit=True)), source
