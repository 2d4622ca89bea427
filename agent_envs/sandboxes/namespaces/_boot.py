"""The first lines of the zygote, run as a script in an interpreter without site-packages.

It makes the modules beside it importable under their real names, without running the package around them: that would
import gymnasium and, through the zygote, put it into every guest.
"""

from __future__ import annotations

import os
import sys
import types

CONNECTION = 3
"""The descriptor at which the zygote finds its socket to the host."""


def main() -> None:
    """Graft the package, then become the zygote."""
    folder = os.fsdecode(os.read(CONNECTION, 1 << 16))
    for name in ("agent_envs.sandboxes.namespaces", "agent_envs.sandboxes", "agent_envs"):
        package = types.ModuleType(name)
        package.__path__ = [folder]
        sys.modules[name] = package
        folder = os.path.dirname(folder)
    from agent_envs.sandboxes.namespaces import _zygote

    _zygote.main(CONNECTION)


if __name__ == "__main__":
    main()
