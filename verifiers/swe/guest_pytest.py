"""One run of a repository's tests in a fresh sandbox: the program of the only process there, with pytest at hand.

The job comes over standard input, the records leave over what was standard output. The code under test shares this
process, so a record proves nothing by itself: the host mixes in runs that must fail (`agent_envs.verifiers.swe`).
"""

from __future__ import annotations

import ast
import base64
import builtins
import collections
import contextlib
import dataclasses
import datetime
import decimal
import enum
import fractions
import gc
import importlib
import itertools
import json
import operator
import os
import pathlib
import shutil
import sys
import types
from typing import Any

_UNUSED = ("cacheprovider", "junitxml", "nose", "pastebin", "setuponly", "setupplan", "stepwise")
LONGEST = 2000
"""Characters of one failure that are worth keeping."""
MOST = 100_000
"""Parts of one value that are told."""
MOST_PRIVATE = 1_000
"""Parts of an object's private fields that are told."""


def main() -> None:
    """Lay the job's files over the workspace, run pytest, and report each test as one line of JSON."""
    job = json.loads(sys.stdin.buffer.read())
    report = _Report(_take_over_output(), job)
    workspace = job["workspace"]
    os.chdir(workspace)
    for path in job["delete"]:
        _remove(path)
    for path, (content, executable) in job["write"].items():
        _write(path, base64.b64decode(content), executable)
    planted = {module: _append(job["paths"], module, source) for module, source in job["append"].items()}
    os.environ.update(job["env"])
    builtins._sealed_ = report.sealed  # type: ignore[attr-defined]
    builtins._raises_ = report.raises  # type: ignore[attr-defined]
    sys.dont_write_bytecode = True
    # All of pytest is loaded before the repository can offer a module of the same name; nothing of it is garbage.
    gc.disable()
    import pytest

    gc.enable()
    sys.path[:0] = [os.path.normpath(os.path.join(workspace, path)) for path in job["paths"]]
    os.environ["PYTHONPATH"] = os.pathsep.join(sys.path[: len(job["paths"])])
    for module, path in planted.items():
        report.write(planted=module, at=path or _execute(module, job["append"][module]))
    plugins = [word for name in job["plugins"] for word in ("-p", name)]
    options = ["--rootdir", workspace, "-o", "addopts=", "-q", "--tb=short", "--no-header"]
    options += [word for name in _UNUSED for word in ("-p", f"no:{name}")]
    status = pytest.main([*options, *plugins, *job["targets"]], plugins=[report])
    report.write(end=int(status))
    os._exit(0)


