"""Runs in the checker's sandbox: executes the dataset's own asserts, where every entry point is a proxy.

Calls go out and exactly-typed values come back, so the asserts compare builtins with builtins. Its last message is the
only thing that can say "passed". No code of the candidate is ever in this process.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from contextlib import suppress
from resource import RLIMIT_CPU, setrlimit
from typing import NoReturn

from agent_envs.verifiers.literals import LiteralMalformed, LiteralRefused, decode, encode

_FAULTS = (NameError, ImportError, SyntaxError)


def serve(receive: Callable[[], bytes], send: Callable[[bytes], None]) -> None:
    """Read one job, run it, and say how it ended."""
    checker = _Checker(receive, send, decode(receive()))
    send(b"V" + encode(checker.run()))


class _Stop(BaseException):
    """The checks cannot go on; no `except Exception` of theirs may swallow it."""


class _Checker:
    def __init__(self, receive: Callable[[], bytes], send: Callable[[bytes], None], job: dict[str, str]) -> None:
        self.receive, self.send, self.job = receive, send, job
        self.calls = self.passed = 0
        self.stopped: tuple[str, str] | None = None
        self.crossed: list[BaseException] = []
        self.texts: dict[str, list[str]] = {}
        self.checks: list[Callable[[], object]] = []

    def run(self) -> dict[str, object]:
        with suppress(ValueError, OSError):
            setrlimit(RLIMIT_CPU, (int(self.job["cpu_s"]),) * 2)
        if error := _trouble(self._prepare):
            return self._said("fault", f"the checks cannot be set up: {_words(error)}", error)
        for check in self.checks:
            if (error := _trouble(check)) or self.stopped:
                return self._failure(error)
            self.passed += 1
        return self._said("passed", "") if self.calls else self._said("fault", "no check calls the program")

    def _failure(self, error: BaseException | None) -> dict[str, object]:
        if self.stopped:
            return self._said(*self.stopped)
        if any(error is known for known in self.crossed):
            return self._said("failed", f"the program raised {_words(error)}", error)
        if type(error) is not UnboundLocalError and isinstance(error, _FAULTS):
            return self._said("fault", f"a check raised {_words(error)}", error)
        return self._said("failed", _words(error), error)

    def _said(self, outcome: str, why: str, error: BaseException | None = None) -> dict[str, object]:
        counts = {"calls": self.calls, "checks_passed": self.passed, "checks": len(self.checks)}
        return {"outcome": outcome, "why": why[:1000], "where": self._line(error), **counts}

    def _line(self, error: BaseException | None) -> str:
        """The innermost line of the checks through which the error came."""
        line, trace = "", error.__traceback__ if error else None
        while trace:
            text = self.texts.get(trace.tb_frame.f_code.co_filename, [])
            line = text[trace.tb_lineno - 1].strip()[:500] if trace.tb_lineno <= len(text) else line
            trace = trace.tb_next
        return line

    def _prepare(self) -> None:
        namespace: dict[str, object] = {"__name__": "checks", "__builtins__": builtins}
        proxies = {name: self._proxy(name) for name in self.job["entry_points"]}
        self._execute("prelude", namespace)
        self._execute("reference", namespace)
        if self.job["asserts"] or not self.job["reference"]:
            namespace.update(proxies)
        self._execute("test", namespace)
        check = namespace.get("check")
        if self.job["asserts"]:
            self.checks = [self._assertion(number, namespace) for number in range(len(self.job["asserts"]))]
        elif callable(check):
            self.checks = [lambda: check(proxies[self.job["entry_points"][0]])]
        else:
            self.checks = [test for name, test in namespace.items() if name.startswith("test_") and callable(test)]
        if not self.checks:
            raise ValueError("the test source defines neither check(candidate) nor a function test_...")

    def _execute(self, part: str, namespace: dict[str, object]) -> None:
        self.texts[f"<{part}>"] = self.job[part].splitlines()
        exec(compile(self.job[part], f"<{part}>", "exec", dont_inherit=True), namespace)

    def _assertion(self, number: int, namespace: dict[str, object]) -> Callable[[], object]:
        name, text = f"<assert {number}>", self.job["asserts"][number]
        self.texts[name] = text.splitlines()
        code = compile(text, name, "exec", dont_inherit=True)
        return lambda: exec(code, namespace)

    def _proxy(self, name: str) -> Callable[..., object]:
        def candidate(*args: object, **kwargs: object) -> object:
            return self._call(name, args, kwargs)

        candidate.__name__ = candidate.__qualname__ = name
        return candidate

    def _call(self, name: str, args: tuple[object, ...], kwargs: dict[str, object]) -> object:
        self.calls += 1
        try:
            request = encode((name, args, kwargs))
        except LiteralRefused as refusal:
            self._stop("fault", f"a check passes an argument that cannot be sent: {refusal}")
        self.send(b"C" + request)
        reply = self.receive()
        try:
            *content, state = decode(reply[1:])
            if state:
                for old, new in zip((*args, *kwargs.values()), (*state[0], *state[1].values()), strict=True):
                    _update(old, new)
            if reply[:1] == b"R":
                (value,) = content
                return value
            error = _exception(*content)
        except (LiteralMalformed, ValueError, TypeError, AttributeError, IndexError, KeyError) as flaw:
            self._stop("malformed", f"the program's process sent a malformed answer: {flaw}")
        self.crossed.append(error)
        raise error

    def _stop(self, outcome: str, why: str) -> NoReturn:
        self.stopped = (outcome, why)
        raise _Stop


def _trouble(step: Callable[[], object]) -> BaseException | None:
    try:
        step()
    except BaseException as error:  # noqa: BLE001 - a SystemExit or a failed assert must never read as a pass
        return error
    return None


def _update(old: object, new: object) -> object:
    """Give a mutable argument the content that the call left in it, keeping every container that is still one."""
    if type(old) is not type(new):
        return new
    if isinstance(old, list) and isinstance(new, list):
        old[:] = [_update(a, b) for a, b in zip(old, new, strict=False)] + new[len(old) :]
    elif isinstance(old, dict) and isinstance(new, dict):
        content = {key: _update(old[key], value) if key in old else value for key, value in new.items()}
        old.clear()
        old.update(content)
    elif isinstance(old, set) and isinstance(new, set):
        old.clear()
        old.update(new)
    elif isinstance(old, tuple) and isinstance(new, tuple) and len(old) == len(new):
        same = tuple(_update(a, b) for a, b in zip(old, new, strict=True))
        return old if all(a is b for a, b in zip(old, same, strict=True)) else same
    else:
        return new
    return old


def _exception(names: list[str], arguments: tuple[object, ...]) -> Exception:
    """The nearest builtin exception; one that ends loops silently becomes an ordinary error."""
    for name in names:
        kind = vars(builtins)[name]
        if not (isinstance(kind, type) and issubclass(kind, Exception)):
            break
        if issubclass(kind, (StopIteration, StopAsyncIteration)):
            return RuntimeError(f"{name} left the program")
        with suppress(TypeError):
            return kind(*arguments)
    raise ValueError(f"{names!r:.80} names no exception")


def _words(error: BaseException | None) -> str:
    try:
        message = str(error)
    except ValueError:  # an integer of more digits than Python prints
        message = ""
    return f"{type(error).__name__}: {message}" if message else type(error).__name__
