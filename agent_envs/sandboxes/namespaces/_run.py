"""One guest process from its start to its end, as the host sees it."""

from __future__ import annotations

import os
import select
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent_envs.sandboxes.namespaces._control import Control, Exit
from agent_envs.sandboxes.namespaces._streams import Streams
from agent_envs.sandboxes.namespaces._zygotes import no_fork
from agent_envs.sandboxes.protocol import RunResult, SessionState, Status

_STDIN_PIECE = 1 << 16
_NONE: Mapping[int, int] = {}


def run_to_end(
    control: Control,
    limit: int,
    order: dict[str, object],
    *,
    body: bytes = b"",
    stdin: bytes = b"",
    timeout_s: float,
    descriptors: Mapping[int, int] = _NONE,
) -> RunResult:
    """Start a guest process, feed it, read it, and end it and its relatives when it ends or its time is up.

    `descriptors` are given to it besides the standard ones, by the number each is to have.
    """
    began, killed = time.monotonic(), control.oom_kills()
    streams = Streams(limit).open()
    feed = _Feed(stdin)
    # A child that is forked meanwhile would keep the guest from seeing the end of its input.
    control.descriptors.own(feed.close)
    try:
        details = {name: value for name, value in order.items() if name != "kind"}
        number = control.spawn(
            str(order["kind"]), {**descriptors, **feed.guest_end, **streams.guest_ends}, body, **details
        )
        streams.close_guest_ends()
        feed.close_guest_end()
        cause = _watch(control, number, streams, feed, deadline=began + timeout_s)
        ended = control.take_exit(number)
        if ended is None:
            control.kill(number)
            ended = control.wait_exit(number)
        streams.finish()
        ooms = control.oom_kills() - killed if cause is Status.OK and (ended.exit_code or ended.signal) else 0
        return result(ended, streams, cause=cause, wall_s=time.monotonic() - began, oom=ooms > 0)
    finally:
        streams.close()
        feed.close()
        control.descriptors.disown(feed.close)


def result(
    ended: Exit,
    streams: Streams,
    *,
    cause: Status,
    wall_s: float,
    oom: bool = False,
    state: SessionState = SessionState.KEPT,
) -> RunResult:
    """Put together what is known of a run; `cause` is why the host ended it, OK where it did not."""
    output, errors, dropped = streams.take()
    if ended.refused:
        errors += f"{ended.refused}\n".encode()
    return RunResult(
        status=_status(ended, oom=oom) if cause is Status.OK else cause,
        stdout=output,
        stderr=errors,
        exit_code=ended.exit_code,
        signal=ended.signal,
        wall_s=wall_s,
        cpu_s=ended.cpu_s,
        max_rss_mb=ended.max_rss_mb,
        dropped_bytes=dropped,
        state=state,
    )


def _status(ended: Exit, *, oom: bool) -> Status:
    if oom:
        return Status.OUT_OF_MEMORY
    if ended.signal:
        return Status.KILLED
    return Status.ERROR if ended.exit_code else Status.OK


def _watch(control: Control, number: int, streams: Streams, feed: _Feed, *, deadline: float) -> Status:
    """Serve the guest until it ends; why it must be ended otherwise."""
    poll = select.poll()
    poll.register(control.socket, select.POLLIN)
    streams.watch(poll)
    feed.watch(poll)
    line = control.socket.fileno()
    while True:
        left = deadline - time.monotonic()
        if left <= 0:
            return Status.TIMEOUT
        for descriptor, _ in poll.poll(left * 1000 + 1):
            if descriptor == line:
                control.pump()
                if control.has_exit(number):
                    return Status.OK if streams.drain() else Status.OUTPUT_LIMIT
            elif descriptor == feed.host_end:
                feed.push(poll)
            elif not streams.drain(poll):
                return Status.OUTPUT_LIMIT


@dataclass(slots=True)
class _Feed:
    """Standard input: a pipe that is filled as the guest reads it, or nothing where there is nothing to say."""

    content: bytes
    host_end: int = -1
    _guest_end: int = -1
    _at: int = 0

    @property
    def guest_end(self) -> dict[int, int]:
        """The end to give to a guest, made now; none stands for an empty input."""
        if not self.content:
            return {}
        with no_fork:
            self._guest_end, self.host_end = os.pipe()
        os.set_blocking(self.host_end, False)
        return {0: self._guest_end}

    def close_guest_end(self) -> None:
        with no_fork:
            if self._guest_end >= 0:
                os.close(self._guest_end)
                self._guest_end = -1

    def watch(self, poll: select.poll) -> None:
        if self.host_end >= 0:
            poll.register(self.host_end, select.POLLOUT)

    def push(self, poll: select.poll) -> None:
        try:
            self._at += os.write(self.host_end, self.content[self._at : self._at + _STDIN_PIECE])
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._at = len(self.content)
        if self._at >= len(self.content):
            poll.unregister(self.host_end)
            self.close()

    def close(self) -> None:
        self.close_guest_end()
        with no_fork:
            if self.host_end >= 0:
                os.close(self.host_end)
                self.host_end = -1


def shell_words(command: str | Sequence[str]) -> list[str]:
    """The program and arguments that run this command."""
    return ["/bin/sh", "-c", command] if isinstance(command, str) else list(command)
