"""What runs in the image's own interpreter, as source text. Nothing of it is trusted.

It is read by whatever Python an image has, from 3.6 on, so it is kept to what that one knows. The program of the agent
comes through a descriptor: a command line would bound its length, and would not show its lines in a traceback.
"""

from __future__ import annotations

PRIVATE = 3
"""The descriptor at which a program finds its line to the host, or the agent's program where it needs no line."""
CODE = 4
"""Where it finds the agent's program beside a line."""

_COMMON = r"""
import sys
# Our own modules must not come out of the folder that the agent works in; its program looks there first.
sys.path[:] = sys.path[1:]
import ast, builtins, linecache, os, resource, struct, time, traceback, types
sys.path.insert(0, "")
# A dictionary of its own: an agent who replaces `print` or `len` does not reach the functions below.
__builtins__ = dict(vars(builtins))
show_exception = traceback.print_exception
old_main = sys.modules["__main__"]
main = sys.modules["__main__"] = types.ModuleType("__main__")
main.__dict__["__builtins__"] = builtins
sys.argv[:] = [""]
def remember(name, source):
    text = source.decode("utf-8", "replace")
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
def show(error):
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_globals is globals_of_ours:
        trace = trace.tb_next
    try:
        show_exception(type(error), error, trace)
    except BaseException:
        os.write(2, (type(error).__name__ + " (its traceback cannot be shown)\n").encode("utf-8", "replace"))
globals_of_ours = globals()
"""

_RUN = r"""
def run(descriptor, names):
    source = b""
    while True:
        piece = os.read(descriptor, 1 << 20)
        if not piece:
            break
        source += piece
    os.close(descriptor)
    remember("<program>", source)
    main.__dict__.update(names)
    try:
        exec(compile(source, "<program>", "exec", 0, True), main.__dict__)
    except SystemExit:
        raise
    except BaseException as error:
        show(error)
        sys.exit(1)
"""

PROGRAM = f"{_COMMON}{_RUN}\nrun({PRIVATE}, {{}})\n"
"""Runs the program as `__main__`."""

CHANNEL = (
    _COMMON
    + _RUN
    + f"""
LENGTH = struct.Struct("<I")
os.set_inheritable({PRIVATE}, False)
def read(size, get=os.read):
    parts = []
    while size > 0:
        part = get({PRIVATE}, min(size, 1 << 20))
        if not part:
            raise SystemExit(0)
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
def receive():
    return read(LENGTH.unpack(read(LENGTH.size))[0])
def send(message, put=os.write):
    packet = memoryview(LENGTH.pack(len(message)) + message)
    while packet:
        packet = packet[put({PRIVATE}, packet):]
run({CODE}, {{"receive": receive, "send": send}})
"""
)
"""The same with the functions `receive` and `send`."""

CELLS = (
    _COMMON
    + f"""
REQUEST, REPLY = struct.Struct("<QII"), struct.Struct("<QBidII")
put, get, pid, clock, usage = os.write, os.read, os.getpid, time.process_time, resource.getrusage
here, leave, itself = os.getpid, os._exit, resource.RUSAGE_SELF
os.set_inheritable({PRIVATE}, False)
def read(size):
    parts = []
    while size > 0:
        part = get({PRIVATE}, min(size, 1 << 20))
        if not part:
            leave(0)
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
def shown(value):
    if value is None:
        return b""
    text = repr(value)
    if len(text) > 15000:
        text = text[:15000] + "... (%d more characters)" % (len(text) - 15000)
    return text.encode("utf-8", "backslashreplace")[:60000]
def cell(source, name):
    tree = compile(source, name, "exec", ast.PyCF_ONLY_AST, True)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, name, "exec", 0, True), main.__dict__)
    if last is None:
        return b""
    return shown(eval(compile(ast.Expression(last.value), name, "eval", 0, True), main.__dict__))
def leaving(error):
    if error.code is None or isinstance(error.code, int):
        return int(error.code or 0) & 0xFF
    os.write(2, (str(error.code) + "\\n").encode("utf-8", "replace"))
    return 1
def serve():
    own = here()
    while True:
        nonce, number, length = REQUEST.unpack(read(REQUEST.size))
        source, name, began = read(length), "<cell %d>" % number, clock()
        value, status = b"", 0
        try:
            remember(name, source)
            value = cell(source, name)
        except SystemExit as error:
            status = leaving(error)
        except BaseException as error:
            show(error)
            status = 1
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except BaseException:
                pass
        if here() != own:
            leave(status)
        head = REPLY.pack(nonce, status != 0, status, clock() - began, usage(itself).ru_maxrss, len(value))
        packet = memoryview(head + value)
        while packet:
            packet = packet[put({PRIVATE}, packet):]
serve()
"""
)
"""Runs cells and keeps their state."""
