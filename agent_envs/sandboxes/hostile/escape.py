"""Programs that reach for what is outside: files, processes, network and kernel of the host."""

from __future__ import annotations

from agent_envs.sandboxes.hostile.program import FINE, HostileProgram, Mode, refused
from agent_envs.sandboxes.protocol import Status

_KILLED = frozenset({Status.KILLED})

_MACHINE_CODE = """
import mmap
page = mmap.mmap(-1, 4096, prot=7)
page.write({code!r})
print("BREACH", ctypes.CFUNCTYPE(ctypes.c_long)(ctypes.addressof(ctypes.c_char.from_buffer(page)))())
"""

_FILES = (
    refused("read the shadow passwords", "open('/etc/shadow').read()"),
    HostileProgram(
        "read the users of the host",
        """
        users = [line.split(":")[0] for line in open("/etc/passwd")]
        print("BREACH" if "daemon" in users or "www-data" in users else "made up", users)
        """,
        requires=("made up",),
    ),
    refused("read a file of the host by its path", "open('@FILE@').read()"),
    refused("read a file of the host through the first process", "open('/proc/1/root@FILE@').read()"),
    refused("read a file of the host through an own child", "open(f'/proc/{os.getpid()}/root@FILE@').read()"),
    HostileProgram(
        "look for the secret of the host everywhere",
        """
        for place in ("/root", "/home", "/srv", "/var", "/opt", "/run", "/mnt", "/media", "/tmp", "/work", "."):
            for folder, _, names in os.walk(place):
                for name in names:
                    path = os.path.join(folder, name)
                    if name == os.path.basename("@FILE@"): print("BREACH", path)
        """,
    ),
    HostileProgram("list every variable of the environment", "print(dict(os.environ)); print(sys.argv, sys.path)"),
    HostileProgram(
        "read one's own environment from the kernel",
        """
        try: print(open("/proc/self/environ").read())
        except OSError as error: print(error)
    """,
    ),
    refused("read the environment of the first process", "open('/proc/1/environ', 'rb').read() or 1 / 0"),
    refused("read the memory of the first process", "open('/proc/1/mem', 'rb')"),
    refused("list the open files of the first process", "os.listdir('/proc/1/fd') or 1 / 0"),
    refused("read the memory map of the first process", "open('/proc/1/maps').read() or 1 / 0"),
    refused("write the memory of the first process", "open('/proc/1/mem', 'r+b')"),
    refused("write into the standard library", "open(os.__file__, 'a').write('x')"),
    refused("add a module beside the standard library", "open(os.path.dirname(os.__file__) + '/evil.py', 'w')"),
    refused("write into the running interpreter", "open('/proc/self/exe', 'r+b')"),
    refused("write into the interpreter of the first process", "open('/proc/1/exe', 'r+b')"),
    refused("write a folder of the system", "open('/usr/bin/evil', 'w')"),
    refused("write to the root", "open('/evil', 'w')"),
    refused("write the users", "open('/etc/passwd', 'a').write('x')"),
    refused("make a block device", "(os.mknod('disk', 0o60666, os.makedev(254, 0)), open('disk', 'rb').read(1))"),
    refused("make a memory device", "(os.mknod('memory', 0o20666, os.makedev(1, 1)), open('memory', 'rb').read(1))"),
    refused("open the memory of the machine", "open('/dev/mem', 'rb')"),
    refused("read the log of the kernel", "open('/dev/kmsg', 'rb').read(1)"),
    refused("read the memory of the kernel", "open('/proc/kcore', 'rb').read(1)"),
    refused("set where core dumps go", "open('/proc/sys/kernel/core_pattern', 'w').write('|/evil')"),
    refused("press the magic key", "open('/proc/sysrq-trigger', 'w').write('b')"),
    HostileProgram(
        "leave through the folder of a descriptor",
        """
        for fd in [*range(256), os.open(".", 0), os.open("/", 0), os.open("/proc/self/fd", 0)]:
            try: print("BREACH", os.open("../" * 9 + "@FILE@", 0, dir_fd=fd))
            except OSError: pass
        """,
    ),
    HostileProgram(
        "follow every inherited descriptor",
        """
        for name in os.listdir("/proc/self/fd"):
            try: target = os.readlink("/proc/self/fd/" + name)
            except OSError: continue
            print(name, target)
            if os.path.isdir("/proc/self/fd/" + name) and os.path.exists(f"/proc/self/fd/{name}@FILE@"): print("BREACH")
        """,
    ),
    HostileProgram(
        "leave a program that runs as its owner",
        """
        import shutil, subprocess
        shutil.copy("/bin/sh" if os.path.exists("/bin/sh") else sys.executable, "shell")
        os.chmod("shell", 0o6755)
        print("uids", os.getresuid())
        if os.statvfs(".").f_flag & os.ST_NOSUID == 0: print("BREACH")
        """,
    ),
)

