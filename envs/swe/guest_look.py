"""Looks through an image, in a sandbox of its own, for history, solutions and credentials, and prints what it finds."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator

_PLACES = ("/home", "/mnt", "/opt", "/root", "/srv", "/tmp", "/usr/local", "/usr/lib/python3", "/usr/src", "/var")
_PACKAGES = re.compile(r"/(site|dist)-packages$")
_LARGEST = 4 << 20
_SECRET = re.compile(r"TOKEN|SECRET|PASSW|CREDENTIAL|API_?KEY|ACCESS_KEY", re.IGNORECASE)
_SECRET_FILES = (
    ".aws/credentials",
    ".docker/config.json",
    ".git-credentials",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".ssh/id_rsa",
)


def main() -> None:
    """Read the job, look, and print the leaks as a JSON list."""
    job = json.loads(sys.stdin.read())
    leaks = [*_history(job["workspace"], set(job["blobs"])), *_credentials()]
    leaks += _solutions([job["workspace"], *_places()], job["lines"], job["share"])
    print(json.dumps(leaks))


def _history(workspace: str, blobs: set[str]) -> Iterator[str]:
    folder = os.path.join(workspace, ".git")
    if not os.path.isdir(folder):
        return
    objects = _git(workspace, "cat-file", "--batch-all-objects", "--batch-check").splitlines()
    commits = [line.split()[0] for line in objects if " commit " in line]
    if len(commits) > 1:
        yield f"{folder} holds {len(commits)} commits where one is expected"
    for line in objects:
        if line.split()[0] in blobs:
            yield f"{folder} holds a file of the solution as the object {line.split()[0]}"
    refs = _git(workspace, "for-each-ref", "--format=%(refname)").split()
    yield from (f"{folder} has the reference {ref}" for ref in refs if ref != "refs/heads/main")
    for extra in ("objects/info/alternates", "logs", "packed-refs", "ORIG_HEAD", "FETCH_HEAD", "shallow", "modules"):
        if os.path.lexists(os.path.join(folder, extra)):
            yield f"{folder} has {extra}"


def _git(workspace: str, *words: str) -> str:
    environment = {"PATH": os.environ.get("PATH", os.defpath), "GIT_CONFIG_NOSYSTEM": "1", "HOME": "/nonexistent"}
    ran = subprocess.run(
        ["git", "-c", "safe.directory=*", "-C", workspace, *words],
        capture_output=True,
        text=True,
        env=environment,
        check=True,
    )
    return ran.stdout


def _credentials() -> Iterator[str]:
    for name, value in os.environ.items():
        if value and _SECRET.search(name):
            yield f"the environment variable {name} looks like a credential"
    homes = [
        "/root",
        *(os.path.join("/home", name) for name in (os.listdir("/home") if os.path.isdir("/home") else [])),
    ]
    for home in homes:
        yield from (f"{home}/{name} holds credentials" for name in _SECRET_FILES if os.path.exists(f"{home}/{name}"))


def _places() -> list[str]:
    packages = [path for path in sys.path if _PACKAGES.search(path)]
    return [path for path in dict.fromkeys((*_PLACES, *packages)) if os.path.isdir(path)]


def _solutions(places: list[str], lines: list[str], share: float) -> Iterator[str]:
    """Files that hold a good part of the lines which only the solution has."""
    if not lines:
        return
    wanted = {line.encode("utf-8", "replace") for line in lines}
    needed = max(1, int(len(wanted) * share))
    seen: set[tuple[int, int]] = set()
    for path, status in _files(places):
        if (status.st_dev, status.st_ino) in seen or status.st_size > _LARGEST:
            continue
        seen.add((status.st_dev, status.st_ino))
        with open(path, "rb") as file:
            content = file.read()
        if sum(line in content for line in wanted) >= needed:
            yield f"{path} holds the solution, or most of it"


def _files(places: list[str]) -> Iterator[tuple[str, os.stat_result]]:
    for place in places:
        for folder, _, names in os.walk(place):
            for name in names:
                path = os.path.join(folder, name)
                status = os.lstat(path)
                if os.path.isfile(path) and not os.path.islink(path) and os.access(path, os.R_OK):
                    yield path, status


main()
