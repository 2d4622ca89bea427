"""Gymnasium spaces for agents that read and write text.

One decision: every text is a legal action. What cannot be read as a tool call is an outcome that the environment
answers, never an invalid action; `sample()` still draws calls that fit the tools.
"""

from __future__ import annotations

import json
import multiprocessing
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, overload

import numpy as np
from gymnasium.spaces import Space
from gymnasium.vector.utils import (
    create_empty_array,
    create_shared_memory,
    read_from_shared_memory,
    write_to_shared_memory,
)

from agent_envs.errors import ConfigError
from agent_envs.json_lines import JsonObject
from agent_envs.tools import Toolbox
from agent_envs.tools._arguments import text_fault
from agent_envs.tools._sampling import sample_schema, sample_text

_UTF8_BYTES = 4
"""The most bytes one character takes."""
_SAMPLE_LENGTH = 64
_SURROGATE = re.compile("[\ud800-\udfff]")


class UnicodeText(Space[str]):
    """Every valid Unicode text of at most `max_length` characters, the empty one included."""

    def __init__(self, max_length: int, *, seed: int | np.random.Generator | None = None) -> None:
        if max_length < 1:
            raise ConfigError(f"max_length is {max_length}, expected at least 1 character")
        self.max_length = int(max_length)
        super().__init__(shape=None, dtype=None, seed=seed)

    @property
    def is_np_flattenable(self) -> bool:
        """False: a text has no fixed shape."""
        return False

    def sample(self, mask: None = None, probability: None = None) -> str:
        """A short random text."""
        self._refuse_masks(mask, probability)
        return sample_text(self.np_random, 0, min(self.max_length, _SAMPLE_LENGTH))

    def contains(self, x: object) -> bool:
        """Whether `x` is a string, short enough, and free of lone surrogates."""
        return isinstance(x, str) and len(x) <= self.max_length and (x.isascii() or not text_fault(x))

    def clip(self, text: str) -> str:
        """The nearest member: the middle of an overlong text gives way to a counted mark, lone surrogates to U+FFFD."""
        if len(text) > self.max_length:
            text = _elide_middle(text, self.max_length)
        return text if text.isascii() or not text_fault(text) else _SURROGATE.sub("\ufffd", text)

    def _refuse_masks(self, mask: object, probability: object) -> None:
        if mask is not None or probability is not None:
            raise ConfigError(f"{type(self).__name__}.sample takes no mask and no probability; every text is legal")

    def __repr__(self) -> str:
        return f"UnicodeText({self.max_length})"

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and isinstance(other, UnicodeText) and other.max_length == self.max_length

    def __hash__(self) -> int:
        return hash((type(self).__name__, self.max_length))


class ToolCallSpace(UnicodeText):
    """Text actions that should hold one tool call: every text is a member, and `sample` draws valid JSON calls."""

    def __init__(
        self, toolbox: Toolbox, max_length: int = 32_768, *, seed: int | np.random.Generator | None = None
    ) -> None:
        # Schemas and not tools, so that the space travels to a worker process wherever the tools were defined.
        self.tools: dict[str, JsonObject] = {tool.name: tool.parameters for tool in toolbox}
        """The JSON schema of each tool's arguments, by name."""
        super().__init__(max_length, seed=seed)

    def sample(self, mask: None = None, probability: None = None) -> str:
        """A random call, `{"name": ..., "arguments": ...}`, that its tool accepts."""
        self._refuse_masks(mask, probability)
        names = tuple(self.tools)
        for _ in range(100):
            name = names[int(self.np_random.integers(len(names)))]
            arguments = sample_schema(self.tools[name], self.tools[name], self.np_random)
            text = json.dumps({"name": name, "arguments": arguments}, ensure_ascii=False)
            if len(text) <= self.max_length:
                return text
        raise ConfigError(f"no call of {', '.join(names)} fits {self.max_length} characters; raise max_length")

    def __repr__(self) -> str:
        return f"ToolCallSpace([{', '.join(self.tools)}], {self.max_length})"

    def __eq__(self, other: object) -> bool:
        return super().__eq__(other) and isinstance(other, ToolCallSpace) and other.tools == self.tools

    def __hash__(self) -> int:
        return hash((type(self).__name__, self.max_length, tuple(self.tools)))


def _elide_middle(text: str, max_length: int) -> str:
    digits = len(str(len(text) - max_length))
    while True:
        keep = max_length - len(_mark("")) - digits
        dropped = str(len(text) - keep)
        if len(dropped) <= digits:
            break
        digits = len(dropped)
    if keep < 2:
        return text[:max_length]
    head = keep - keep // 2
    return text[:head] + _mark(dropped) + text[len(text) - keep // 2 :]


def _mark(count: str) -> str:
    return f"\n[... {count} characters left out ...]\n"


# Vector environments. `iterate` stays unregistered: a registered type makes Gymnasium transpose a batch of texts.


class _SharedTexts(Sequence[str]):
    """A live, read-only view of texts in shared memory; copying it gives a plain tuple.

    AsyncVectorEnv reads shared memory once, when it is built, and afterwards only deep-copies what it read: a tuple
    would show the first observation for ever.
    """

    def __init__(self, memory: Mapping[str, Any], n: int) -> None:
        self._lengths = np.frombuffer(memory["lengths"].get_obj(), dtype=np.int64)
        self._rows = np.frombuffer(memory["rows"].get_obj(), dtype=np.uint8).reshape(n, -1)

    def __len__(self) -> int:
        return len(self._lengths)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...
    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        if isinstance(index, slice):
            return tuple(self)[index]
        return self._rows[index, : self._lengths[index]].tobytes().decode()

    def __iter__(self) -> Iterator[str]:
        return (self[n] for n in range(len(self)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __deepcopy__(self, memo: dict[int, object]) -> tuple[str, ...]:
        return tuple(self)

    def __repr__(self) -> str:
        return repr(tuple(self))


@create_empty_array.register(UnicodeText)
def _empty_texts(space: UnicodeText, n: int = 1, fn: Callable[..., object] = np.zeros) -> tuple[str, ...]:
    return ("",) * n


@create_shared_memory.register(UnicodeText)
def _create_shared_texts(space: UnicodeText, n: int = 1, ctx: Any = multiprocessing) -> JsonObject:
    return {"lengths": ctx.Array("q", n), "rows": ctx.Array("B", n * space.max_length * _UTF8_BYTES)}


@read_from_shared_memory.register(UnicodeText)
def _read_shared_texts(space: UnicodeText, shared_memory: JsonObject, n: int = 1) -> _SharedTexts:
    return _SharedTexts(shared_memory, n)


@write_to_shared_memory.register(UnicodeText)
def _write_shared_text(space: UnicodeText, index: int, value: str, shared_memory: JsonObject) -> None:
    if value not in space:
        raise ConfigError(f"an observation of {len(value)} characters is no member of {space}; pass it through clip")
    encoded = value.encode()
    start = index * space.max_length * _UTF8_BYTES
    rows = np.frombuffer(shared_memory["rows"].get_obj(), dtype=np.uint8)
    rows[start : start + len(encoded)] = np.frombuffer(encoded, dtype=np.uint8)
    np.frombuffer(shared_memory["lengths"].get_obj(), dtype=np.int64)[index] = len(encoded)
