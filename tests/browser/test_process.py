"""A browser works from wherever it is used, is replaced after a crash, and leaves nothing behind."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import gc
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from agent_envs.browser import BrowserOptions, _driver, _pool, _process, open_window
from agent_envs.browser._loop import call, shelf
from agent_envs.browser._process import _zygotes as zygotes
from agent_envs.browser.guest_warden import children
from agent_envs.errors import InfraError, SandboxDied, SandboxUnavailable

START = """
import os, sys, time
from agent_envs.browser import BrowserOptions, open_window
if __name__ == "__main__":
    window = open_window(BrowserOptions(), visits={}, now="2026-03-10T09:00:00", seed=0)
    print("open", flush=True)
"""
pytestmark = pytest.mark.usefixtures("a_browser")


class Program:
    """A program of its own that has opened a window, and then does what its end says."""

    def __init__(self, end: str, folder: Path) -> None:
        path = folder / "program.py"
        path.write_text(START + end)
        self.process = subprocess.Popen(
            [sys.executable, str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"TMPDIR": str(folder)},
        )

    def read(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    def tell(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()

    def kill(self) -> None:
        """End it, if it has not ended; idempotent. What it has forked may hold its output open, and is not waited for."""
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            assert stream is not None
            stream.close()


@pytest.fixture
def started(tmp_path: Path) -> Iterator[Callable[[str], Program]]:
    """Starts programs that work in the folder of the test, and ends them whatever becomes of the test."""
    programs: list[Program] = []

    def start(end: str) -> Program:
        programs.append(Program(end, tmp_path))
        assert programs[-1].read() == "open\n"
        return programs[-1]

    yield start
    for program in programs:
        program.kill()


def remains(folder: Path) -> list[str]:
    """The processes that were told of this folder, apart from programs that only were started with it."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if str(folder / "agent-envs-browser").encode() in (process / "environ").read_bytes():
                found.append((process / "cmdline").read_text(errors="replace").replace("\0", " ")[:100])
        except OSError:
            continue
    return found


def folders(folder: Path) -> list[Path]:
    """Those of browsers below this folder."""
    return list(folder.glob("agent-envs-browser-*"))


@pytest.mark.parametrize(
    "end",
    [
        "",
        "    sys.exit(3)",
        "    raise RuntimeError('a mistake')",
        "    os.kill(os.getpid(), 9)",
        "    os._exit(0)",
        "    os.kill(os.getpid(), 15)",
        "    if os.fork() == 0: time.sleep(60)\n    else: os.kill(os.getpid(), 9)",
    ],
    ids=["end", "exit", "error", "kill", "_exit", "terminate", "kill-with-a-forked-child"],
)
def test_nothing_remains_of_a_program_however_it_ends(started, eventually, end: str, tmp_path: Path) -> None:
    program = started(f"    input()\n{end}\n")
    assert len(remains(tmp_path)) > 2
    program.tell("end")
    program.process.wait(60)
    eventually(lambda: (remains(tmp_path), folders(tmp_path)), ([], []))


def test_what_a_killed_warden_left_is_removed_by_the_next_start(started, eventually, tmp_path: Path) -> None:
    program = started("    input()\n")
    (folder,) = folders(tmp_path)
    # Or it would start another driver for its next window, which removes the folder itself.
    program.process.send_signal(signal.SIGSTOP)
    os.kill(int((folder / "warden").read_text()), signal.SIGKILL)
    program.kill()
    eventually(lambda: remains(tmp_path), [])
    assert folder.exists()
    started("")
    assert not folder.exists()
    eventually(lambda: (remains(tmp_path), folders(tmp_path)), ([], []))


def test_the_number_of_a_killed_warden_is_nobodys_death(started, tmp_path: Path) -> None:
    program = started("    input()\n")
    (note,) = tmp_path.glob("agent-envs-browser-*/warden")
    warden = int(note.read_text())
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        # As if it got the number afterwards, when the folder may be gone already.
        note.write_text(str(other.pid))
        os.kill(warden, signal.SIGKILL)
        program.tell("end")
        program.process.wait(60)
        assert other.communicate(b"alive")[0] == b"alive"


