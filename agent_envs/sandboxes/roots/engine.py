"""The engine that runs images without a daemon: recipes become layers in a store, a sandbox is an overlay of them."""

from __future__ import annotations

import json
import os
import threading
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from agent_envs.errors import ConfigError, InfraError, SandboxUnavailable, TaskError, boundary
from agent_envs.sandboxes.images import STANDARD_BASE, BuiltImage, Entry, Image, Place, Recipe, Tree
from agent_envs.sandboxes.ladder import checked, choose
from agent_envs.sandboxes.namespaces._cgroup import MemoryGroup
from agent_envs.sandboxes.namespaces._control import Control
from agent_envs.sandboxes.namespaces._rootfs import AGENT
from agent_envs.sandboxes.protocol import Limits, RunResult, text
from agent_envs.sandboxes.roots.bases import Base, require_standard_base, standard_base
from agent_envs.sandboxes.roots.layers import require_folder, require_tree, write_layer
from agent_envs.sandboxes.roots.sandbox import RootSandbox
from agent_envs.sandboxes.roots.store import Store, default_folder, digest_of, remove

_USERS = {"agent": AGENT, "root": 0}
_BUILD_LIMITS = Limits(memory_mb=4096, processes=512, file_mb=4096, disk_mb=1024, open_files=4096)
_BUILD_S = 1800.0
_KEY = 32
_TAIL = 2000


class NamespaceEngine:
    """An `ImageEngine` of Linux namespaces over stored root file systems: no daemon, and no root once a base is there.

    Everything in an image belongs, inside, to the one user of the sandbox. The user `agent` finds it read-only but for
    the workspace, its home and the folders for temporary files; `root` may change all of it, and has no capability.
    """

    def __init__(self, folder: str | Path | None = None, *, at_least: str = "namespaces") -> None:
        """`folder` holds the stored roots; the default is `agent-envs/roots` in the user's cache."""
        self._store = Store(Path(folder) if folder is not None else default_folder())
        self._at_least = at_least
        self._lock = threading.Lock()
        self._images: dict[tuple[str, int, int], _Stored] = {}
        self._living: weakref.WeakSet[RootSandbox] = weakref.WeakSet()

    @property
    def isolation(self) -> str:
        """`namespaces+cgroup`, or `namespaces` where no control group bounds the memory of a sandbox."""
        return "namespaces+cgroup" if MemoryGroup.available() else "namespaces"

    def connect(self) -> None:
        """Raises `SandboxUnavailable` with the remedy where this machine allows no such sandbox or gives no base."""
        choose(at_least=self._at_least)
        require_standard_base(self._store)

    def build(self, recipe: Recipe) -> Image:
        """The image of a recipe, built where it is not there yet.

        Raises `SandboxUnavailable` where it needs Docker or no base can be had, and `TaskError` where the recipe is
        wrong or a command of it fails.
        """
        _require_buildable(recipe)
        choose(at_least=self._at_least)
        with boundary(SandboxUnavailable, f"use the store of root file systems {self._store.folder}"):
            self._store.open()
        base = standard_base(self._store)
        name = f"images/{_key(base, recipe)}"
        if self._store.about(name) is None:
            with self._store.lock(name), boundary(InfraError, f"build the image {name}"):
                if self._store.about(name) is None:
                    self._make(name, base, recipe)
        with self._held(name) as (stored, _):
            return stored.image

    def start(self, place: Place) -> RootSandbox:
        """A new sandbox; used by one episode and never again."""
        if place.user not in _USERS:
            raise ConfigError(f"the user is {place.user!r}; expected one of {', '.join(_USERS)}")
        for path, tree in place.volumes.items():
            require_folder(path, "the place of a volume")
            require_tree(tree, f"the files of the volume {path}")
        uid = _USERS[place.user]
        with self._held(place.image.name) as (stored, held):
            if stored.image.digest != place.image.digest:
                raise SandboxUnavailable(f"the image {place.image.name!r} was removed and built anew; build it again")
            home = stored.homes[str(uid)]
            writable = (place.image.workspace, home, "/var/tmp") if uid else ()
            env = _environment(place.user, home) | dict(place.env)
            mounts = {"layers": stored.layers, "user": uid, "workspace": place.image.workspace, "writable": writable}
            control = self._open(checked(place.limits), mounts | {"env": env}, place.volumes)
            # Files of a running overlay would vanish with its layers, and nobody would be told.
            control.descriptors.own(partial(os.close, os.dup(held)))
        sandbox = RootSandbox(
            control,
            place.limits,
            workspace=place.image.workspace,
            manifest=place.image.manifest,
            bash=stored.bash,
            volumes=place.volumes,
            start_again=partial(self.start, place),
        )
        with self._lock:
            self._living.add(sandbox)
        return sandbox

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
        with closing(self.start(place)) as sandbox:
            return sandbox.run(list(command), stdin=stdin, timeout_s=timeout_s, cwd=cwd)

    def list_images(self) -> list[BuiltImage]:
        """Every image that was built from a recipe, the newest first."""
        return self._store.open().images()

    def prune(self) -> list[BuiltImage]:
        """Remove every image that was built from a recipe and has no sandbox running over it, and say which."""
        return [image for image in self._store.open().images() if self._store.drop(image.name)]

    def close(self) -> None:
        """Destroy every sandbox that is left; idempotent."""
        with self._lock:
            living = list(self._living)
            self._living.clear()
        for sandbox in living:
            sandbox.close()

    @contextmanager
    def _held(self, name: str) -> Iterator[tuple[_Stored, int]]:
        """A stored image, with the descriptor by which it is held meanwhile."""
        try:
            held = self._store.hold(name)
        except FileNotFoundError:
            raise SandboxUnavailable(
                f"no image {name!r} is in {self._store.folder}; build it first, with the engine that starts it"
            ) from None
        try:
            found = os.fstat(held)
            # Another process may have removed the one that we know, and built another.
            key = (name, found.st_ino, found.st_mtime_ns)
            if key not in self._images:
                about = self._store.about(name)
                assert about is not None
                self._images[key] = _Stored.read(name, about)
            yield self._images[key], held
        finally:
            os.close(held)

    def _open(self, limits: Limits, mounts: Mapping[str, Any], volumes: Mapping[str, Tree]) -> Control:
        choose(at_least=self._at_least)
        listed, contents = [], []
        for place, tree in sorted(volumes.items()):
            modes = {path: 0o555 if file.executable else 0o444 for path, file in tree.items()}
            listed.append((place, [(path, modes[path], len(file.content)) for path, file in tree.items()]))
            contents += [file.content for file in tree.values()]
        control = Control.open((), limits, images=str(self._store.folder))
        control.tell({**mounts, "volumes": listed}, b"".join(contents))
        return control

    def _make(self, name: str, base: Base, recipe: Recipe) -> None:
        with self._store.making() as made:
            layer, work = made / "layer", made / "work"
            for folder in (layer, work):
                folder.mkdir()
                folder.chmod(0o755)
            homes = write_layer(layer, self._store.folder / base.layer, recipe)
            self._store.own(made)
            env = _environment("root", homes["0"])
            # Commands write to the layer itself, which may become larger than memory; files alone need no such thing.
            upper = {"layers": (base.layer,), "upper": made.name} if recipe.commands else {}
            mounts = {"layers": (f"making/{made.name}/layer", base.layer), "user": 0, "workspace": recipe.workspace}
            control = self._open(_BUILD_LIMITS, {**mounts, "writable": (), "env": env, **upper}, {})
            with closing(RootSandbox(control, _BUILD_LIMITS, workspace=recipe.workspace)) as sandbox:
                _run_commands(sandbox, recipe)
                bash = sandbox.run(["/bin/bash", "-c", "exit 0"]).ok
                manifest = sandbox.look()
            remove(work)
            self._store.own(layer)
            digest = sha256(f"{base.digest}\0{digest_of(layer)}".encode()).hexdigest()
            stored = _Stored(
                image=Image(name=name, digest=digest, workspace=recipe.workspace, manifest=manifest),
                layers=(f"{name}/layer", base.layer),
                homes=homes,
                bash=bash,
            )
            self._store.put(made, name, stored.about())


