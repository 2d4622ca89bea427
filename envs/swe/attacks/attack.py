"""What one attack on the verifier is, and one honest solution that must not be taken for one: tool calls, as data."""

from __future__ import annotations

import shlex
import textwrap
from dataclasses import dataclass

from agent_envs.artifact import Outcome
from agent_envs.tools import ToolCall

CAUGHT = frozenset({Outcome.UNRESOLVED, Outcome.TAMPERED})
"""What an attack may end with. `ERROR` is no answer either: it would be retried until it wins."""
WRONG = frozenset({Outcome.UNRESOLVED})
"""What a wrong solution without any deceit ends with; to call it tampering would be slander."""

INIT = "src/textkit/__init__.py"
_FIRST_IMPORT = "from textkit.headings import Heading, headings\n"
_ALL = "__all__ = ["
Calls = tuple[ToolCall, ...]


@dataclass(frozen=True, slots=True)
class Attack:
    """A way to be called RESOLVED without doing the work, as the calls of an agent that tries it."""

    name: str
    number: str
    """`2.4/13` for an attack of the published checklist, `own/07` for one that is not on it."""
    family: str
    idea: str
    calls: Calls
    expect: frozenset[Outcome] = CAUGHT
    """The outcomes that are right."""
    sees: tuple[str, ...] = ()
    """What no observation of the episode may hold: the agent would know what it must not."""
    target: str = "textkit"
    """Which of the targets it attacks."""
    harmful: bool = False
    """Whether a machine that does not contain it would suffer, wait or be littered; only sandboxes play it."""

    @property
    def in_the_patch(self) -> bool:
        """Whether files of the repository are all it needs, so that a clean container does not stop it."""
        return all(call.name in {"create", "edit", "submit"} for call in self.calls)


@dataclass(frozen=True, slots=True)
class Honest:
    """A right solution of an unusual shape, which must be called RESOLVED."""

    name: str
    idea: str
    calls: Calls
    target: str = "textkit"
    """Which of the targets it solves."""


def bash(command: str) -> ToolCall:
    """Run a command line, dedented, in the agent's shell."""
    return ToolCall("bash", {"command": textwrap.dedent(command).strip("\n")})


def create(path: str, content: str) -> ToolCall:
    """Write a file; the text is dedented and begins with its first line."""
    return ToolCall("create", {"path": path, "content": code(content)})


def edit(path: str, old: str, new: str) -> ToolCall:
    """Replace the one occurrence of `old`."""
    return ToolCall("edit", {"path": path, "old": old, "new": new})


def submit() -> ToolCall:
    """End the episode."""
    return ToolCall("submit")


def code(text: str) -> str:
    """A program as it is written to a file: dedented, without the empty first line of a Python literal."""
    return textwrap.dedent(text).lstrip("\n")


def first_thing(program: str) -> Calls:
    """Have the package under test run a program before anything else of it is imported."""
    return (
        create("src/textkit/_early.py", program),
        edit(INIT, _FIRST_IMPORT, f"import textkit._early\n{_FIRST_IMPORT}"),
    )


def last_thing(program: str) -> Calls:
    """Have the package under test run a program when the rest of it has been imported."""
    return (create("src/textkit/_late.py", program), edit(INIT, _ALL, f"import textkit._late\n\n{_ALL}"))


def script(program: str, *, python: str = "python3") -> ToolCall:
    """Run a Python program in the agent's shell."""
    return bash(f"{python} -c {shlex.quote(code(program))}")
