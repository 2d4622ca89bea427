"""Programs in processes of their own, started from a shell of ours: an exec for each would cost 60 ms."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from agent_envs.sandboxes.docker._exchange import Ground
from agent_envs.sandboxes.docker._guard import Guard
from agent_envs.sandboxes.docker._scripts import words
from agent_envs.sandboxes.docker._shell import DockerShell, ended
from agent_envs.sandboxes.protocol import RunResult, SessionState, Status


class Programs:
    """The shell that starts them, one after the other. What a program has started ends with it."""

    def __init__(self, ground: Ground, guard: Guard, others: Callable[[], Iterable[int]]) -> None:
        self._workspace = ground.workspace
        self._guard = guard
        self._others = others
        self._shell = DockerShell(ground, guard, others, ours=True)

    @property
    def number(self) -> int:
        """The number of its process inside the container, or 0."""
        return self._shell.number

    def run(
        self, argv: Sequence[str], *, stdin: bytes, timeout_s: float, cwd: str, env: Mapping[str, str]
    ) -> RunResult:
        """Run a program to its end."""
        if any("\0" in word for word in (*argv, cwd, *env, *env.values())):
            return RunResult(status=Status.ERROR, stderr=b"a command cannot hold a zero byte\n", exit_code=126)
        self._shell.await_start()
        self._guard.await_start()
        folder = posixpath.join(self._workspace, cwd)
        line = _line(
            argv,
            " ".join(str(other) for other in self._others() if other != self.number),
            size=len(stdin),
            folder=folder,
            env=env,
        )
        result = self._shell.run_bytes(os.fsencode(line), timeout_s=timeout_s, body=stdin)
        if result.state is SessionState.KEPT and result.status in (Status.OK, Status.ERROR):
            found = ended(result.exit_code, wall_s=result.wall_s)
            return replace(result, status=found.status, exit_code=found.exit_code, signal=found.signal)
        # It was killed; and if our own shell was lost with it, that is no loss to the agent.
        return replace(result, exit_code=-1, signal=result.signal or 9, state=SessionState.KEPT)

    def close(self) -> None:
        """End the shell; idempotent."""
        self._shell.close()


def _line(argv: Sequence[str], spared: str, *, size: int, folder: str, env: Mapping[str, str]) -> str:
    given = [f"{name}={value}" for name, value in env.items()]
    program = words("exec", *(("env", *given) if given else ()), *argv)
    source = "/dev/null"
    lines = ["agent_tick", "agent_from=$agent_up"]
    if size:
        lines.append(words("agent_save", size) + " || echo 'the input does not fit into /tmp' >&6")
        source = '"$agent_input"'
        program = f'rm -f "$agent_input"; {program}'
    lines += [
        f"( cd -- {words(folder)} || exit 127; {program} ) <{source} 2>&6 3<&- 5>&- 6>&-",
        "agent_status=$?",
        f'agent_end "$agent_from" "{spared}" $$ 0',
        "(exit $agent_status)",
    ]
    return "\n".join(lines)
