"""The agent's side of a repository: a shell, a few tools for reading and editing, the visible tests, a debugger."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from dataclasses import replace
from difflib import SequenceMatcher

from agent_envs.envs.swe.debugger import Debugger
from agent_envs.envs.swe.edits import numbered, replaced, window
from agent_envs.verifiers.swe.task import SweTask

from agent_envs.artifact import Artifact
from agent_envs.errors import ToolFailed
from agent_envs.sandboxes import Shell
from agent_envs.sandboxes.images import ImageSandbox
from agent_envs.sandboxes.protocol import RunResult, text
from agent_envs.session import Session, result_of
from agent_envs.tools import ToolResult, tool

TESTS_AT = "/tests"
"""Where the visible tests are mounted, read-only."""

READ_BYTES = 1 << 20
_VIEW_LINES = 400
_DIFFED_LINES = 2_000
_MATCHES = 60
_MATCH_CHARS = 240


_COUNTS = r"\d{1,9} [a-z]{1,12}(?:, \d{1,9} [a-z]{1,12}){0,9}"
_SECONDS = re.compile(rf"(?m)^(=* ?(?:{_COUNTS}|no tests ran)) in [\d.]{{1,20}}s(?: \([\d:]{{1,20}}\))?")


def timeless(output: str) -> str:
    """pytest's output without how long it took, which no two equal runs share."""
    return _SECONDS.sub(r"\1", output)


