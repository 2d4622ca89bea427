"""Whether anybody acts in a window of this process, and when nobody does: the time for what nobody waits for."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator

from agent_envs.browser._loop import shelf

_STILL_S = 0.015
"""Between two actions of an agent there is more than this."""


class Stillness:
    """Kept by whoever acts, watched by whoever would disturb them. Lives on the loop, like everything it is told of."""

    def __init__(self) -> None:
        self._acting = 0
        self._acts = 0
        self._free = asyncio.Event()
        self._free.set()

    @property
    def now(self) -> bool:
        """Whether nobody acts at this moment."""
        return not self._acting

    @contextlib.contextmanager
    def broken(self) -> Iterator[None]:
        """While somebody acts."""
        self._acting += 1
        self._acts += 1
        self._free.clear()
        try:
            yield
        finally:
            self._acting -= 1
            if self.now:
                self._free.set()

    async def lasting(self) -> None:
        """Return as soon as nobody has acted for a while."""
        acts = -1
        while acts != self._acts:
            await self._free.wait()
            acts = self._acts
            await asyncio.sleep(_STILL_S)


def stillness() -> Stillness:
    """That of this process. To be called on the loop."""
    found: Stillness = shelf().setdefault("stillness", Stillness())
    return found