def test_a_program_that_inherits_the_driver_of_another_one_starts_its_own(
    started, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = started("    while input(): print(window.new_tab().note, flush=True)\n")
    (folder,) = folders(tmp_path)
    # As if started by another thread of the first program, while its driver started.
    monkeypatch.setenv("PLAYWRIGHT_NODEJS_PATH", str(folder / "node"))
    started("")
    first.tell("open a tab")
    assert first.read() == "tab 2 is in front\n"


def test_a_driver_that_another_process_starts_by_mistake_touches_nothing(started, tmp_path: Path) -> None:
    started("    input()\n")
    (note,) = tmp_path.glob("agent-envs-browser-*/warden")
    warden = note.read_text()
    subprocess.run([note.with_name("node"), "--version"], timeout=60, check=False)
    assert note.read_text() == warden


def test_a_browser_of_another_program_is_left_alone(started, eventually, tmp_path: Path) -> None:
    first = started("    while input(): print(window.new_tab().note, flush=True)\n")
    of_the_first = folders(tmp_path)
    second = started("")
    second.process.wait(60)
    eventually(lambda: folders(tmp_path), of_the_first)
    first.tell("open a tab")
    assert first.read() == "tab 2 is in front\n"
    first.kill()
    eventually(lambda: (remains(tmp_path), folders(tmp_path)), ([], []))


def processes() -> list[int]:
    """The browsers below this process, by their ids: each leads a group."""
    mine = f"agent-envs-browser-{os.getuid()}-"
    found = []
    for stat in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = stat.read_text(errors="replace")
        except OSError:
            continue
        if "--remote-debugging-pipe" in line and mine in line and "--type=" not in line:
            found.append(int(stat.parent.name))
    return found


def kill_browser(how: signal.Signals = signal.SIGKILL) -> None:
    """Kill the browser of this process, as a crash would, or stop it."""
    for pid in own_browsers():
        os.kill(pid, how)


def own_browsers() -> list[int]:
    warden = own_warden()
    return [pid for pid in processes() if warden in ancestors(pid)]


def own_warden() -> int:
    """The process at the root of this process's browsers."""
    for note in Path(tempfile.gettempdir()).glob(f"agent-envs-browser-{os.getuid()}-*/warden"):
        # Those of others come and go meanwhile.
        with contextlib.suppress(OSError, ValueError):
            pid = int(note.read_text())
            if os.getpid() in ancestors(pid):
                return pid
    raise AssertionError("no browser of this process runs")


def own_folder(warden: int) -> Path:
    """The folder of a warden, as it was told."""
    return Path(Path(f"/proc/{warden}/cmdline").read_text().split("\0")[5])


def ancestors(pid: int) -> list[int]:
    found = []
    try:
        while pid > 1:
            pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()[1])
            found.append(pid)
    except OSError:
        return []
    return found


def test_every_feature_that_playwright_turns_off_is_off_still(open_pages) -> None:
    open_pages({"/": "Home"})
    line = Path(f"/proc/{own_browsers()[0]}/cmdline").read_text().split("\0")
    lists = [set(one.partition("=")[2].split(",")) for one in line if one.startswith("--disable-features=")]
    assert len(lists) == 2
    assert lists[0] < lists[1], "add what is missing to _process._WITHOUT"


def test_a_window_that_is_forgotten_is_closed(open_pages, eventually) -> None:
    held = open_pages({"/": "Home"}, ready=0)
    blank = held._desk.blank
    forgotten = open_window(BrowserOptions(ready=0), visits={}, now="2026-03-10T09:00:00", seed=0)
    context = forgotten._desk.blank.context
    assert context in blank.browser._handle.contexts
    del forgotten
    gc.collect()
    eventually(lambda: context in blank.browser._handle.contexts, False)


def test_a_crash_ends_the_episode_and_the_next_one_has_a_new_browser(open_pages) -> None:
    window = open_pages({"/": "Home"})
    kill_browser()
    with pytest.raises(SandboxDied):
        window.navigate("/")
    window.close()
    assert open_pages({"/": "Home"}).end_state()["urls"] == ["http://a.test/"]


