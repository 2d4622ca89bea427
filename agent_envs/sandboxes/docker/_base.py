"""The standard base, a small Debian with Python, pytest and git: pulled where a registry answers, else made here."""

from __future__ import annotations

import fcntl
import io
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from agent_envs.errors import SandboxUnavailable
from agent_envs.sandboxes import _debootstrap
from agent_envs.sandboxes.docker._connect import Connections
from agent_envs.sandboxes.docker._volumes import archive
from agent_envs.sandboxes.images import TreeFile

STANDARD_TAG = "agent-envs/python:1"
_PULLED = "python:3.11-slim"
_ON_PULLED = f"""FROM {_PULLED}
RUN apt-get update && apt-get install -y --no-install-recommends git procps && rm -rf /var/lib/apt/lists/* \\
    && pip install --no-cache-dir 'pytest>=8,<9' && ln -sf /usr/local/bin/python3 /usr/bin/python3
"""
_UNNEEDED = ("var/cache/apt", "var/lib/apt/lists", "usr/share/doc", "usr/share/man", "usr/share/locale")


def provide_standard_base(connections: Connections) -> str:
    """Pull or make the standard base, and return its digest. The latter takes about a minute, once per engine."""
    with one_at_a_time("base"):
        with connections.lend("look for the standard base") as client:
            found = client.images(STANDARD_TAG, quiet=True)
        if not found and not _from_registry(connections):
            _from_debian(connections)
    with connections.lend("look for the standard base") as client:
        return str(client.inspect_image(STANDARD_TAG)["Id"])


@contextmanager
def one_at_a_time(what: str) -> Iterator[None]:
    """Let the other threads and processes of this user wait, who would all make the same."""
    folder = Path(tempfile.gettempdir()) / f"agent-envs-locks.{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    with open(os.open(folder / what, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)) as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            yield
        finally:
            # Closing it alone would not do while a child that was forked meanwhile has it too.
            fcntl.flock(lock, fcntl.LOCK_UN)


def _from_registry(connections: Connections) -> bool:
    try:
        with connections.lend(f"pull {_PULLED}") as client:
            client.pull(*_PULLED.split(":"))
            context = io.BytesIO(archive({"Dockerfile": TreeFile(_ON_PULLED.encode())}))
            lines = client.build(
                fileobj=context, custom_context=True, tag=STANDARD_TAG, rm=True, forcerm=True, decode=True
            )
            return not [line for line in lines if "error" in line]
    except SandboxUnavailable:
        return False


def _from_debian(connections: Connections) -> None:
    if lacks := _debootstrap.lacking():
        raise SandboxUnavailable(
            f"no registry gives {_PULLED}, and the base image cannot be made here because {lacks}; one of these would "
            f"help: docker pull {_PULLED}; docker load -i FILE and docker tag IMAGE {STANDARD_TAG}; on Debian: sudo "
            "apt-get install debootstrap, and run this once as root"
        )
    with tempfile.TemporaryDirectory(prefix="agent-envs-base.") as folder:
        root = Path(folder) / "root"
        _debootstrap.debootstrap(root)
        for place in _UNNEEDED:
            shutil.rmtree(root / place, ignore_errors=True)
            (root / place).mkdir(parents=True)
        with subprocess.Popen(
            ["tar", "-C", str(root), "--one-file-system", "-c", "."], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL
        ) as packed:
            _import(connections, packed.stdout)


def _import(connections: Connections, stream: Any) -> None:
    repository, tag = STANDARD_TAG.split(":")
    with connections.lend("import the base image") as client:
        changes = ["ENV LANG=C.UTF-8", 'CMD ["/bin/bash"]']
        answer = client.import_image_from_stream(stream, repository=repository, tag=tag, changes=changes)
        if "error" in answer:
            raise SandboxUnavailable(f"the Docker engine could not import the base image: {answer.strip()[-300:]}")