_NETWORK = (
    refused(
        "connect to a server of the host", "socket.create_connection(('127.0.0.1', @PORT@), 1)", before="import socket"
    ),
    refused("connect to the internet", "socket.create_connection(('1.1.1.1', 53), 1)", before="import socket"),
    refused("look up a name", "socket.getaddrinfo('example.com', 80)", before="import socket"),
    refused(
        "send a datagram",
        "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('1.1.1.1', 53))",
        before="import socket",
    ),
    refused(
        "connect to an abstract socket of the host",
        "socket.socket(socket.AF_UNIX).connect('\\0@ABSTRACT@')",
        before="import socket",
    ),
    refused(
        "connect to the docker daemon",
        "socket.socket(socket.AF_UNIX).connect('/var/run/docker.sock')",
        before="import socket",
    ),
    refused("open a raw socket", "socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)", before="import socket"),
    refused("open a packet socket", "socket.socket(socket.AF_PACKET, socket.SOCK_RAW)", before="import socket"),
    refused("open a netlink socket", "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)", before="import socket"),
    refused("open a socket to the hypervisor", "socket.socket(40, socket.SOCK_STREAM)", before="import socket"),
    refused("open a socket of the kernel's cryptography", "socket.socket(socket.AF_ALG, 5)", before="import socket"),
)

_PROCESSES = (
    refused("find a process of the host", "os.kill(@PID@, 0)"),
    HostileProgram(
        "see the processes of the host",
        """
        seen = [name for name in os.listdir("/proc") if name.isdigit()]
        print("BREACH" if len(seen) > 16 else "few", len(seen))
        """,
        requires=("few",),
    ),
    refused("trace the first process", "syscall(101, 16, 1, 0, 0)"),
    refused("trace the parent", "syscall(101, 0x4206, os.getppid(), 0, 0)"),
    refused("read the memory of the parent", "syscall(310, os.getppid(), 0, 0, 0, 0, 0)"),
    refused("take a descriptor of the first process", "syscall(438, os.pidfd_open(1), 0, 0)"),
    refused("enter a namespace", "syscall(308, os.open('/proc/self/ns/user', 0), 0)"),
    refused("enter the namespaces of the first process", "syscall(308, os.open('/proc/1/ns/mnt', 0), 0)"),
    refused("become root", "os.setuid(0) if os.getuid() else 1 / 0"),
    refused("change groups", "os.setgroups([0, 1])"),
    HostileProgram(
        "write one's own memory",
        """
        word = ctypes.create_string_buffer(b"before")
        try:
            with open("/proc/self/mem", "r+b", 0) as memory:
                memory.seek(ctypes.addressof(word)); memory.write(b"after!")
        except OSError as error: print(error)
        print(word.value)
        """,
    ),
)

