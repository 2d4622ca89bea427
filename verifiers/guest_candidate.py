"""Runs in the candidate's sandbox: loads the submitted program, then answers one call at a time with literals.

Nothing here is trusted. Whatever the program does to this process, all it can send is the value of a call, and the
checker, in another sandbox, compares that value.
"""

from __future__ import annotations

import builtins
import math
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import islice
from os import _exit, getpid
from resource import RLIMIT_CPU, RUSAGE_SELF, getrlimit, getrusage, setrlimit
from types import ModuleType
from typing import TypeVar

from agent_envs.verifiers.literals import LiteralRefused, decode, encode

T = TypeVar("T")
TOKEN_BYTES = 16
_PLAIN = (type(None), bool, int, float, complex, str, bytes)
_EXCEPTIONS = {name: kind for name, kind in vars(builtins).items() if isinstance(kind, type)}


def serve(receive: Callable[[], bytes], send: Callable[[bytes], None]) -> None:
    """Answer frames until the host ends the process; each answer carries the token of its question."""
    process = getpid()
    frame = receive()
    candidate = _Candidate(decode(frame[TOKEN_BYTES:]))
    reply = candidate.load()
    while True:
        if getpid() != process:  # a child that the program forked came back out of the call: it must not answer too
            _exit(0)
        send(frame[:TOKEN_BYTES] + reply)
        frame = receive()
        reply = candidate.answer(frame[TOKEN_BYTES:])


class _Candidate:
    def __init__(self, job: dict[str, str]) -> None:
        self.sources = [job["preamble"], job["source"]]
        self.call_s = float(job["call_s"])
        self.materialise = int(job["materialise"])
        self.module = sys.modules["solution"] = ModuleType("solution")

    def load(self) -> bytes:
        return self._guarded(self._load)

    def answer(self, request: bytes) -> bytes:
        return self._guarded(lambda: self._call(request)) if request else b"Q"

    def _guarded(self, step: Callable[[], bytes]) -> bytes:
        self._allow_cpu()
        reply, error = _attempted(step)
        if isinstance(error, LiteralRefused):
            return b"X" + encode(f"returned {error}")
        return reply if reply is not None else b"X" + encode(f"raised {type(error).__name__}, which ends a program")

    def _allow_cpu(self) -> None:
        used = getrusage(RUSAGE_SELF)
        hard = getrlimit(RLIMIT_CPU)[1]
        with suppress(ValueError, OSError):  # where it is refused, the host's clock is the only limit
            setrlimit(RLIMIT_CPU, (math.ceil(used.ru_utime + used.ru_stime + self.call_s), hard))

    def _load(self) -> bytes:
        for source in self.sources:
            _, error = _attempted(lambda source=source: self._execute(source))  # type: ignore[misc]
            if error is not None:
                return b"X" + encode(f"could not be loaded: {type(error).__name__}: {_words(error)}")
        return b"R" + encode((None, None))

    def _execute(self, source: str) -> None:
        exec(compile(source, "solution.py", "exec", dont_inherit=True), vars(self.module))

    def _call(self, request: bytes) -> bytes:
        name, args, kwargs = decode(request)
        function = vars(self.module).get(name)
        if function is None:
            return b"X" + encode(f"does not define {name}")
        before = b"" if all(type(arg) in _PLAIN for arg in (*args, *kwargs.values())) else encode((args, kwargs))
        value, error = _attempted(lambda: self._plain(function(*args, **kwargs)))
        if error is not None and (isinstance(error, LiteralRefused) or not isinstance(error, Exception)):
            raise error
        state = (args, kwargs) if before and encode((args, kwargs)) != before else None
        if error is None:
            return b"R" + encode((value, state))
        return b"E" + encode((_builtin_bases(error), _arguments(error), state))

    def _plain(self, value: object) -> object:
        """A one-shot iterable as a list, where the task asks for it."""
        if not self.materialise or type(value) in (*_PLAIN, list, tuple, dict, set, frozenset):
            return value
        if not isinstance(value, Iterable):
            return value
        items = list(islice(value, self.materialise + 1))
        if len(items) > self.materialise:
            raise LiteralRefused(f"an iterable of more than {self.materialise} items")
        return items


def _attempted(step: Callable[[], T]) -> tuple[T | None, BaseException | None]:
    try:
        return step(), None
    except BaseException as error:  # noqa: BLE001 - foreign code may raise anything, and all of it is an answer
        return None, error


def _builtin_bases(error: BaseException) -> list[str]:
    return [kind.__name__ for kind in type(error).__mro__ if _EXCEPTIONS.get(kind.__name__) is kind]


def _arguments(error: BaseException) -> tuple[object, ...]:
    try:
        encode(error.args)
    except LiteralRefused:
        return ()
    return error.args


def _words(error: BaseException) -> str:
    return error.args[0][:300] if error.args and type(error.args[0]) is str else ""