def test_browsers_that_have_crashed_are_not_watched_any_more(open_pages, eventually) -> None:
    def watched() -> int:
        return sum(os.readlink(f"/proc/self/fd/{number}") == "anon_inode:[pidfd]" for number in descriptors())

    def descriptors() -> list[str]:
        return [number for number in os.listdir("/proc/self/fd") if os.path.lexists(f"/proc/self/fd/{number}")]

    window = open_pages({"/": "Home"}, ready=0)
    at_first = watched()
    for _ in range(3):
        kill_browser()
        with pytest.raises(SandboxDied):
            window.navigate("/")
        window = open_pages({"/": "Home"}, ready=0)
    eventually(watched, at_first)


def test_a_crash_in_the_middle_of_an_action_is_told_at_once(open_pages, monkeypatch: pytest.MonkeyPatch) -> None:
    # By the end of the browser alone: neither is the page given up nor does anybody ask whether the browser is there.
    monkeypatch.setattr(_process, "_SUSPECT_S", 300.0)
    asked = threading.Event()

    async def endless(scope: object) -> tuple[int, dict[str, str], str]:
        asked.set()
        await asyncio.sleep(300)
        return 200, {}, ""

    window = open_pages({"/": endless}, start="", timeout_s=200.0)
    with ThreadPoolExecutor(1) as other:
        acting = other.submit(window.navigate, "http://a.test/")
        assert asked.wait(60)
        kill_browser()
        with pytest.raises(SandboxDied):
            acting.result(100)


def kill_zygotes() -> None:
    """Kill the processes from which the browser forks those of its pages."""
    for pid in own_browsers():
        for zygote in zygotes(pid):
            os.kill(zygote, signal.SIGKILL)


def test_a_browser_that_can_start_no_process_any_more_is_replaced_at_once(open_pages, eventually) -> None:
    window = open_pages({"/": "Home"})
    assert window._desk is not None
    former = set(own_browsers())
    kill_zygotes()
    eventually(lambda: window._desk.blank.browser.alive, False)
    assert open_pages({"/": "Home"}).end_state()["urls"] == ["http://a.test/"]
    eventually(lambda: former & set(own_browsers()), set())


def test_a_browser_that_opens_no_window_is_ended(open_pages, monkeypatch: pytest.MonkeyPatch) -> None:
    window = open_pages({"/": "Home"}, ready=0)
    kill_browser()
    with pytest.raises(SandboxDied):
        window.navigate("/")
    # As if it were not known which they are.
    monkeypatch.setattr(_process, "_zygotes", lambda browser: [])
    window = open_pages({"/": "Home"}, ready=0)
    kill_zygotes()
    monkeypatch.setattr(_pool, "_OPENING_S", 3.0)
    monkeypatch.setattr(_process, "_TRIAL_S", 3.0)
    with pytest.raises(SandboxDied, match="opens no window"):
        open_pages({"/": "Home"}, ready=0)
    monkeypatch.undo()
    with pytest.raises(SandboxDied):
        window.navigate("/")
    assert open_pages({"/": "Home"}, ready=0).end_state()["urls"] == ["http://a.test/"]


def test_a_browser_that_refuses_the_options_of_a_window_keeps_the_others(open_pages) -> None:
    window = open_pages({"/": "Home"}, ready=0)
    with pytest.raises(SandboxUnavailable, match="Invalid locale"):
        open_pages({"/": "Home"}, ready=0, locale="de-1996-1996")
    assert window.navigate("http://a.test/").note == ""


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_a_dead_driver_is_replaced_too(open_pages, eventually, how: signal.Signals) -> None:
    window = open_pages({"/": "Home"})
    warden = own_warden()
    os.kill(warden, how)
    # Not: until there is none. For the next window another one may be started at once.
    eventually(lambda: Path(f"/proc/{warden}").exists(), False)
    with pytest.raises(SandboxDied):
        window.navigate("/")
    assert open_pages({"/": "Home"}).end_state()["urls"] == ["http://a.test/"]


def test_a_driver_that_dies_alone_is_replaced_before_its_warden_has_cleaned_up(open_pages) -> None:
    window = open_pages({"/": "Home"})
    warden = own_warden()
    (driver,) = children(warden)
    os.kill(warden, signal.SIGSTOP)
    try:
        os.kill(driver, signal.SIGKILL)
        with pytest.raises(SandboxDied):
            window.navigate("/")
        assert open_pages({"/": "Home"}).end_state()["urls"] == ["http://a.test/"]
    finally:
        os.kill(warden, signal.SIGCONT)


