"""The dialect `auto`: whichever of the others the message is written in.

One decision: the format whose opening sign comes first is tried first, so that a call which quotes another format is
never taken for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from agent_envs.dialects._json_text import CALL_START
from agent_envs.dialects._parsed import Dialect, Parsed, Reading
from agent_envs.dialects._thought import UNCLOSED, split_thought
from agent_envs.dialects.code import CodeDialect
from agent_envs.dialects.fenced import FencedDialect
from agent_envs.dialects.hermes import HermesDialect
from agent_envs.dialects.json_object import JsonDialect
from agent_envs.dialects.react import ReactDialect
from agent_envs.dialects.xml import XmlDialect
from agent_envs.tools import Toolbox, ToolCall

_OPENERS = re.compile(
    r"(?P<hermes><tool_call>)|(?P<xml><tool[ \t\n]+name=|<function=|<invoke[ \t\n])|(?P<code><code>|<answer>)"
    r"|(?P<react>^[ \t]*Action[ \t]*:)|(?P<fenced>^[ \t]{0,3}`{3,})|(?P<json>" + CALL_START.pattern + ")",
    re.MULTILINE,
)
_MAX_OPENERS = 500


class AutoDialect:
    """Reads every format; teaches and writes `fenced`, which needs the least training."""

    name = "auto"

    def __init__(self) -> None:
        lenient: tuple[Dialect, ...] = (
            HermesDialect(),
            XmlDialect(),
            CodeDialect(thought_required=False),
            ReactDialect(),
            FencedDialect(),
            JsonDialect(),
        )
        self._dialects = {dialect.name: dialect for dialect in lenient}
        self._teacher = FencedDialect()

    def instructions(self, toolbox: Toolbox) -> str:
        """The text that teaches one format and the tools to a model."""
        return self._teacher.instructions(toolbox)

    def parse(self, text: str, toolbox: Toolbox) -> Parsed:
        """Read any text whatever; never raises."""
        reading = Reading(text, toolbox, "one tool call in any of the formats " + ", ".join(sorted(self._dialects)))
        split = split_thought(reading, opener="<tool name")
        if split is None:
            return reading.malformed(UNCLOSED)
        first: Parsed | None = None
        for name in self._order(text, split[0]):
            parsed = self._dialects[name].parse(text, toolbox)
            if parsed.error != "malformed":
                return parsed
            first = first or parsed
        return first or reading.no_call()

    def render(self, call: ToolCall, thought: str = "", *, toolbox: Toolbox | None = None) -> str:
        """The text that parses to this call and thought."""
        return self._teacher.render(call, thought, toolbox=toolbox)

    def _order(self, text: str, start: int) -> Iterator[str]:
        seen = set[str]()
        for sign in islice(_OPENERS.finditer(text, start), _MAX_OPENERS):
            if sign.lastgroup is not None and sign.lastgroup not in seen:
                seen.add(sign.lastgroup)
                yield sign.lastgroup
