"""How images come to be without Docker: from a recipe, over a base that this machine can have, once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tarfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest

from agent_envs.errors import SandboxUnavailable, TaskError
from agent_envs.sandboxes.images import Image, Place, Recipe, TreeFile
from agent_envs.sandboxes.ladder import probe, sweep
from agent_envs.sandboxes.roots import NamespaceEngine
from agent_envs.sandboxes.roots.store import Store, default_folder, remove

pytestmark = pytest.mark.skipif(
    not any(tier.available for tier in probe() if tier.name == "namespaces"), reason="no namespaces can be made here"
)
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs to mount")


def test_equal_recipes_give_one_image_and_another_engine_finds_it(recipe: Recipe, image: Image) -> None:
    folder = Store(default_folder()).folder / image.name
    made = folder.stat()
    with closing(NamespaceEngine()) as other:
        assert other.build(recipe) == image
    assert (folder.stat().st_ino, folder.stat().st_ctime_ns) == (made.st_ino, made.st_ctime_ns)


def test_another_file_gives_another_image(engine: NamespaceEngine, recipe: Recipe, image: Image) -> None:
    changed = replace(recipe, files={**recipe.files, "pkg/a.py": TreeFile(b"x = 2\n")})
    assert engine.build(changed).digest != image.digest


def test_a_command_that_fails_is_an_error_of_the_task_and_leaves_no_image(engine: NamespaceEngine) -> None:
    recipe = Recipe(files={"unique": TreeFile(os.urandom(8))}, commands=("echo so it goes; exit 3",))
    for _ in range(2):
        with pytest.raises(TaskError, match=r"exit status 3.*so it goes"):
            engine.build(recipe)
    assert not list((Store(default_folder()).folder / "making").glob(f"{os.getpid()}-*"))


@pytest.mark.parametrize(
    "recipe", [Recipe(dockerfile="FROM x"), Recipe(base="debian:12"), Recipe(context={"a": TreeFile(b"")})]
)
def test_what_only_docker_can_build_is_said_to_need_it(engine: NamespaceEngine, recipe: Recipe) -> None:
    with pytest.raises(SandboxUnavailable, match="Docker"):
        engine.build(recipe)


@pytest.mark.parametrize(
    "recipe",
    [
        *(Recipe(workspace=path) for path in ("work", "/", "/proc/x", "/a/../b", "/tmp/x", "/bin/x", "/etc/passwd/x")),
        *(Recipe(files={path: TreeFile(b"")}) for path in ("../x", "/x", "a//b", "", "a\0b")),
        Recipe(files={"a": TreeFile(b""), "a/b": TreeFile(b"")}),
    ],
)
def test_a_recipe_that_cannot_be_followed_is_an_error_of_the_task(engine: NamespaceEngine, recipe: Recipe) -> None:
    with pytest.raises(TaskError):
        engine.build(recipe)


def test_two_processes_that_build_the_same_build_it_once(engine: NamespaceEngine) -> None:
    recipe = f"Recipe(commands=('echo {os.urandom(8).hex()}; sleep 0.3; date +%s%N > when',))"
    code = "from agent_envs.sandboxes.images import *; from agent_envs.sandboxes.roots import NamespaceEngine; "
    code += f"print(NamespaceEngine().build({recipe}).manifest['when'].digest)"

    def built(_: int) -> bytes:
        return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True).stdout

    with ThreadPoolExecutor(2) as builders:
        digests = set(builders.map(built, range(2)))
    assert len(digests) == 1
    assert len(digests.pop()) == 65


def python(code: str, *arguments: object, within: tuple[str, ...] = ()) -> str:
    """What a program says, run by a process of its own."""
    command = [*within, sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


STORE = "import os, sys; from agent_envs.sandboxes.roots.store import Store; store = Store(sys.argv[1])\n"


def test_what_a_killed_builder_left_is_swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Where nobody else sweeps.
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    killed = "with store.open().making() as made: (made / 'layer').mkdir(0); print(made, flush=True); os._exit(1)"
    left = subprocess.run([sys.executable, "-c", STORE + killed, default_folder()], stdout=-1, text=True, check=False)
    assert Path(left.stdout.strip()).exists()
    assert sweep()["half-made images"] == 1
    assert not Path(left.stdout.strip()).exists()


@needs_root
def test_what_is_being_made_is_not_swept_where_its_maker_cannot_be_seen(tmp_path: Path) -> None:
    with Store(tmp_path).open().making() as made:
        elsewhere = ("unshare", "--pid", "--fork", "--mount-proc")
        assert python(STORE + "print(store.sweep())", tmp_path, within=elsewhere) == "0"
        assert made.exists()


REMOVE = """
import subprocess, sys
from pathlib import Path
from agent_envs.sandboxes.roots.store import remove
folder = Path(sys.argv[1])
subprocess.run(["mount", "-t", "tmpfs", "none", folder / "sys"], check=True)
(folder / "sys" / "kept").touch()
remove(folder)
print((folder / "sys" / "kept").exists())
"""


@needs_root
def test_what_is_mounted_in_a_folder_is_not_removed_with_it(tmp_path: Path) -> None:
    (tmp_path / "made" / "sys").mkdir(parents=True)
    assert python(REMOVE, tmp_path / "made", within=("unshare", "-m")) == "True"
    remove(tmp_path / "made")
    assert not (tmp_path / "made").exists()


HANGS = """#!/bin/sh
for root; do :; done
mkdir -p "$root/proc"
mount -t proc proc "$root/proc"
echo > "$MOUNTED"
exec sleep 1000
"""


@needs_root
def test_nothing_is_left_where_the_base_was_interrupted(tmp_path: Path) -> None:
    (tmp_path / "debootstrap").write_text(HANGS)
    (tmp_path / "debootstrap").chmod(0o755)
    os.mkfifo(tmp_path / "mounted")
    code = STORE + "from agent_envs.sandboxes.roots.bases import standard_base; import signal\n"
    code += "signal.signal(signal.SIGINT, signal.default_int_handler); standard_base(store.open())"
    env = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "MOUNTED": str(tmp_path / "mounted")}
    env.pop("AGENT_ENVS_ROOT_TAR", None)
    command = [sys.executable, "-c", code, str(tmp_path / "store")]
    with subprocess.Popen(command, env=env, stderr=subprocess.PIPE) as builder:
        (tmp_path / "mounted").read_text()
        builder.send_signal(signal.SIGINT)
        assert b"KeyboardInterrupt" in builder.communicate()[1]
    assert str(tmp_path) not in Path("/proc/self/mountinfo").read_text()
    assert not list((Store(tmp_path / "store").folder / "making").iterdir())


def test_an_image_is_not_removed_while_a_sandbox_runs_over_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_ENVS_ROOT_TAR", str(tar_of(tmp_path, {"bin/sh": b"#!"}, links={})))
    engine = NamespaceEngine(tmp_path / "store")
    used, unused = (engine.build(Recipe(files={name: TreeFile(b"1")})) for name in ("used", "unused"))
    prune = "import sys; from agent_envs.sandboxes.roots import NamespaceEngine; "
    prune += "print(*(image.name for image in NamespaceEngine(sys.argv[1]).prune()))"
    with closing(engine.start(Place(image=used))) as sandbox:
        assert python(prune, tmp_path / "store") == unused.name
        assert sandbox.read_file("used") == b"1"
        assert sandbox.freeze_changes().state["deleted"] == []
    assert python(prune, tmp_path / "store") == used.name
    with pytest.raises(SandboxUnavailable, match="build it first"):
        engine.start(Place(image=used))


def test_what_another_process_has_removed_already_is_no_fault(tmp_path: Path) -> None:
    store = Store(tmp_path).open()
    (store.folder / "images" / "one").mkdir()
    assert [store.drop("images/one"), store.drop("images/one")] == [True, False]


def test_an_image_that_was_built_anew_is_not_taken_for_the_one_before(engine: NamespaceEngine) -> None:
    recipe = Recipe(commands=(f"echo {os.urandom(8).hex()}; head -c 8 /dev/urandom > f",))
    store = Store(default_folder())
    first = engine.build(recipe)
    store.drop(first.name)
    with closing(NamespaceEngine()) as other:
        second = other.build(recipe)
    with pytest.raises(SandboxUnavailable, match="built anew"):
        engine.start(Place(image=first))
    assert engine.build(recipe) == second
    store.drop(first.name)


def test_a_tar_file_can_be_the_base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_ENVS_ROOT_TAR", str(tar_of(tmp_path, {"bin/sh": b"#!"}, links={"lib": "/lib"})))
    image = NamespaceEngine(tmp_path / "store").build(Recipe(workspace="/home/me"))
    (layer,) = (tmp_path / "store").glob("*/bases/*/root")
    assert (image.manifest, (layer / "bin/sh").read_bytes()) == ({}, b"#!")


@pytest.mark.parametrize("name", ["../x", "/x", "etc/x", "a/../../x"])
def test_a_tar_file_that_leads_out_of_its_root_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    tar = tar_of(tmp_path, {"bin/sh": b"#!", name: b"out"}, links={"etc": str(tmp_path)})
    monkeypatch.setenv("AGENT_ENVS_ROOT_TAR", str(tar))
    with pytest.raises(SandboxUnavailable, match="leads out"):
        NamespaceEngine(tmp_path / "store").build(Recipe())
    assert not (tmp_path / "x").exists()


def tar_of(folder: Path, files: dict[str, bytes], *, links: dict[str, str]) -> Path:
    path = folder / "root.tar"
    with tarfile.open(path, "w") as archive:
        for name, target in links.items():
            link = tarfile.TarInfo(name)
            link.type, link.linkname = tarfile.SYMTYPE, target
            archive.addfile(link)
        for name, content in files.items():
            file = tarfile.TarInfo(name)
            file.size = len(content)
            archive.addfile(file, BytesIO(content))
    return path


def test_a_root_that_cannot_be_had_is_said_with_the_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_ENVS_ROOT_TAR", str(tmp_path / "missing.tar"))
    with pytest.raises(SandboxUnavailable, match="docker export"):
        NamespaceEngine(tmp_path / "store").build(Recipe())
    with pytest.raises(SandboxUnavailable, match="docker export"):
        NamespaceEngine(tmp_path / "store").connect()


def test_an_image_of_another_store_is_not_found(tmp_path: Path, image: Image) -> None:
    with pytest.raises(SandboxUnavailable, match="build it first"):
        NamespaceEngine(tmp_path).start(Place(image=image))
