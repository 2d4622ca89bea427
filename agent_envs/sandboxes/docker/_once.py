"""One program as the only one of a container: the cheapest way to run something where nothing else has been."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import datetime

from agent_envs.errors import SandboxDied
from agent_envs.sandboxes.docker._connect import Refused, gone_or
from agent_envs.sandboxes.docker._container import Container
from agent_envs.sandboxes.docker._shell import ended
from agent_envs.sandboxes.docker._stream import Attached
from agent_envs.sandboxes.protocol import RunResult, Status

_END_S = 20.0
"""How long a killed container may take to be gone; it only bounds the wait for an engine that hangs."""


def run_to_end(container: Container, *, stdin: bytes, timeout_s: float, output_bytes: int) -> RunResult:
    """Start a created container, feed it, read it, and say how it ended; it is killed where its time is up."""
    try:
        # Attached first: what is printed before would be lost.
        with container.connections.lend("attach to a container", error=SandboxDied) as client:
            params = {"stream": 1, "stdout": 1, "stderr": 1, "stdin": int(bool(stdin))}
            stream = Attached(client.attach_socket(container.id, params=params), output_bytes=output_bytes)
            try:
                began = time.monotonic()
                client.start(container.id)
                cause = _watch(stream, stdin, time.monotonic() + timeout_s)
                if cause is not Status.OK:
                    container.kill()
                    _drain(stream, time.monotonic() + _END_S)
                status = client.wait(container.id, timeout=_END_S)["StatusCode"]
                wall_s = time.monotonic() - began
                state = client.inspect_container(container.id)["State"] if status else {}
            finally:
                stream.close()
    except Refused as error:
        raise gone_or(error, "run a program in a container") from error
    oom = bool(state.get("OOMKilled"))
    if cause is Status.OK and status == 137 and not oom:
        told = _events(container, state)
        if "kill" in told:
            raise SandboxDied("the container of a program was ended from outside while it ran")
        # The engine may learn of it after the end, and then does not set the state right.
        oom = "oom" in told
    output, errors, dropped = stream.take()
    result = ended(status, wall_s=wall_s)
    if cause is Status.OK:
        cause = Status.OUT_OF_MEMORY if oom else result.status
    return replace(result, status=cause, stdout=output, stderr=errors, dropped_bytes=dropped)


def _watch(stream: Attached, stdin: bytes, deadline: float) -> Status:
    if stdin:
        if not stream.send(stdin, deadline) and not stream.ended:
            return Status.TIMEOUT
        stream.end_input()
    while not stream.ended:
        if not stream.listen(deadline):
            return Status.TIMEOUT
        if not stream.within_limit:
            return Status.OUTPUT_LIMIT
    return Status.OK if stream.within_limit else Status.OUTPUT_LIMIT


def _drain(stream: Attached, deadline: float) -> None:
    while not stream.ended and stream.listen(deadline):
        pass


def _events(container: Container, state: dict[str, str]) -> set[str]:
    """Whether the engine was asked to `kill` it, and whether it ran `oom`; nothing in the container can say so."""
    # What comes a moment after the end is waited for.
    until = datetime.fromisoformat(state["FinishedAt"][:19] + "+00:00").timestamp() + 2
    with container.connections.lend("ask what happened to a container", error=SandboxDied) as client:
        wanted = {"container": container.id, "event": ["kill", "oom"]}
        return {event["Action"] for event in client.events(since=0, until=int(until), filters=wanted, decode=True)}