def test_a_dead_driver_is_not_taken_for_a_living_one_while_another_program_sweeps(open_pages) -> None:
    open_pages({"/": "Home"})
    warden = own_warden()
    with open(own_folder(warden) / "lock") as lock:
        os.kill(warden, signal.SIGKILL)
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert open_pages({"/": "Home"}).end_state()["urls"] == ["http://a.test/"]


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_folder_is_not_in_use_for_a_child_that_was_forked_while_its_driver_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with _driver._held_folder() as folder:
        child = os.fork()
        if child == 0:
            signal.pause()
    try:
        _driver.sweep()
        assert not folder.exists()
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def test_the_port_of_a_window_stays_taken_until_the_browser_has_put_it_away(open_pages) -> None:
    window = open_pages({"/": "Home"})
    assert window._desk is not None
    blank = window._desk.blank

    def is_taken() -> bool:
        with socket.socket() as other:
            return other.connect_ex(("127.0.0.1", blank.gateway.port)) == 0

    async def close() -> tuple[bool, bool]:
        await blank.close()
        at_first = is_taken()
        await asyncio.wait(shelf()["leaving"])
        return at_first, is_taken()

    assert call(close(), timeout_s=60) == (True, False)


def test_a_browser_that_hangs_ends_the_episode_and_is_replaced(open_pages, monkeypatch: pytest.MonkeyPatch) -> None:
    window = open_pages({"/": "Home"})
    monkeypatch.setattr(_process, "_SUSPECT_S", 0.5)
    monkeypatch.setattr(_process, "_ANSWER_S", 2.0)
    kill_browser(signal.SIGSTOP)
    with pytest.raises(SandboxDied):
        window.navigate("/")
    window.close()
    monkeypatch.undo()
    assert open_pages({"/": "Home"}).end_state()["urls"] == ["http://a.test/"]


def test_it_works_beside_a_running_event_loop(open_pages) -> None:
    async def beside() -> list[str]:
        urls: list[str] = open_pages({"/": "Home"}).end_state()["urls"]
        return urls

    assert asyncio.run(beside()) == ["http://a.test/"]


def test_eight_threads_have_eight_windows(open_pages) -> None:
    def visit(number: int) -> str:
        window = open_pages({f"/{number}": f"Page {number}"}, start=f"/{number}")
        window.navigate(f"/{number}?again")
        url: str = window.end_state()["urls"][0]
        return url

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(visit, range(8))) == [f"http://a.test/{n}?again" for n in range(8)]


def _in_a_child() -> None:
    try:
        window = open_window(BrowserOptions(), visits={}, now="2026-03-10T09:00:00", seed=0)
        window.new_tab()
        window.close()
    except InfraError as error:
        os.write(2, f"{error}\n".encode())
        os._exit(1)
    os._exit(0)


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forked_child_has_a_browser_of_its_own_and_leaves_its_parents_alone(open_pages) -> None:
    window = open_pages({"/": "Home"})
    child = os.fork()
    if child == 0:
        try:
            with pytest.raises(SandboxDied, match="forked"):
                window.look()
            window.close()
            _in_a_child()
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    window.navigate("/")
    assert window.end_state()["urls"] == ["http://a.test/"]


SPAWN = """
import multiprocessing
from agent_envs.browser import BrowserOptions, open_window

def visit(number):
    window = open_window(BrowserOptions(), visits={}, now="2026-03-10T09:00:00", seed=number)
    return window.end_state()["urls"]

if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        print(pool.map(visit, range(2)))
"""


def test_spawned_workers_have_one_too(eventually, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(SPAWN)
    env = os.environ | {"TMPDIR": str(tmp_path)}
    done = subprocess.run([sys.executable, program], env=env, capture_output=True, text=True, timeout=300, check=True)
    assert done.stdout == "[['about:blank'], ['about:blank']]\n"
    eventually(lambda: (remains(tmp_path), folders(tmp_path)), ([], []))
