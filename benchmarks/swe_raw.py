"""The same work done through Docker's API with no library of ours: the floor that the environment is measured at.

Containers are given the image and the host configuration of ours, copied from a running one.
"""

from __future__ import annotations

import os
import secrets
import struct
from pathlib import Path
from typing import Any

_FOREVER = ["/bin/sh", "-c", "while :; do sleep 86400 & wait $!; done"]
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_HEAD = struct.Struct(">BxxxL")
LABEL = f"agent-envs.benchmark={os.getpid()}"
"""What everything that is started beside ours is labelled with, so that it is found and removed at the end."""


class Raw:
    """Containers like one of ours, started by hand."""

    def __init__(self, ours: str) -> None:
        """`ours` is the id of a running container of ours."""
        import docker

        self.client: Any = docker.from_env(timeout=60).api
        found = self.client.inspect_container(ours)
        self.image: str = found["Config"]["Image"]
        self._host: dict[str, Any] = found["HostConfig"]
        self._made: list[str] = []

    def start(self) -> str:
        """Create and start a container that waits for commands."""
        number = self._create(self.image, _FOREVER)
        self.client.start(number)
        return number

    def first_command(self) -> str:
        """The same, and one command by the call that the library has for it."""
        number = self.start()
        self.exec(number)
        return number

    def exec(self, number: str) -> None:
        """One command, as a process of its own."""
        made = self.client.exec_create(number, ["true"], user="1000:1000")
        self.client.exec_start(made["Id"])
        assert self.client.exec_inspect(made["Id"])["ExitCode"] == 0

    def run_tests(self, image: str, workspace: str, **more: Any) -> None:
        """Run the tests that are in an image, as the only program of a container, and remove that."""
        command = ["python3", "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"]
        self.run(image, command, working_dir=workspace, environment={"PYTHONPATH": f"{workspace}/src"}, **more)

    def run_nothing(self) -> None:
        """The same with a program that does nothing: what a container costs."""
        self.run(self.image, ["true"])

    def run(self, image: str, command: list[str], **more: Any) -> None:
        """Run a program as the only one of a container, to its end, and remove that."""
        number = self._create(image, command, **more)
        output = self.client.attach(number, stream=True)
        self.client.start(number)
        text = b"".join(output)
        status = self.client.wait(number)["StatusCode"]
        self.remove(number)
        if status != 0:
            raise RuntimeError(f"{command} failed in a container of its own: {text.decode()[-500:]}")

    def image_with(self, packages: Path) -> str:
        """The image of ours, with the packages in this folder for its Python, and their programs."""
        tag = "agent-envs-benchmark:peer"
        if tag in self._made:
            return tag
        steps = f"FROM {self.image}\nUSER 0\nCOPY . /opt/peer\nENV PYTHONPATH=/opt/peer PATH=/opt/peer/bin:{_PATH}\n"
        # What pip has written there names the interpreter that pip ran in.
        steps += "RUN sed -i '1s|.*|#!/usr/bin/python3|' /opt/peer/bin/*\n"
        (packages / "Dockerfile").write_text(steps)
        said = list(self.client.build(path=str(packages), tag=tag, rm=True, forcerm=True, decode=True))
        if errors := [line["error"] for line in said if "error" in line]:
            raise RuntimeError(f"the image with {packages} cannot be built: {errors[0]}")
        self._made.append(tag)
        return tag

    def remove(self, number: str) -> None:
        """Destroy a container."""
        self.client.remove_container(number, force=True, v=True)

    def _create(self, image: str, command: list[str], **more: Any) -> str:
        created = self.client.create_container(
            image,
            entrypoint=command[:1],
            command=command[1:],
            user="1000:1000",
            host_config=self._host,
            labels=dict([LABEL.split("=")]),
            healthcheck={"Test": ["NONE"]},
            **{"working_dir": "/", **more},
        )
        return str(created["Id"])

    def close(self) -> None:
        """Remove every container that was started beside ours, by whomever."""
        for one in self.client.containers(all=True, filters={"label": LABEL}):
            self.remove(one["Id"])
        for image in self._made:
            self.client.remove_image(image, force=True)
        self.client.close()


class RawBash:
    """A bash that stays, on the socket of one attached exec; each command is framed by marks on both outputs."""

    def __init__(self, raw: Raw, container: str) -> None:
        made = raw.client.exec_create(container, ["/bin/bash"], stdin=True, user="1000:1000")
        self._answer = raw.client.exec_start(made["Id"], socket=True)
        self._socket = self._answer._sock
        self._received = b""

    def run(self, command: str) -> tuple[int, bytes, bytes]:
        """Exit status and both outputs of one command."""
        mark = secrets.token_hex(8).encode()
        # Not in the format itself: there a digit would belong to the `\0` before it.
        end = b"printf '\\0%%s %%s\\0' %s \"$?\"; printf '\\0%%s\\0' %s >&2\n" % (mark, mark)
        self._socket.sendall(command.encode() + b"\n" + end)
        outputs = {1: b"", 2: b""}
        mark = b"\0" + mark
        while not all(mark in output and output.endswith(b"\0") for output in outputs.values()):
            kind, piece = self._frame()
            outputs[kind] += piece
        output, _, status = outputs[1].partition(mark)
        return int(status.strip(b" \0")), output, outputs[2].partition(mark)[0]

    def _frame(self) -> tuple[int, bytes]:
        while len(self._received) < _HEAD.size:
            self._received += self._socket.recv(1 << 16)
        kind, length = _HEAD.unpack_from(self._received)
        end = _HEAD.size + length
        while len(self._received) < end:
            self._received += self._socket.recv(1 << 16)
        piece, self._received = self._received[_HEAD.size : end], self._received[end:]
        return kind, piece

    def close(self) -> None:
        """End the shell."""
        self._socket.close()
        self._answer.close()
