"""Runs in a sandbox: compares two mathematical texts. Algebra systems can be made to work for ever, so the host's clock
ends this process; it says first that the expected answer was read, to tell whose fault that was.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from agent_envs.verifiers.literals import decode, encode
from math_verify import parse, verify


def serve(receive: Callable[[], bytes], send: Callable[[bytes], None]) -> None:
    """Read the expected texts, then the answer, and say whether it equals one of them."""
    send(encode("ready"))
    golds = [_read(text) for text in decode(receive())]
    for gold in golds:  # what an algebra system cannot finish is found out here, and not on an answer
        verify(gold, _read("7"), timeout_seconds=None)
    send(encode([bool(gold) for gold in golds]))
    answer = _read(decode(receive()))
    equal = any(verify(gold, answer, timeout_seconds=None) for gold in golds) if answer else False
    send(encode({"read": bool(answer), "equal": bool(equal)}))


def _read(text: str) -> list[object]:
    """What the text means: the whole of it, unless it marks its formula itself."""
    marked = "$" in text or "\\boxed" in text or "\\(" in text or "\\[" in text
    power = re.sub(r"\*\*\s*(-?\w+)", r"^{\1}", text).replace("**", "^")  # TeX takes one digit as an exponent
    for form in (text,) if marked else (rf"\boxed{{{power}}}", power):
        if parsed := list(parse(form, fallback_mode="no_fallback", parsing_timeout=None)):
            return parsed
    return []