class SweSession(Session):
    """One agent at work on one repository."""

    def __init__(self, task: SweTask, sandbox: ImageSandbox, *, command_seconds: float) -> None:
        self._task = task
        self._sandbox = sandbox
        self._seconds = command_seconds
        self._workspace = task.recipe.workspace
        self._shell: Shell | None = None
        self._hands: Shell | None = None
        self._debugger = Debugger(
            sandbox, self._read, workspace=self._workspace, paths=self._python_paths(), seconds=command_seconds
        )
        self._submitted = False
        self._artifact: Artifact | None = None

    @tool(code="command", language="bash")
    def bash(self, command: str) -> ToolResult:
        """Run a command line in a bash that keeps its working directory, variables and functions between calls.

        There is no network. A command that takes too long is stopped with everything it started.

        Args:
            command: One or more lines of shell.
        """
        if self._shell is None:
            self._shell = self._sandbox.open_shell()
        return result_of(self._shell.run(command, timeout_s=self._seconds), seconds=self._seconds, keeps="shell")

    @tool
    def view(self, path: str, first: int = 1, last: int = 0) -> ToolResult:
        """Show a text file with line numbers, or what is in a folder.

        Args:
            path: Relative to the repository, or absolute.
            first: The first line to show.
            last: The last line to show; 0 means as far as fits.
        """
        if (listing := self._do('test -d "$1" && ls -1Ap -- "$1"', path)).ok:
            return ToolResult(text(listing.stdout).rstrip("\n") or "(an empty folder)")
        content = self._read(path)
        total = content.count("\n") + (not content.endswith("\n") and content != "")
        if last and last < first:
            raise ToolFailed(f"last={last} comes before first={first}; give the first and the last line to show")
        end = min(last or first + _VIEW_LINES - 1, first + _VIEW_LINES - 1, total)
        if total and not 1 <= first <= total:
            raise ToolFailed(f"{path} has {total} lines; first={first} is not among them")
        rest = f"\n[lines {first} to {end} of {total}]" if first > 1 or end < total else ""
        return ToolResult((text(numbered(content, first=first, last=end).encode()) or "(an empty file)") + rest)

    @tool
    def edit(self, path: str, old: str, new: str) -> ToolResult:
        """Replace one piece of a text file by another.

        Args:
            path: Relative to the repository, or absolute.
            old: The exact text to replace, whitespace included; it must occur exactly once.
            new: What takes its place.
        """
        content = self._read(path)
        after = replaced(content, old, new, path=path)
        self._write(path, after)
        return ToolResult(f"edited {path}:\n{window(after, new, content.index(old))}")

    @tool
    def create(self, path: str, content: str) -> ToolResult:
        """Write a text file, making its folders; an older one is replaced.

        Args:
            path: Relative to the repository, or absolute.
            content: The whole text of the file.
        """
        self._write(path, content)
        return ToolResult(f"wrote {len(content.splitlines())} lines to {path}")

    @tool
    def search(self, pattern: str, path: str = ".", files: str = "") -> ToolResult:
        """Find the lines that match an extended regular expression.

        Args:
            pattern: The expression, as `grep -E` reads it.
            path: The file or folder to search.
            files: Only files whose names match this, for instance `*.py`.
        """
        if not pattern:
            raise ToolFailed("the pattern is empty, so every line would match; give something to look for")
        options = ["--exclude-dir=.git", "--exclude-dir=__pycache__", "-m", "20"]
        options += [f"--include={files}"] if files else []
        ran = self._do('grep -rnIE "$@"', *options, "-e", pattern, "--", path)
        if ran.exit_code > 1:
            raise ToolFailed(text(ran.stderr).strip() or f"the search ended with status {ran.exit_code}")
        lines = [line[:_MATCH_CHARS] for line in text(ran.stdout).splitlines()]
        if not lines:
            return ToolResult("no line matches")
        more = f"\n[{len(lines) - _MATCHES} more; narrow the search]" if len(lines) > _MATCHES else ""
        return ToolResult("\n".join(lines[:_MATCHES]) + more)

    @tool
    def run_tests(self, target: str = "") -> ToolResult:
        """Run the visible tests, in their own untouched copy.

        Args:
            target: A test file or a pytest id, such as `tests/test_x.py::test_y`; empty means all of them.
        """
        where = TESTS_AT if self._task.visible_tests else self._workspace
        place = f"{where}/{target.removeprefix(where).lstrip('/')}" if target else where
        python = shlex.join(shlex.split(self._task.runner.python))
        paths = ":".join(self._python_paths())
        ran = self._do(
            f"PYTHONPATH={shlex.quote(paths)} PYTHONDONTWRITEBYTECODE=1 {python} -m pytest -q --tb=short"
            ' -p no:cacheprovider "$@"',
            f"--rootdir={where}",
            place,
            timeout_s=self._task.runner.timeout_s,
        )
        result = result_of(ran, seconds=self._task.runner.timeout_s)
        return replace(result, text=timeless(result.text))

    @tool
    def pdb(self, command: str) -> ToolResult:
        """Debug a test. Breakpoints are kept from run to run, and move with the lines when files are edited.

        Args:
            command: `break FILE:LINE [if CONDITION]`, `clear [FILE:LINE]`, `breaks`, `run TEST` to begin (it stops at
                the first breakpoint, or where the test fails), `quit`; while stopped, any command of Python's pdb:
                `next`, `step`, `continue`, `return`, `where`, `up`, `down`, `list`, `args`, `p EXPRESSION`.
        """
        where = TESTS_AT if self._task.visible_tests else self._workspace
        return ToolResult(timeless(self._debugger.command(command, tests_at=where)))

    @tool
    def submit(self) -> ToolResult:
        """Submit the repository as it is now. This ends the episode."""
        self._submitted = True
        return ToolResult("submitted", ends=True)

    def freeze(self) -> Artifact:
        """What differs from the repository the agent was given; the sandbox does nothing any more afterwards."""
        changes = self._sandbox.freeze_changes()
        self._artifact = Artifact(
            submitted=self._submitted, files=changes.files, rejected=changes.rejected, state=changes.state
        )
        return self._artifact

    def close(self) -> None:
        """Destroy the sandbox."""
        self._sandbox.close()

    @property
    def isolation(self) -> str:
        """The tier of the sandbox."""
        return self._sandbox.isolation

    @property
    def metrics(self) -> dict[str, float]:
        """`diff_lines`: lines added plus lines removed, where the original text is known; `diff_files`."""
        if self._artifact is None:
            return {}
        gone = self._artifact.state.get("deleted", [])
        lines = sum(self._changed_lines(path, content) for path, content in self._artifact.files.items())
        lines += sum(self._changed_lines(path, b"") for path in gone)
        return {"diff_lines": float(lines), "diff_files": float(len(self._artifact.files) + len(gone))}

    def _changed_lines(self, path: str, content: bytes) -> int:
        file = self._task.recipe.files.get(path)
        before = file.content.splitlines() if file is not None else []
        after = content.splitlines()
        if max(len(before), len(after)) > _DIFFED_LINES:
            # What is told exactly takes the square of it; lines that only moved do not count here.
            was, now = Counter(before), Counter(after)
            return (was - now).total() + (now - was).total()
        steps = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
        return sum((i2 - i1) + (j2 - j1) for kind, i1, i2, j1, j2 in steps if kind != "equal")

    def _python_paths(self) -> list[str]:
        return [f"{self._workspace}/{path}".removesuffix("/.") for path in self._task.runner.paths]

    def _read(self, path: str) -> str:
        """The text of a file that the agent may read, wherever it is."""
        ran = self._do('test -f "$1" && head -c "$2" -- "$1"', path, str(READ_BYTES + 1))
        if not ran.ok:
            raise ToolFailed(text(ran.stderr).strip() or f"there is no file {path}")
        if len(ran.stdout) > READ_BYTES:
            raise ToolFailed(f"{path} is larger than {READ_BYTES} bytes; use bash to look at parts of it")
        try:
            return ran.stdout.decode("utf-8")
        except UnicodeDecodeError:
            raise ToolFailed(f"{path} is no UTF-8 text; use a program, through bash") from None

    def _write(self, path: str, content: str) -> None:
        self._sandbox.write_file(path, content.encode("utf-8", "surrogatepass"))

    def _do(self, script: str, *arguments: str, timeout_s: float = 0.0) -> RunResult:
        """Run a script of ours on `$1`, `$2` and so on, in a second shell that never leaves the repository."""
        if any("\0" in argument for argument in arguments):
            raise ToolFailed("a path or pattern cannot hold a zero byte")
        if self._hands is None:
            self._hands = self._sandbox.open_shell()
        line = f"(cd {shlex.quote(self._workspace)} && set -- {shlex.join(arguments)} && {{ {script}; }})"
        return self._hands.run(line, timeout_s=timeout_s or self._seconds)
