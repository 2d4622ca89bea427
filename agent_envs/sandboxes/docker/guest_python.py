"""The program of a Python process in a container: one program, one that speaks in messages, or a session. Untrusted.

It is read here and runs there, under any Python 3, together with what the other backend's guests run.
"""

from __future__ import annotations

import ast
import builtins
import json
import os
import resource
import sys
import time
from typing import NoReturn

from agent_envs.sandboxes.namespaces import _guest

# As in _guest: out of the reach of a guest who replaces builtins, as are the functions that are bound here.
__builtins__ = dict(vars(builtins))  # type: ignore[assignment]
_dumps, _parse, _getpid, _write = json.dumps, ast.parse, os.getpid, os.write
_process_time, _getrusage = time.process_time, resource.getrusage

_LONGEST_VALUE = 15_000


def main(kind: str, mark: str) -> NoReturn:
    """Do what this process was started for."""
    if kind == "program":
        _guest.run_program(_take(0, int(_line(0))), {})
    line, answers = _private(0, os.O_RDONLY), _private(1, os.O_WRONLY)
    if kind == "channel":
        # Its messages are the only thing on that way out: whatever it prints goes where its errors go.
        os.dup2(2, 1)
        source = _take(line, int(_line(line)))
        functions = {"receive": _guest.channel(line)["receive"], "send": _guest.channel(answers)["send"]}
        _guest.run_program(source, functions)
    os.dup2(answers, 1)
    _Session(line, answers, mark).serve()


class _Session:
    """An interpreter that keeps its state between the cells it is sent."""

    def __init__(self, line: int, answers: int, mark: str) -> None:
        self._line = line
        self._answers = answers
        self._mark = mark.encode()
        self._pid = _getpid()
        self._main = _guest.new_main()

    def serve(self) -> NoReturn:
        while True:
            number, size = _line(self._line).split()
            worked = _process_time()
            status, raised, value = self._run(_take(self._line, int(size)), f"<cell {number.decode()}>")
            if _getpid() != self._pid:
                # The guest has forked, and this is its child at the end of the cell.
                _guest.leave(status)
            _guest.flush()
            memory_kb = _getrusage(resource.RUSAGE_SELF).ru_maxrss
            answer = _dumps([status, raised, _process_time() - worked, memory_kb, value]).encode()
            _send(self._answers, b"\0" + self._mark + answer + b"\0")
            _send(2, b"\0" + self._mark + b"\0")

    def _run(self, code: bytes, name: str) -> tuple[int, bool, str]:
        try:
            _guest.remember_lines(name, code)
            tree = _parse(code, name)
            last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
            exec(compile(tree, name, "exec", dont_inherit=True), self._main.__dict__)
            if not isinstance(last, ast.Expr):
                return 0, False, ""
            expression = compile(ast.Expression(last.value), name, "eval", dont_inherit=True)
            return 0, False, _shown(eval(expression, self._main.__dict__))
        except SystemExit as error:
            status = _guest.exit_status(error)
            return status, bool(status), ""
        except BaseException as error:  # noqa: BLE001 - whatever a guest raises is its result
            _guest.show_error(error)
            return 1, True, ""


def _shown(value: object) -> str:
    if value is None:
        return ""
    text = repr(value)
    if len(text) > _LONGEST_VALUE:
        return f"{text[:_LONGEST_VALUE]}... ({len(text) - _LONGEST_VALUE} more characters)"
    return text


def _private(descriptor: int, mode: int) -> int:
    """Keep this descriptor where no program inherits it, and leave nothing in its place."""
    kept = os.dup(descriptor)
    nothing = os.open(os.devnull, mode)
    os.dup2(nothing, descriptor)
    os.close(nothing)
    return kept


def _line(descriptor: int) -> bytes:
    found = b""
    while not found.endswith(b"\n"):
        found += _take(descriptor, 1)
    return found[:-1]


def _take(descriptor: int, size: int) -> bytes:
    parts = []
    while size > 0:
        part = os.read(descriptor, min(size, 1 << 20))
        if not part:
            sys.exit(0)
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _send(descriptor: int, packet: bytes) -> None:
    while packet:
        packet = packet[_write(descriptor, packet) :]
