"""What a log says of its tests. A log can be forged, so it is read only for tasks that come with nothing better."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

_WORST_FIRST = ("error", "failed", "skipped", "xfailed", "passed")
_PYTEST = re.compile(r"^(PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)\s+(\S.*?)(?: - .*)?$", re.MULTILINE)
_PYTEST_WORDS = {
    "PASSED": "passed",
    "XPASS": "passed",
    "FAILED": "failed",
    "ERROR": "error",
    "SKIPPED": "skipped",
    "XFAIL": "xfailed",
}
_UNITTEST = re.compile(r"(?P<test>\S.*?) \.\.\. *(?P<rest>.*)")
_UNITTEST_END = re.compile(r"(?:.* )?(ok|OK|FAIL|ERROR|skipped\b.*|expected failure|unexpected success)")
_UNITTEST_WORDS = {
    "ok": "passed",
    "OK": "passed",
    "FAIL": "failed",
    "ERROR": "error",
    "expected failure": "xfailed",
    "unexpected success": "failed",
}
_SYMPY = re.compile(r"^(test_\S+) (ok|F|E|f|s)(?:\s+\[\w+\])?\s*$", re.MULTILINE)
_SYMPY_WORDS = {"ok": "passed", "F": "failed", "E": "error", "f": "xfailed", "s": "skipped"}


def _pytest(log: str) -> Iterable[tuple[str, str]]:
    return ((test, _PYTEST_WORDS[word]) for word, test in _PYTEST.findall(log))


def _unittest(log: str) -> Iterable[tuple[str, str]]:
    """Lines as `test_x (module.Case) ... ok`; what a test prints may push the word to a later line."""
    waiting = ""
    for line in map(str.strip, log.splitlines()):
        begun = _UNITTEST.fullmatch(line)
        waiting, rest = (begun["test"], begun["rest"]) if begun else (waiting, line)
        end = _UNITTEST_END.fullmatch(rest) if begun or " " not in rest else None
        if waiting and end:
            yield waiting, _UNITTEST_WORDS.get(end[1], "skipped")
            waiting = ""


def _sympy(log: str) -> Iterable[tuple[str, str]]:
    return ((test, _SYMPY_WORDS[word]) for test, word in _SYMPY.findall(log))


_PARSERS: Mapping[str, Callable[[str], Iterable[tuple[str, str]]]] = MappingProxyType(
    {"pytest": _pytest, "sympy": _sympy, "unittest": _unittest}
)
LOG_PARSERS = tuple(_PARSERS)
"""The forms of a log that are known, for `Runner.log_parser`."""


def logged(parser: str, log: str) -> dict[str, str]:
    """The status of every test in a log of this form; the worst, where it says several."""
    found: dict[str, str] = {}
    for test, status in _PARSERS[parser](log):
        found[test] = min(status, found.get(test, "passed"), key=_WORST_FIRST.index)
    return found
