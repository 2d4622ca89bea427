"""The `pdb` tool: breakpoints that outlive runs and edits, and one debugged run at a time."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import cache
from importlib.resources import files

from agent_envs.errors import ToolFailed
from agent_envs.sandboxes import Channel, Sandbox
from agent_envs.sandboxes.protocol import ChannelClosed, text

_PLACE = re.compile(r"(?P<path>[^\s:]+):(?P<line>\d+)(?:\s+if\s+(?P<condition>.+)|\s*,\s*(?P<after>.+))?$")
_PROMPT = "(Pdb) "
_HOW = "the commands are: break FILE:LINE [if CONDITION], clear [FILE:LINE], breaks, run TEST, quit"


@dataclass(frozen=True, slots=True)
class _Break:
    path: str
    line: int
    condition: str
    source: tuple[str, ...]
    """The lines of the file when the line was chosen, by which it is found again after edits."""

    def __str__(self) -> str:
        condition = f" if {self.condition}" if self.condition else ""
        return f"{self.path}:{self.line}{condition}\t{self.source[self.line - 1].strip()}"


class Debugger:
    """Breakpoints of one episode, and the run that is being debugged.

    Args:
        sandbox: Where the run happens.
        read: The text of a file of the repository; raises `ToolFailed` where there is none.
        workspace: The absolute path of the repository.
        paths: Absolute folders in front of `sys.path`.
        seconds: Longest time between two stops.
    """

    def __init__(
        self, sandbox: Sandbox, read: Callable[[str], str], *, workspace: str, paths: list[str], seconds: float
    ) -> None:
        self._sandbox = sandbox
        self._read = read
        self._workspace = workspace
        self._paths = paths
        self._seconds = seconds
        self._breaks: list[_Break] = []
        self._run: Channel | None = None

    def command(self, command: str, *, tests_at: str) -> str:
        """Carry out one command and return what the agent sees."""
        word, _, rest = command.strip().partition(" ")
        rest = rest.strip()
        match word:
            case "":
                raise ToolFailed(f"the command is empty; {_HOW}")
            case "break" | "b" if rest:
                return self._set(rest)
            case "clear" | "cl":
                return self._clear(rest)
            case "breaks" | "break" | "b":
                return self._listed()
            case "run" | "restart" if rest:
                return self._begin(rest, tests_at)
            case "quit" | "q" | "exit":
                self.close()
                return "the debugged run is ended; breakpoints are kept"
        if self._run is None:
            raise ToolFailed(f"nothing is being debugged: begin with `run TEST`; {_HOW}")
        return self._ask(command.encode("utf-8", "replace"))

    def close(self) -> None:
        """End the debugged run, if there is one."""
        run, self._run = self._run, None
        if run is not None:
            run.result()

    def _set(self, words: str) -> str:
        place = _PLACE.match(words)
        if place is None:
            raise ToolFailed(f"{words!r} is no place for a breakpoint; expected FILE:LINE, such as src/app.py:12")
        path, line = self._relative(place["path"]), int(place["line"])
        source = tuple(self._read(path).split("\n"))
        if not 1 <= line <= len(source) or not source[line - 1].strip():
            raise ToolFailed(f"{path} has no code at line {line}; view the file for its numbers")
        chosen = _Break(path, line, place["condition"] or place["after"] or "", source)
        self._breaks = [one for one in self._breaks if (one.path, one.line) != (path, line)] + [chosen]
        said = f"breakpoint at {chosen}"
        return f"{said}\n(it holds from the next `run` on)" if self._run is not None else said

    def _clear(self, words: str) -> str:
        kept = []
        if words:
            path, _, line = words.rpartition(":")
            kept = [one for one in self._breaks if not (one.path == self._relative(path) and str(one.line) == line)]
            if len(kept) == len(self._breaks):
                raise ToolFailed(f"there is no breakpoint at {words}; {self._listed()}")
        self._breaks = kept
        return self._listed()

    def _listed(self) -> str:
        gone = self._relocate()
        shown = "\n".join(map(str, self._breaks)) or "no breakpoints"
        return f"{shown}{gone}"

    def _relocate(self) -> str:
        """Move breakpoints with their lines; says which of them are gone with theirs."""
        gone, kept = [], []
        for one in self._breaks:
            moved = self._moved(one)
            kept += [moved] if moved else []
            gone += [] if moved else [f"\nremoved, because its line is gone: {one}"]
        self._breaks = kept
        return "".join(gone)

    def _moved(self, one: _Break) -> _Break | None:
        try:
            source = tuple(self._read(one.path).split("\n"))
        except ToolFailed:
            return None
        if source == one.source:
            return one
        for a, b, size in SequenceMatcher(None, one.source, source).get_matching_blocks():
            if a <= one.line - 1 < a + size:
                return replace(one, line=one.line + b - a, source=source)
        return None

    def _begin(self, target: str, tests_at: str) -> str:
        self.close()
        gone = self._relocate()
        job = {
            "folder": self._workspace,
            "root": tests_at,
            "paths": self._paths,
            "target": f"{tests_at}/{target.removeprefix(tests_at).lstrip('/')}",
            "breaks": [self._planted(one, tests_at) for one in self._breaks],
        }
        self._run = self._sandbox.open_channel(f"{_program()}\nserve(receive, send)\n")
        return gone.lstrip("\n") + self._ask(json.dumps(job).encode())

    def _planted(self, one: _Break, tests_at: str) -> tuple[str, int, str | None]:
        """A breakpoint in a test stops in the copy that is run."""
        place = one.path if one.path.startswith("/") else f"{self._workspace}/{one.path}"
        if tests_at != self._workspace and one.path.split("/")[0] in ("test", "tests"):
            place = f"{tests_at}/{one.path}"
        return place, one.line, one.condition or None

    def _ask(self, message: bytes) -> str:
        assert self._run is not None
        try:
            self._run.send(message, timeout_s=self._seconds)
            answer = json.loads(self._run.receive(timeout_s=self._seconds))
        except ChannelClosed as closed:
            run, self._run = self._run, None
            errors = text(run.result().stderr)[-1500:]
            return f"{errors}\n[the debugged run is over: {closed}]".lstrip("\n")
        seen = str(answer["seen"]).removesuffix(_PROMPT).rstrip("\n").removesuffix(_PROMPT.strip()).rstrip("\n")
        if answer["ended"]:
            self.close()
            return f"{seen}\n[the run is over; pytest's status is {answer['status']}]".lstrip("\n")
        return seen

    def _relative(self, path: str) -> str:
        return path.removeprefix(f"{self._workspace}/").removeprefix("./")


@cache
def _program() -> str:
    return files("agent_envs.envs.swe").joinpath("guest_pdb.py").read_text("utf-8")