@dataclass(frozen=True, slots=True)
class _Stored:
    """An image with what only this engine needs to know of it."""

    image: Image
    layers: tuple[str, ...]
    homes: dict[str, str]
    bash: bool

    def about(self) -> dict[str, Any]:
        """As it is written beside the layer."""
        manifest = {path: (each.kind, each.digest, each.executable) for path, each in self.image.manifest.items()}
        more = {"digest": self.image.digest, "workspace": self.image.workspace, "manifest": manifest}
        return {"layers": self.layers, "homes": self.homes, "bash": self.bash, **more}

    @classmethod
    def read(cls, name: str, about: Mapping[str, Any]) -> _Stored:
        """From what is written beside the layer."""
        manifest = {path: Entry(*told) for path, told in about["manifest"].items()}
        image = Image(name=name, digest=about["digest"], workspace=about["workspace"], manifest=manifest)
        return cls(image, tuple(about["layers"]), about["homes"], about["bash"])


def _require_buildable(recipe: Recipe) -> None:
    if recipe.dockerfile or recipe.context:
        raise SandboxUnavailable("a Dockerfile needs Docker to be built; this engine knows a base, files and commands")
    if recipe.base != STANDARD_BASE:
        raise SandboxUnavailable(
            f"the image {recipe.base!r} needs Docker; without it there is only {STANDARD_BASE!r} to start from"
        )
    require_folder(recipe.workspace, "the workspace of a recipe")
    require_tree(recipe.files, "the files of a recipe")


def _run_commands(sandbox: RootSandbox, recipe: Recipe) -> None:
    for command in recipe.commands:
        ran = sandbox.run(command, timeout_s=_BUILD_S)
        if not ran.ok:
            shown = text(ran.stdout + ran.stderr)[-_TAIL:]
            raise TaskError(
                f"the command {command!r} of a recipe ended with {ran.status} (exit status {ran.exit_code}); "
                f"expected 0. The end of its output: {shown!r}"
            )


def _key(base: Base, recipe: Recipe) -> str:
    files = {path: (sha256(file.content).hexdigest(), file.executable) for path, file in recipe.files.items()}
    told = json.dumps([base.digest, recipe.workspace, files, recipe.commands], sort_keys=True)
    return sha256(told.encode()).hexdigest()[:_KEY]


def _environment(user: str, home: str) -> dict[str, str]:
    """All that a guest finds in its environment."""
    return {
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "HOME": home,
        "USER": user,
        "LOGNAME": user,
        "SHELL": "/bin/sh",
        "TERM": "dumb",
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
