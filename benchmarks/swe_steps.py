"""One trivial command of AgentRL/SWE-v0 in a container, beside the socket it travels over and what others use."""

from __future__ import annotations

import shutil
import statistics
import time
from collections.abc import Callable
from contextlib import ExitStack, closing

from measure import Once, Report, Stopwatch, interleave, spawned
from peers import DEBUG_GYM, IMAGE, LABEL, MINI_SWE_AGENT, SWE_REX, SWE_REX_UNCHECKED, Peer, RunningPeer
from python_sandbox_loop import attribute, stations
from swe_raw import LABEL as OUR_LABEL
from swe_raw import Raw, RawBash
from swe_task import Player

_BATCH = 20
"""Commands in a row of what takes less than a millisecond."""
_OURS = "ours: env.step through gymnasium.make, Docker"
_SHELL = "ours: the shell of the sandbox, Docker"
_RAW = "a raw bash on an attached exec socket"
_PEERS = {
    "swe-rex 1.4.0, run_in_session": SWE_REX,
    "swe-rex 1.4.0, without the exit status": SWE_REX_UNCHECKED,
    "mini-swe-agent 2.4.6, DockerEnvironment.execute": MINI_SWE_AGENT,
    "debug-gym 1.3.0, DockerTerminal.run": DEBUG_GYM,
}
_FASTER_THAN = ("swe-rex", "mini-swe-agent")


def measure_steps(report: Report, player: Player, raw: Raw, *, rounds: int) -> None:
    """The same command by every way there is into a container of the same image."""
    report.section("one command that does nothing (`true`), in a running container")
    player.reset()
    player.command()
    container = raw.start()
    with ExitStack() as open_ones, closing(RawBash(raw, container)) as bash:
        shell = player.session._shell
        assert shell is not None
        contenders: dict[str, Once] = {
            _OURS: _each(player.command),
            _SHELL: _each(lambda: _fine(shell.run("true").exit_code)),
            _RAW: _each(lambda: _fine(bash.run("true")[0])),
            "docker SDK, a new exec": lambda: raw.exec(container),
        }
        if command := shutil.which("docker"):
            contenders["docker exec (command line)"] = spawned(command, "exec", container, "true")
        contenders |= _peers(report, raw, open_ones)
        spreads = interleave(contenders, rounds=rounds)
    raw.remove(container)
    ours, floor = spreads[_OURS].median, spreads[_RAW].median
    for name, spread in spreads.items():
        note = f"p95 {spread.p95 * 1e3:.3f}" + ("" if name == _OURS else f"; takes {spread.median / ours:,.1f}x ours")
        report.add(name, spread.median * 1e3, "ms", note=note)
    report.add("ours, beyond the raw bash", (ours - floor) * 1e3, "ms", at_most=0.3)
    for name, spread in spreads.items():
        if name.startswith(_FASTER_THAN):
            report.add(f"{name.partition(',')[0]} / ours", spread.median / ours, "x", at_least=40, note=name)
    _profile(report, player, rounds=rounds)


def _profile(report: Report, player: Player, *, rounds: int) -> None:
    watch = Stopwatch()
    with watch.on(*stations(player.env, player.session._shell)):
        for _ in range(_BATCH * rounds):
            player.command()
    attribute(report, watch)
    player.drop()


def _each(once: Callable[[], object]) -> Once:
    """Seconds of the usual one of some calls in a row."""

    def several() -> float:
        taken = []
        for _ in range(_BATCH):
            began = time.perf_counter()
            once()
            taken.append(time.perf_counter() - began)
        return statistics.median(taken)

    return several


def _fine(status: int) -> None:
    assert status == 0


def _peers(report: Report, raw: Raw, open_ones: ExitStack) -> dict[str, Once]:
    """Those that are installed and start here; what does not is named in the report."""
    found: dict[str, Once] = {}
    for name, peer in _PEERS.items():
        if not peer.installed:
            report.remark(f"{peer.name}: not installed: {peer.how}")
        elif not shutil.which("docker"):
            report.remark(f"{peer.name}: not measured: it needs the program `docker` (Debian: docker-cli or docker.io)")
        else:
            try:
                found[name] = open_ones.enter_context(_started(peer, raw))
            except RuntimeError as why:
                report.remark(f"{peer.name}: not measured: {why}")
    return found


def _started(peer: Peer, raw: Raw) -> RunningPeer:
    # The container of this one has to hold a server of its own; there is no network to fetch it over.
    image = raw.image_with(peer.guest_folder) if peer.guest else raw.image
    return RunningPeer(peer, {IMAGE: image, LABEL: OUR_LABEL})
