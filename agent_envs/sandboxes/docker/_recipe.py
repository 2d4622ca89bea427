"""What a recipe means to the engine's builder: one step that adds all files, and one that sets everything up."""

from __future__ import annotations

import io
import json
import re
import tarfile
from hashlib import sha256

from agent_envs.errors import ConfigError
from agent_envs.sandboxes.docker._volumes import archive, tree_digest
from agent_envs.sandboxes.images import Recipe, Tree, TreeFile

_VERSION = 1
"""Raised when the same recipe is to give another image."""
_SETUP = "agent-envs-setup.sh"
_AGENT = 1000

_PREPARE = r"""set -e
if ! grep -q '^[^:]*:[^:]*:1000:' /etc/passwd 2>/dev/null; then
  echo 'agent:x:1000:1000:agent:/home/agent:/bin/sh' >>/etc/passwd
  grep -q '^[^:]*:[^:]*:1000:' /etc/group 2>/dev/null || echo 'agent:x:1000:' >>/etc/group
fi
mkdir -p /home/agent "$WORKSPACE"
chown 1000:1000 /home/agent
cd "$WORKSPACE"
# The files are the agent's already, and git would refuse to work for root there.
export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*'
"""
_FINISH = r"""cd /
find "$WORKSPACE" ! -user 1000 -exec chown -h 1000:1000 {} + || chown -R 1000:1000 "$WORKSPACE"
rm -f "/$SETUP"
"""


def check(recipe: Recipe) -> None:
    if not re.fullmatch(r"(/[A-Za-z0-9._-]+)+", recipe.workspace) or "/.." in recipe.workspace:
        raise ConfigError(
            f"a recipe has the workspace {recipe.workspace!r}; expected an absolute path of letters, digits and ._- "
            "below the root"
        )
    if any("\0" in command for command in recipe.commands):
        raise ConfigError("a command of a recipe holds a zero byte; expected shell command lines")


def digest(recipe: Recipe, base: str) -> str:
    parts = [str(_VERSION), base, recipe.workspace, tree_digest(recipe.files), *recipe.commands]
    return sha256(json.dumps(parts).encode()).hexdigest()[:32]


def context(recipe: Recipe, base: str) -> bytes:
    """The Dockerfile and its files: all are added in one step and set up in one other, for each costs a container."""
    run = json.dumps(["/bin/sh", f"/{_SETUP}"])
    steps = f"FROM {base}\nUSER 0\nADD files.tar /\nRUN {run}\nWORKDIR {recipe.workspace}\n"
    folder = recipe.workspace.strip("/")
    inner = io.BytesIO()
    with tarfile.open(fileobj=inner, mode="w", format=tarfile.PAX_FORMAT) as made:
        _append(made, {_SETUP: TreeFile(_setup(recipe).encode("utf-8", "surrogateescape"))}, "", 0)
        _append(made, recipe.files, folder, _AGENT)
    return archive({"Dockerfile": TreeFile(steps.encode()), "files.tar": TreeFile(inner.getvalue())})


def _append(made: tarfile.TarFile, tree: Tree, below: str, owner: int) -> None:
    with tarfile.open(fileobj=io.BytesIO(archive(tree, below=below, owner=owner))) as part:
        for member in part:
            made.addfile(member, part.extractfile(member) if member.isreg() else None)


def _setup(recipe: Recipe) -> str:
    """The script that prepares the image; every command is a shell of its own, and the first that fails ends it."""
    lines = [f"export WORKSPACE='{recipe.workspace}' SETUP='{_SETUP}'\n", _PREPARE]
    for number, command in enumerate(recipe.commands, 1):
        end = f"AGENT_ENVS_{sha256(command.encode('utf-8', 'surrogateescape')).hexdigest()[:16]}"
        lines.append(f"/bin/sh -c \"$(cat <<'{end}'\n{command}\n{end}\n)\" </dev/null || {{\n")
        lines.append(f"  echo 'agent-envs: command {number} of the recipe failed' >&2; exit 1\n}}\n")
    return "".join([*lines, _FINISH])
