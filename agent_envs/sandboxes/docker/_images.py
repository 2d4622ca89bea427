"""Images: made of recipes by the engine's own builder, found again by the hash of the recipe and of its base."""

from __future__ import annotations

import io
import json
import os
import tarfile
import threading
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from agent_envs.errors import ConfigError, SandboxDied, SandboxUnavailable, TaskError
from agent_envs.sandboxes.docker import _changes, _connect, _recipe
from agent_envs.sandboxes.docker._base import STANDARD_TAG, provide_standard_base
from agent_envs.sandboxes.docker._connect import Connections, Refused
from agent_envs.sandboxes.docker._owner import IMAGE, OWNER
from agent_envs.sandboxes.docker._volumes import DATED, archive, tree_digest
from agent_envs.sandboxes.images import STANDARD_BASE, BuiltImage, Entry, Image, Manifest, Recipe, TreeFile

REPOSITORY = "agent-envs/recipe"
_BUILD_S = 1800.0
_TAIL = 2000


class Images:
    """The images of one engine."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._known: dict[str, Image] = {}
        self._lock = threading.Lock()
        """One build at a time: the second one of the same recipe finds the first one's image."""

    def build(self, recipe: Recipe) -> Image:
        """The image of a recipe, built where it is not there yet."""
        _recipe.check(recipe)
        with self._lock:
            base = self._built_file(recipe) if recipe.dockerfile else self._base(recipe.base)
            name = f"{REPOSITORY}:{_recipe.digest(recipe, base)}"
            if name in self._known:
                return self._known[name]
            digest = self._id(name)
            if not digest:
                self._build(_recipe.steps(recipe, base), _recipe.context(recipe), name, base, network="none")
                digest = self._id(name)
            self._known[name] = Image(
                name=name, digest=digest, workspace=recipe.workspace, manifest=self._manifest(digest, recipe.workspace)
            )
            return self._known[name]

    def owned_by_root(self, image: Image) -> Image:
        """The same image with a workspace that belongs to root, who could not write there otherwise: it has no more
        rights than its user number gives."""
        name = f"{image.name.replace(REPOSITORY + ':', REPOSITORY + '-root:')}"
        if name == image.name:
            raise ConfigError(f"the image {name} was not built from a recipe, so it cannot be given to root")
        with self._lock:
            if name not in self._known:
                digest = self._id(name)
                if not digest:
                    run = json.dumps(["chown", "-R", "0:0", image.workspace])
                    steps = f"FROM {image.digest}\nUSER 0\nRUN {run}\n"
                    self._build(steps, archive({}), name, image.digest, network="none")
                    digest = self._id(name)
                self._known[name] = replace(image, name=name, digest=digest)
            return self._known[name]

    def copy_of(self, container: str) -> str:
        """An image of all that is in a container now, without a name; it bears the container's labels."""
        with self._connections.lend("copy the files of a container", error=SandboxDied) as client:
            return str(client.commit(container, pause=False)["Id"])

    def remove_copy(self, digest: str) -> None:
        """Remove such an image; no error where it cannot be, for the next start will."""
        with suppress(SandboxUnavailable), self._connections.lend("remove a copy of a container") as client:
            client.remove_image(digest, force=True)

    def list_images(self) -> list[BuiltImage]:
        """Every image that was built from a recipe, the newest first."""
        with self._connections.lend("list images") as client:
            found = client.images(filters={"label": IMAGE})
        built = [
            BuiltImage(
                name=(one["RepoTags"] or ["<untagged>"])[0],
                digest=one["Id"],
                base=one["Labels"][IMAGE],
                bytes=one["Size"],
                created=one["Created"],
            )
            for one in found
            if not one["Labels"].get(OWNER)
        ]
        return sorted(built, key=lambda image: (-image.created, image.name))

    def prune(self) -> list[BuiltImage]:
        """Remove every image that was built from a recipe and is not in use, and say which."""
        removed = []
        for image in self.list_images():
            try:
                with self._connections.lend("remove an image") as client:
                    client.remove_image(image.name if ":" in image.name else image.digest)
            except Refused as refused:
                if not refused.gone:
                    raise
                continue
            removed.append(image)
            for kept in _cache().glob(f"{image.digest.removeprefix('sha256:')[:32]}.*.json"):
                kept.unlink(missing_ok=True)
        with self._lock:
            self._known.clear()
        return removed

    def _id(self, name: str) -> str:
        """The digest of an image that the engine has, or nothing."""
        try:
            with self._connections.lend(f"look for the image {name}") as client:
                return str(client.inspect_image(name)["Id"])
        except Refused as refused:
            if refused.status == 404:
                return ""
            raise

    def _base(self, base: str) -> str:
        """The digest of a base, which is pulled or made where it is not there."""
        if base == STANDARD_BASE:
            return self._id(STANDARD_TAG) or provide_standard_base(self._connections)
        found = self._id(base)
        if found:
            return found
        try:
            with self._connections.lend(f"pull the image {base}") as client:
                name, _, tag = base.partition("@") if "@" in base else base.rpartition(":")
                client.pull(name or base, tag=tag if name else "latest")
        except SandboxUnavailable as error:
            raise SandboxUnavailable(
                f"the image {base} is not here and cannot be pulled ({error}); load it: docker load -i FILE, or docker "
                f"pull {base} where a registry answers"
            ) from error
        return self._id(base)

    def _built_file(self, recipe: Recipe) -> str:
        """The digest of the image of a Dockerfile."""
        digest = sha256(f"{recipe.dockerfile}\0{tree_digest(recipe.context)}".encode()).hexdigest()
        name = f"{REPOSITORY}-file:{digest[:32]}"
        found = self._id(name)
        if not found:
            files = {**recipe.context, "Dockerfile": TreeFile(recipe.dockerfile.encode())}
            self._build("", archive(files), name, "dockerfile", network="")
        return found or self._id(name)

    def _build(self, steps: str, context: bytes, name: str, base: str, *, network: str) -> None:
        if steps:
            context = _with_file(context, "Dockerfile", steps.encode())
        options: dict[str, Any] = {"network_mode": network} if network else {}
        with self._connections.lend(f"build the image {name}") as client:
            lines = client.build(
                fileobj=io.BytesIO(context),
                custom_context=True,
                tag=name,
                rm=True,
                forcerm=True,
                decode=True,
                timeout=_BUILD_S,
                labels={IMAGE: base, OWNER: ""},
                **options,
            )
            _follow(lines, name)

    def _manifest(self, digest: str, workspace: str) -> Manifest:
        """What is in the workspace of an image, read once and remembered beside us."""
        short = sha256(workspace.encode()).hexdigest()[:8]
        kept = _cache() / f"{digest.removeprefix('sha256:')[:32]}.{short}.json"
        try:
            found = json.loads(kept.read_bytes())
            return {path: Entry(*entry) for path, entry in found.items()}
        except (OSError, ValueError, TypeError):
            pass
        made = self._read_manifest(digest, workspace)
        _remember(kept, made)
        return made

    def _read_manifest(self, digest: str, workspace: str) -> Manifest:
        with self._connections.lend("read the files of an image") as client:
            made = client.create_container(digest, entrypoint=["/"], host_config={"NetworkMode": "none"})
            try:
                with _connect.archive(client, made["Id"], workspace) as pieces:
                    return _changes.manifest(pieces)
            finally:
                client.remove_container(made["Id"], force=True, v=True)


