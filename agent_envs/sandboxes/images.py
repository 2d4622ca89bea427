"""What a sandbox is started from where a task brings its own file system: images, and the engines that run them.

An engine hides one way of running images (a Docker daemon, namespaces over a root folder). A task never names one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Protocol

from agent_envs.artifact import Artifact
from agent_envs.sandboxes.protocol import Limits, RunResult, Sandbox

STANDARD_BASE = "agent-envs/python"
"""The base every engine can provide by itself: a small Debian with Python, pytest and git."""

HOSTS = "127.0.0.1 localhost sandbox\n::1 localhost\n"
"""What every guest finds in `/etc/hosts`."""


@dataclass(frozen=True, slots=True)
class TreeFile:
    """One regular file of a tree."""

    content: bytes
    executable: bool = False


Tree = Mapping[str, TreeFile]
"""Regular files by their path relative to some folder, with `/` between the parts."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What is known of one entry of a file tree without holding its content."""

    kind: str
    """`file`, `link`, or `other`."""
    digest: str = ""
    """SHA-256 (hex) of a file's content or of a link's target."""
    executable: bool = False

    @staticmethod
    def of(file: TreeFile) -> Entry:
        """The entry of a regular file."""
        return Entry("file", sha256(file.content).hexdigest(), file.executable)


Manifest = Mapping[str, Entry]
"""Everything below a folder but the folders themselves, by relative path; the base against which changes are told.

Git's own folder (`.git` at the top) is left out: it is no part of the work, and it changes with every commit.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How to get an image: a base, and what is added to it. Equal recipes give one image, built once."""

    base: str = STANDARD_BASE
    """`STANDARD_BASE`, or a reference that the engine resolves, best by digest."""
    dockerfile: str = ""
    """The text of a Dockerfile that is built first and takes the place of `base`; only Docker can build it."""
    context: Tree = field(default_factory=dict)
    """The files beside the Dockerfile."""
    workspace: str = "/workspace"
    """The folder the agent works in; made where it is missing, and owned by the user `agent` (uid 1000)."""
    files: Tree = field(default_factory=dict)
    """Files added below the workspace."""
    commands: tuple[str, ...] = ()
    """Shell command lines run as root in the workspace afterwards, without network."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """A file system that is ready to start from."""

    name: str
    """By which the engine finds it."""
    digest: str
    """What identifies its content, for the record: an image id, or a hash of its layers."""
    workspace: str
    manifest: Manifest
    """The workspace as it is in the image."""


@dataclass(frozen=True, slots=True)
class BuiltImage:
    """An image that was built here from a recipe."""

    name: str
    digest: str
    base: str
    """The digest of what it was built on."""
    bytes: int
    created: int
    """Seconds since 1970."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Everything that a sandbox is started with."""

    image: Image
    user: str = "agent"
    """`agent` (uid 1000, made where the image has none), or `root`, without any capability in either case."""
    volumes: Mapping[str, Tree] = field(default_factory=dict)
    """Read-only trees by the absolute path they are mounted at."""
    limits: Limits = field(default_factory=Limits)
    env: Mapping[str, str] = field(default_factory=dict)


class ImageSandbox(Sandbox, Protocol):
    """A sandbox over an image: paths are relative to the workspace or absolute."""

    def freeze_changes(self, *, max_bytes: int = 64 << 20) -> Artifact:
        """Stop the guest for good and carry out what differs from the image's workspace, as the engine sees it.

        `files` holds what was changed or added, `rejected` what is not carried (links, devices, files beyond
        `max_bytes` in all) and `state` the lists `deleted`, `executable` (of the files carried).
        """


class ImageEngine(Protocol):
    """One way of running images. Its methods may be called from several threads at once."""

    @property
    def isolation(self) -> str:
        """The honest name of what separates its guests from this machine."""

    def build(self, recipe: Recipe) -> Image:
        """The image of a recipe, built where it is not there yet.

        Raises `SandboxUnavailable` with the remedy where the engine is down or the base cannot be had, and `TaskError`
        where a command of the recipe fails.
        """

    def start(self, place: Place) -> ImageSandbox:
        """A new sandbox, perhaps taken from those kept ready; used by one episode and never again."""

    def run_once(
        self,
        place: Place,
        command: Sequence[str],
        *,
        stdin: bytes = b"",
        timeout_s: float = 60.0,
        cwd: str = "",
    ) -> RunResult:
        """Run one program as the only one of a new sandbox, and destroy it."""

    def list_images(self) -> list[BuiltImage]:
        """Every image that was built from a recipe, the newest first."""

    def prune(self) -> list[BuiltImage]:
        """Remove every image that was built from a recipe and is not in use, and say which."""

    def close(self) -> None:
        """Destroy every sandbox that is left, kept ready or running; idempotent."""