_KERNEL_CALLS = {
    "new user namespace": "272, 0x10000000",
    "new mount namespace": "272, 0x20000",
    "clone into a user namespace": "56, 0x10000011, 0, 0, 0, 0",
    "clone into a network namespace": "56, 0x40000011, 0, 0, 0, 0",
    "clone a child of somebody else": "56, 0x8011, 0, 0, 0, 0",
    "clone3 into a user namespace": "435, ctypes.byref((ctypes.c_uint64 * 11)(0x10000000)), 88",
    "mount a file system": "165, b'x', b'/tmp', b'tmpfs', 0, 0",
    "mount the old way around": "165, b'/', b'/tmp', 0, 0x1000, 0",
    "unmount": "166, b'/proc', 2",
    "remount writable": "165, 0, b'/', 0, 0x20 | 0x1000, 0",
    "change the root": "161, b'/tmp'",
    "pivot the root": "155, b'/tmp', b'/tmp'",
    "open a tree": "428, -100, b'/', 1",
    "open a file system": "430, b'tmpfs', 0",
    "open by handle": "304, -100, ctypes.byref((ctypes.c_int * 4)(8, 1, 2, 0)), 0",
    "io_uring": "425, 8, ctypes.create_string_buffer(256)",
    "bpf": "321, 0, ctypes.create_string_buffer(128), 128",
    "perf events": "298, ctypes.create_string_buffer(128), 0, -1, -1, 0",
    "userfaultfd": "323, 0",
    "the keyring": "250, 0, -3, 1, 0, 0",
    "add a key": "248, b'user', b'x', b'y', 1, -3",
    "fanotify": "300, 0, 0",
    "load a module": "313, 0, b'', 0",
    "load a kernel": "246, 0, 0, 0, 0",
    "reboot": "169, 0xFEE1DEAD, 672274793, 0, 0",
    "swap on": "167, b'/tmp/x', 0",
    "set the clock": "227, 0, ctypes.byref((ctypes.c_long * 2)(0, 0))",
    "set the name of the host": "170, b'evil', 4",
    "read the kernel log": "103, 3, ctypes.create_string_buffer(64), 64",
    "quotas": "179, 0x80000700, 0, 0, 0",
    "change the segment table": "154, 1, 0, 0",
    "port access": "172, 3",
    "turn address randomisation off": "135, 0x0040000",
    "a filter of one's own": "317, 1, 8, 0",
    "type into the terminal": "16, 0, 0x5412, b'x'",
    "compare the kernel objects of two processes": "312, os.getpid(), 1, 0, 0, 0",
    "secret memory": "447, 0",
    "a call from the future": "1000",
}

PROGRAMS = (
    *_FILES,
    *_NETWORK,
    *_PROCESSES,
    # In one mode only: the kernel does not know in which the call was made.
    *(
        refused(f"kernel: {name}", f"syscall({numbers})", modes=(Mode.FRESH,))
        for name, numbers in _KERNEL_CALLS.items()
    ),
    HostileProgram("kernel: the x32 convention", "print('BREACH', syscall(0x40000000 + 39))", _KILLED),
    HostileProgram(
        "kernel: the 32-bit convention",
        # mov eax, 20 (getpid); int 0x80; ret
        _MACHINE_CODE.format(code=b"\xb8\x14\x00\x00\x00\xcd\x80\xc3"),
        _KILLED,
    ),
    HostileProgram(
        "kernel: gain rights by running a program",
        """
        import subprocess
        for name in ("su", "mount", "ping", "newgrp"):
            try: print(subprocess.run([name, "--version"], capture_output=True, timeout=30).returncode)
            except OSError as error: print(error)
        status = dict(line.split(":", 1) for line in open("/proc/self/status"))
        print(status["CapEff"], status["NoNewPrivs"])
        if int(status["CapEff"], 16) or status["NoNewPrivs"].strip() != "1" or status["Seccomp"].strip() != "2":
            print("BREACH")
        """,
        FINE,
    ),
)