def _take_over_output() -> int:
    """The only way to the host, which no program started by a test inherits; what tests print goes to the errors."""
    records = os.dup(1)
    os.set_inheritable(records, False)
    os.dup2(2, 1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    return records


def _remove(path: str) -> None:
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.unlink(path)


def _write(path: str, content: bytes, executable: bool) -> None:
    folder = ""
    for part in path.split("/")[:-1]:
        folder = os.path.join(folder, part)
        if not os.path.isdir(folder) or os.path.islink(folder):
            _remove(folder)
            os.mkdir(folder)
    _remove(path)
    with open(path, "wb") as file:
        file.write(content)
    os.chmod(path, 0o755 if executable else 0o644)


def _append(roots: list[str], module: str, source: str) -> str:
    """Add source to a module of the workspace; its path is returned, or nothing where there is no such file."""
    place = module.replace(".", "/")
    for path in [os.path.join(root, place + ending) for root in roots for ending in (".py", "/__init__.py")]:
        if os.path.isfile(path):
            with open(path, "a", encoding="utf-8") as file:
                file.write(source)
            return path
    return ""


def _execute(module: str, source: str) -> str:
    """Run source in a module that is made by others as they are loaded; nothing is returned where there is none."""
    try:
        importlib.import_module(module)
        exec(source, {"__name__": module})
    except BaseException:  # noqa: BLE001 - whatever the code under test does when it is loaded
        return ""
    return module


class _Report:
    """A pytest plugin that reports what cannot be collected, and each phase of each test."""

    def __init__(self, records: int, job: dict[str, Any]) -> None:
        self._records = records
        self._resumed = frozenset(job["resumed"])
        paths = {test.partition("::")[0] for test in self._resumed}
        self._sources = {path: base64.b64decode(job["write"][path][0]).decode() for path in paths}
        self._test = ""

    def write(self, **record: object) -> None:
        line = json.dumps(record).encode() + b"\n"
        while line:
            line = line[os.write(self._records, line) :]

    def sealed(self, key: str, values: list[object], wanted: list[object] | None = None) -> bool:
        """Report what a test has got; whether that is right is not known here."""
        more: dict[str, Any] = {}
        if wanted is not None:
            more["wanted"] = [_Teller(wanted=True).of(value) for value in wanted]
        tellers = [_Teller() for _ in values]
        told = [teller.of(value) for teller, value in zip(tellers, values, strict=True)]
        said = [
            [_says(operator.eq, *pair), isinstance(pair[1], _SEARCHED) and _says(_is_in, *pair)]
            if tellers[place].loose and tellers[place + 1].loose
            else None
            for place, pair in enumerate(itertools.pairwise(values))
        ]
        if any(said):
            more["said"] = said
        self.write(sealed=key, test=self._test, told=told, **more)
        return True

    def raises(self, key: str, wanted: list[object] | None = None) -> Any:
        """A block of which the exception is reported, whatever it is, and goes no further."""
        return _Block(self, key, wanted)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._test = nodeid

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self.write(broken=report.nodeid, why=str(report.longrepr)[-LONGEST:])

    def pytest_exception_interact(self, node: Any, call: Any, report: Any) -> None:
        problem = call.excinfo.value
        try:
            said = str(problem)[:LONGEST]
        except Exception:  # noqa: BLE001 - whatever the code under test does when it is looked at
            said = ""
        names = [base.__name__ for base in type(problem).__mro__]
        if report.when == "call":
            self.write(raised=[_Teller().of((names, said))], test=report.nodeid)
            if report.nodeid.partition("[")[0] in self._resumed:
                _go_on(node, call.excinfo.tb, self._sources.get(report.nodeid.partition("::")[0], ""))

    def pytest_runtest_logreport(self, report: Any) -> None:
        outcome = "xfailed" if hasattr(report, "wasxfail") else report.outcome
        why = "" if report.passed else str(report.longrepr)[-LONGEST:]
        self.write(test=report.nodeid, when=report.when, outcome=outcome, why=why)


def _go_on(node: Any, trace: Any, source: str) -> None:
    """What a test has still to do after a statement that raised: it may report what the exception has left behind."""
    function = getattr(node.obj, "__func__", node.obj)
    while trace is not None and trace.tb_frame.f_code is not function.__code__:
        trace = trace.tb_next
    if trace is None:
        return
    tests = [one for one in ast.walk(ast.parse(source)) if isinstance(one, ast.FunctionDef)]
    for test in tests:
        if min([test.lineno, *(one.lineno for one in test.decorator_list)]) == function.__code__.co_firstlineno:
            rest = [statement for statement in test.body if statement.lineno > trace.tb_lineno]
            code = compile(ast.Module(rest, []), function.__code__.co_filename, "exec")
            with contextlib.suppress(BaseException):
                exec(code, {**function.__globals__, **trace.tb_frame.f_locals})


class _Block:
    """What `pytest.raises` does, without knowing for what."""

    def __init__(self, report: _Report, key: str, wanted: list[object] | None) -> None:
        self._report, self._key, self._wanted = report, key, wanted

    def __enter__(self) -> Any:
        pytest: Any = sys.modules["pytest"]
        kind: Any = type("Caught", (pytest.ExceptionInfo,), {"exception": property(lambda info: info.value)})
        self._info = kind.for_later()
        return self._info

    def __exit__(self, kind: Any, problem: Any, trace: Any) -> bool:
        outcome = sys.modules["pytest"].skip.Exception.__mro__[1]
        if problem is None:
            return self._report.sealed(self._key, [None], self._wanted)
        if isinstance(problem, (outcome, KeyboardInterrupt, GeneratorExit)):
            return False
        self._info.fill_unfilled((kind, problem, trace))
        names = [base.__name__ for base in type(problem).__mro__]
        return self._report.sealed(self._key, [(names, str(problem)[:LONGEST])], self._wanted)


_PLAIN: tuple[tuple[Any, str, Any], ...] = (
    (int, "i", int.__repr__),
    (float, "f", float.__repr__),
    (str, "s", str.__str__),
)
_SEARCHED = (list, tuple, set, frozenset, dict)


def _is_in(value: Any, values: Any) -> bool:
    return value in values


def _says(question: Any, one: Any, other: Any) -> bool:
    """What objects say of each other."""
    try:
        return bool(question(one, other))
    except Exception:  # noqa: BLE001 - whatever the code under test does when it is asked
        return False


class _Teller:
    """Makes JSON data of one value, keeping its types; the methods are those of the plain types, not of a subclass."""

    def __init__(self, *, wanted: bool = False) -> None:
        self._wanted = wanted
        self._left = MOST
        self.loose = False
        """Whether something was told that has an idea of its own of equality."""

    def of(self, value: Any) -> list[Any]:
        """The value; of one that cannot be told, or is endless, only its type."""
        try:
            return self._of(value, 0)
        except Exception:  # noqa: BLE001 - whatever the code under test does when it is looked at
            return ["?", type(value).__name__, None]

    def _of(self, value: Any, depth: int) -> list[Any]:
        self._left -= 1
        if self._left < 0:
            raise OverflowError("too many parts")
        if value is None or value is True or value is False:
            return ["n"] if value is None else ["B", value]
        if depth > 50:
            return ["?", "too deep"]
        if isinstance(value, enum.Enum) and not isinstance(value, (tuple, bytes)):
            return self._of_member(value, depth)
        value = _underlying(value)
        for kind, tag, plain in _PLAIN:
            if isinstance(value, kind):
                return [tag, plain(value)]
        if isinstance(value, (bytes, bytearray)):
            return ["b", bytes(memoryview(value)).decode("latin-1")]
        if isinstance(value, dict):
            pairs = dict.items(value)
            return ["D", [[self._of(key, depth + 1), self._of(part, depth + 1)] for key, part in pairs]]
        members: tuple[tuple[Any, str], ...] = ((list, "l"), (tuple, "t"), (set, "S"), (frozenset, "S"))
        for base, tag in members:
            if isinstance(value, base):
                return [tag, [self._of(part, depth + 1) for part in base.__iter__(value)]]
        for exact, name in ((decimal.Decimal, "Decimal"), (fractions.Fraction, "Fraction")):
            if isinstance(value, exact):
                return ["x", name, exact.__str__(value)]
        return self._of_object(value, depth)

    def _of_member(self, value: Any, depth: int) -> list[Any]:
        """A member of an enumeration; one that is a number or a text besides is told as both."""
        kind = type(value).__qualname__
        for base, tag, plain in _PLAIN:
            if isinstance(value, base):
                return ["e", [tag, plain(value)], f"{value._name_}", kind]
        return ["o", [["is", ["s", f"{value._name_}"]]], kind, _truth(value)]

    def _of_object(self, value: Any, depth: int) -> list[Any]:
        known = _known(value)
        if known is not None:
            kind, words = known
            return ["o", [["is", ["s", words]]], kind, _truth(value)]
        tag, fields = "o", _fields(value)
        if fields is None and not self._wanted:
            self.loose = True
            tag, fields = "p", _attributes(value, private=False)
        told = [[name, self._of(part, depth + 1)] for name, part in (fields or {}).items()]
        if tag == "p" and not told:
            told = self._private(value, depth)
        if fields is None or (tag == "p" and not told):
            return ["?", type(value).__name__, _truth(value)]
        return [tag, told, type(value).__qualname__, _truth(value)]

    def _private(self, value: Any, depth: int) -> list[list[Any]]:
        """The private fields of an object that has no others, unless a whole machinery hangs from them."""
        teller = _Teller()
        teller._left = min(MOST_PRIVATE, self._left)
        try:
            return [[name, teller._of(part, depth + 1)] for name, part in _attributes(value, private=True).items()]
        except OverflowError:
            return []


def _known(value: Any) -> tuple[str, str] | None:
    """The name of a type of the standard library that a value is of, or derives from, and the value in words."""
    date, time, delta = datetime.date, datetime.time, datetime.timedelta
    if isinstance(value, type):
        return "type", value.__name__
    if isinstance(value, datetime.datetime):
        aware = datetime.datetime.utcoffset(value) is not None
        moment = datetime.datetime.astimezone(value, datetime.UTC) if aware else value
        return "datetime", datetime.datetime.isoformat(moment)
    if isinstance(value, delta):
        parts = {name: getattr(delta, name).__get__(value) for name in ("days", "seconds", "microseconds")}
        return "timedelta", repr(delta(**parts))
    others: tuple[tuple[Any, Any], ...] = ((date, date.isoformat), (time, time.isoformat))
    others += ((complex, complex.__repr__), (range, range.__repr__))
    for path in (pathlib.PurePosixPath, pathlib.PureWindowsPath):
        others += ((path, lambda value, path=path: f"{path.__name__}({path.as_posix(value)!r})"),)
    return next(((base.__name__, words(value)) for base, words in others if isinstance(value, base)), None)


def _fields(value: Any) -> dict[str, Any] | None:
    """What makes an object equal to another one of its type, where that is public and nobody's own idea."""
    if not dataclasses.is_dataclass(value):
        return None
    compared = [field.name for field in dataclasses.fields(value) if field.compare]
    made = getattr(type(value).__eq__, "__code__", None)
    if made is None or made.co_filename != "<string>" or any(name[:1] == "_" for name in compared):
        return None
    return {name: getattr(value, name) for name in compared}


def _attributes(value: Any, *, private: bool) -> dict[str, Any]:
    names = [*getattr(value, "__dict__", ()), *getattr(type(value), "__slots__", ())]
    kept = (name for name in names if (name[:1] == "_") == private and name[:2] != "__")
    return {name: getattr(value, name) for name in kept if hasattr(value, name)}


def _truth(value: Any) -> bool | None:
    try:
        return bool(value)
    except Exception:  # noqa: BLE001 - whatever the code under test does when it is asked
        return None


def _underlying(value: Any) -> Any:
    """The plain value that something stands for which Python itself takes for equal to it."""
    if isinstance(value, (types.MappingProxyType, collections.UserDict)):
        return dict(value)
    if isinstance(value, collections.UserList):
        return list(value)
    if isinstance(value, collections.UserString):
        return str(value)
    if isinstance(value, (type({}.keys()), type({}.items()))):
        return set(value)
    if isinstance(value, memoryview):
        return bytes(value)
    return value


main()
