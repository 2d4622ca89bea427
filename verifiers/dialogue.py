"""Questions to a guest process of ours, one at a time, as typed literals."""

from __future__ import annotations

from contextlib import suppress
from importlib.util import find_spec
from typing import Any

from agent_envs.verifiers.guests import open_guest
from agent_envs.verifiers.literals import LiteralMalformed, decode, encode
from agent_envs.verifiers.submission import clipped

from agent_envs.errors import MissingExtra, VerifierFailed
from agent_envs.sandboxes.protocol import ChannelClosed, Sandbox, text


class Silence(Exception):
    """The guest ended, or said nothing in time."""


class Dialogue:
    """One guest program that answers each message with one message."""

    def __init__(self, sandbox: Sandbox, module: str, *, start_s: float = 60.0) -> None:
        self.channel = open_guest(sandbox, "literals", module)
        try:
            self.hear(timeout_s=start_s)
        except Silence as silence:  # importing its packages failed, and no answer of an agent is in play yet
            raise VerifierFailed(f"the verifier's process did not start: {silence}") from None

    def ask(self, question: object, *, timeout_s: float) -> Any:
        """The answer to one question; raises `Silence`."""
        with suppress(ChannelClosed):  # a guest that is gone is noticed when it does not answer
            self.channel.send(encode(question), timeout_s=timeout_s)
        return self.hear(timeout_s=timeout_s)

    def hear(self, *, timeout_s: float) -> Any:
        """The next message; raises `Silence`."""
        try:
            return decode(self.channel.receive(timeout_s=timeout_s))
        except (ChannelClosed, LiteralMalformed) as cause:
            result = self.channel.result()
            last_words = clipped(text(result.stderr[-1000:]).strip())
            raise Silence(f"{cause} ({result.status.value}) {last_words}".strip()) from None


def require(module: str, package: str, *, extra: str) -> None:
    """Raise `MissingExtra` where a package that the guest will need is not installed here."""
    if find_spec(module) is None:
        raise MissingExtra(package, extra=extra)
