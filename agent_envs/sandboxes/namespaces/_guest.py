"""What runs in the guest's own process: its program, and the little of ours around it. Nothing here is trusted.

The program may replace any builtin or module it likes; what is needed afterwards is bound before it runs.
"""

from __future__ import annotations

import atexit
import builtins
import gc
import linecache
import os
import signal
import struct
import sys
import threading
import traceback
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import NoReturn

# The functions below look their builtins up here, so that a guest who replaces `print` or `len` does not reach them.
__builtins__ = dict(vars(builtins))  # type: ignore[assignment]

_format_exception = traceback.format_exception
_LENGTH = struct.Struct("<I")
_LARGEST_MESSAGE = 64 << 20


def run_program(source: bytes, names: Mapping[str, object]) -> NoReturn:
    """Run source text as `__main__` and leave with its exit status."""
    status = 1
    try:
        main = new_main()
        main.__dict__.update(names)
        remember_lines("<program>", source)
        exec(compile(source, "<program>", "exec", dont_inherit=True), main.__dict__)
        status = 0
    except SystemExit as error:
        status = exit_status(error)
    except BaseException as error:  # noqa: BLE001 - whatever a guest raises is its result
        show_error(error)
    finally:
        leave(status)


def new_main() -> ModuleType:
    """A real `__main__`, without which multiprocessing and pickle do not find the guest's functions."""
    main = ModuleType("__main__")
    main.__dict__["__builtins__"] = builtins
    sys.modules["__main__"] = main
    gc.enable()
    return main


def remember_lines(name: str, source: bytes) -> None:
    """Let tracebacks show the lines of source text that is in no file."""
    text = source.decode("utf-8", "replace")
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)


def exit_status(error: SystemExit) -> int:
    """The exit status that this exception stands for, after showing its message if it has one."""
    code = error.code
    if code is None:
        return 0
    if isinstance(code, int):
        return int(code) & 0xFF
    _write_error(f"{code}\n")
    return 1


def show_error(error: BaseException) -> None:
    """Write the traceback, from the guest's first frame on."""
    trace = error.__traceback__
    while trace is not None and str(trace.tb_frame.f_globals.get("__name__")).startswith("agent_envs."):
        trace = trace.tb_next
    try:
        lines = _format_exception(error.with_traceback(trace))
    except BaseException:  # noqa: BLE001 - the guest may have broken what formats it
        lines = [f"{type(error).__name__} (its traceback cannot be shown)\n"]
    _write_error("".join(lines))


def _write_error(text: str) -> None:
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except BaseException:  # noqa: BLE001 - the guest may have closed or replaced it
        try:  # noqa: SIM105 - contextlib uses builtins that the guest may have replaced
            os.write(2, text.encode("utf-8", "backslashreplace"))
        except OSError:
            pass


def flush() -> None:
    """Let go of what the guest printed."""
    for stream in (sys.stdout, sys.stderr):
        try:  # noqa: SIM105 - contextlib uses builtins that the guest may have replaced
            stream.flush()
        except BaseException:  # noqa: BLE001 - the guest may have closed or replaced it
            pass


_shutdown_threads: Callable[[], None] = vars(threading)["_shutdown"]
_run_exit_functions: Callable[[], None] = vars(atexit)["_run_exitfuncs"]


def leave(status: int) -> NoReturn:
    """End this process as an interpreter ends: threads are joined, exit functions run, output is flushed."""
    try:
        _shutdown_threads()
        _run_exit_functions()
    except BaseException as error:  # noqa: BLE001 - whatever a guest raises is its result
        show_error(error)
    finally:
        try:
            signal.set_wakeup_fd(-1)
            flush()
        finally:
            os._exit(status)


def channel(descriptor: int) -> dict[str, object]:
    """The functions `receive` and `send` for a program that speaks with the host."""

    def read(size: int) -> bytes:
        parts = []
        while size > 0:
            part = os.read(descriptor, min(size, 1 << 20))
            if not part:
                raise SystemExit(0)
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def receive() -> bytes:
        """Wait for one message; the program ends where no more will come."""
        return read(_LENGTH.unpack(read(_LENGTH.size))[0])

    def send(message: bytes) -> None:
        """Send one message."""
        if len(message) > _LARGEST_MESSAGE:
            raise ValueError(f"a message may have {_LARGEST_MESSAGE} bytes, this one has {len(message)}")
        packet = memoryview(_LENGTH.pack(len(message)) + message)
        while packet:
            packet = packet[os.write(descriptor, packet) :]

    return {"receive": receive, "send": send}