def _with_file(context: bytes, name: str, content: bytes) -> bytes:
    whole = io.BytesIO(context)
    with tarfile.open(fileobj=whole, mode="a", format=tarfile.PAX_FORMAT) as made:
        member = tarfile.TarInfo(name)
        member.size, member.mtime = len(content), DATED
        made.addfile(member, io.BytesIO(content))
    return whole.getvalue()


def _follow(lines: Iterable[Mapping[str, Any]], name: str) -> None:
    """Wait for the end of a build; its last output explains a failure."""
    said, error = "", ""
    # To the end in any case, or the connection would be left half read.
    for line in lines:
        said = (said + str(line.get("stream", "")))[-_TAIL:]
        error = error or str(line.get("error", ""))
    if "returned a non-zero code" in error:
        raise TaskError(f"a command of the recipe of {name} failed; the end of its output: {said.strip()}")
    if error:
        raise SandboxUnavailable(f"the Docker engine could not build {name}: {error}; {said.strip()[-300:]}")


def _cache() -> Path:
    folder = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(folder) / "agent-envs" / "manifests"


def _remember(kept: Path, made: Manifest) -> None:
    content = json.dumps({path: list(asdict(entry).values()) for path, entry in made.items()})
    part = kept.with_suffix(f".{os.getpid()}.part")
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(content, encoding="utf-8")
        part.replace(kept)
    except (OSError, UnicodeEncodeError):
        part.unlink(missing_ok=True)
