"""Images: made of recipes by the engine's own builder, found again by the hash of the recipe and of its base."""

from __future__ import annotations

import io
import json
import os
import threading
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from agent_envs.errors import ConfigError, SandboxDied, SandboxUnavailable, TaskError
from agent_envs.sandboxes.docker import _changes, _connect, _recipe
from agent_envs.sandboxes.docker._base import STANDARD_TAG, one_at_a_time, provide_standard_base
from agent_envs.sandboxes.docker._connect import Connections, Refused
from agent_envs.sandboxes.docker._owner import IMAGE, OWNER, Owner
from agent_envs.sandboxes.docker._volumes import archive, tree_digest
from agent_envs.sandboxes.images import STANDARD_BASE, BuiltImage, Entry, Image, Manifest, Recipe, TreeFile

REPOSITORY = "agent-envs/recipe"
_NO_TAG = "<none>:<none>"
"""What engines before API 1.43 call an image without a name."""
_BUILD_S = 1800.0
_TAIL = 2000


class Images:
    """The images of one engine."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._known: dict[str, Image] = {}
        """Those seen last, by name; whether the engine still has them is asked each time."""
        self._lock = threading.Lock()
        """One build at a time."""

    def build(self, recipe: Recipe) -> Image:
        """The image of a recipe, built where it is not there yet."""
        _recipe.check(recipe)
        with self._lock:
            base = self._built_file(recipe) if recipe.dockerfile else self._base(recipe.base)
            name = f"{REPOSITORY}:{_recipe.digest(recipe, base)}"
            digest = self._id(name) or self._built(name, base, _recipe.context(recipe, base))
            known = self._known.get(name)
            if known is None or known.digest != digest:
                manifest = self._manifest(digest, recipe.workspace)
                known = Image(name=name, digest=digest, workspace=recipe.workspace, manifest=manifest)
                self._known[name] = known
            return known

    def owned_by_root(self, image: Image) -> Image:
        """The same image with a workspace that belongs to root, who could not write there otherwise: it has no more
        rights than its user number gives."""
        if not image.name.startswith(f"{REPOSITORY}:"):
            raise ConfigError(f"the image {image.name} was not built from a recipe, so it cannot be given to root")
        # Not by its name, which may be that of another image tomorrow.
        name = f"{REPOSITORY}-root:{image.digest.removeprefix('sha256:')[:32]}"
        run = json.dumps(["chown", "-R", "0:0", image.workspace])
        steps = TreeFile(f"FROM {image.digest}\nUSER 0\nRUN {run}\n".encode())
        with self._lock:
            digest = self._id(name)
            if not digest and not self._id(image.digest):
                raise missing(image)
            digest = digest or self._built(name, image.digest, archive({"Dockerfile": steps}))
        return replace(image, name=name, digest=digest)

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
                name=next((tag for tag in one["RepoTags"] or () if tag != _NO_TAG), one["Id"]),
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
        return [image for image in self.list_images() if self._removed(image)]

    def _removed(self, image: BuiltImage) -> bool:
        try:
            with self._connections.lend("remove an image") as client:
                client.remove_image(image.name)
        except Refused as refused:
            if not refused.gone:
                raise
            return False
        for kept in _cache().glob(f"{image.digest.removeprefix('sha256:')[:32]}.*.json"):
            kept.unlink(missing_ok=True)
        return True

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
        files = {**recipe.context, "Dockerfile": TreeFile(recipe.dockerfile.encode())}
        return self._id(name) or self._built(name, "dockerfile", archive(files), network="")

    def _built(self, name: str, base: str, context: bytes, *, network: str = "none") -> str:
        """The digest of an image that was not there, made by one process while the others wait for it."""
        # The end of the name is part of a hash: few locks, and few who wait for another image.
        with one_at_a_time(f"image-{name[-2:]}"):
            if not self._id(name):
                self._build(name, base, context, network=network)
            return self._id(name)

    def _build(self, name: str, base: str, context: bytes, *, network: str) -> None:
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
            # Owned, so that it is swept if we are killed meanwhile.
            labels = {OWNER: str(Owner.present())}
            made = client.create_container(digest, entrypoint=["/"], host_config={"NetworkMode": "none"}, labels=labels)
            try:
                with _connect.archive(client, made["Id"], workspace) as pieces:
                    return _changes.manifest(pieces)
            finally:
                client.remove_container(made["Id"], force=True, v=True)


def missing(image: Image) -> Refused:
    """An image is gone, for somebody else has removed it since it was built."""
    return Refused(f"the Docker engine has no image {image.name} any more; build it again", status=404)


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
