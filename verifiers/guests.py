"""The programs that run inside guests, as self-contained source text: no guest imports this package."""

from __future__ import annotations

import marshal
import sys
from functools import cache
from importlib.resources import files

# Compiled once here and reused where the guest runs the same Python; a guest's own compilation costs milliseconds.
# Every module gets its own copy of the builtins, so that a program that patches `builtins.len` changes only its own.
_BOOT = """
def boot(parts, version):
    import builtins, marshal, sys
    from types import ModuleType
    for name, code, source in parts:
        module = sys.modules[name] = ModuleType(name)
        vars(module)["__builtins__"] = dict(vars(builtins))
        exec(marshal.loads(code) if sys.version == version else compile(source, name, "exec"), vars(module))
    for name, _, _ in parts:
        del sys.modules[name]
    return module.serve
boot({parts!r}, {version!r})(receive, send)
"""


@cache
def guest_program(*modules: str) -> str:
    """Source text for `Sandbox.open_channel`: loads these modules of the package and calls the last one's `serve`."""
    return _BOOT.format(parts=[_part(module) for module in modules], version=sys.version)


def _part(module: str) -> tuple[str, bytes, str]:
    name = f"agent_envs.verifiers.{module}"
    source = files("agent_envs.verifiers").joinpath(f"{module}.py").read_text("utf-8")
    return name, marshal.dumps(compile(source, name, "exec", dont_inherit=True)), source
