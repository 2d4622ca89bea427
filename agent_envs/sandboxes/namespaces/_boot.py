"""The first lines of the zygote, run as a script in an interpreter without site-packages.

It makes the modules beside it importable under their real names, without running the package around them: that would
import gymnasium and, through the zygote, put it into every guest.
"""

from __future__ import annotations

import os
import sys
import types
from collections.abc import Callable

CONNECTION = 3
"""The descriptor at which the zygote finds its socket to the host."""

FOR_ITSELF = {"LD_BIND_NOW": "1"}
"""What the zygote has in its environment and guests have not: functions are linked once, not in every guest again."""


def main() -> None:
    """Graft the package, then become the zygote."""
    for name in FOR_ITSELF:
        del os.environ[name]
    folder = os.fsdecode(os.read(CONNECTION, 1 << 16))
    for name in ("agent_envs.sandboxes.namespaces", "agent_envs.sandboxes", "agent_envs"):
        package = types.ModuleType(name)
        package.__path__ = [folder]
        sys.modules[name] = package
        folder = os.path.dirname(folder)
    # What modules want done in every fork costs each guest half a millisecond, and would make `random` differ between
    # equal episodes: it is left to the forks that the guest makes itself.
    postponed: list[dict[str, Callable[[], object]]] = []
    os.register_at_fork = lambda **hooks: postponed.append(hooks)
    from agent_envs.sandboxes.namespaces import _entry, _zygote

    _entry.fork_hooks = postponed
    _zygote.main(CONNECTION)


if __name__ == "__main__":
    main()
