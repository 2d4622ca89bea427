"""Harbor task directories (schema 1.4) as tasks.

    task.toml  instruction.md  environment/Dockerfile  tests/test.sh  solution/solve.sh

The tests are laid at `/tests` in a new sandbox that holds the agent's workspace, and only then; whatever else the agent
changed in its own sandbox is gone by then, as with Harbor's own separate verifiers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

from agent_envs.envs.swe.tasks._harbor_config import Config, read_config, with_variables
from agent_envs.envs.swe.tasks._normalised import Notes
from agent_envs.envs.swe.tasks._solutions import calls_of
from agent_envs.verifiers.swe.task import RewardFile, Runner, Solution, SweTask, to_task, tree_to_json

from agent_envs.errors import TaskError
from agent_envs.json_lines import JsonObject
from agent_envs.sandboxes.images import Recipe, TreeFile
from agent_envs.tasks import Task, TaskSet

CONFIG, INSTRUCTION, DOCKERFILE = "task.toml", "instruction.md", "environment/Dockerfile"
TEST, SOLVE = "tests/test.sh", "solution/solve.sh"
_SERVICES = ("docker-compose.yaml", "docker-compose.yml", "singularity-compose.yaml")

Files = dict[str, TreeFile]


def harbor(path: str | Path, *, name: str = "harbor") -> TaskSet:
    """The tasks of a folder of task directories, or the one of a single task directory, all in the split `test`."""
    return TaskSet.lazy(name, partial(_tasks, Path(path)), split="test")


def load_harbor(folder: str | Path) -> SweTask:
    """The task of one directory; raises `TaskError` naming the directory, the file or key, and the remedy."""
    folder = Path(folder)
    try:
        return _task(folder.resolve().name, _read(folder))
    except TaskError as cause:
        raise TaskError(f"{folder}: {cause}") from cause


def test_command(config: Config) -> str:
    """How a task's tests are run."""
    return with_variables(config.test_env, f"bash /{TEST}")


def solve_command(config: Config) -> str:
    """How a task's solution is applied."""
    return with_variables(config.solution_env, f"bash {solutions_home(config)}{SOLVE}")


def solutions_home(config: Config) -> str:
    """Where `solution/` is put: only root may put it where Harbor does."""
    return "/" if config.user == "root" else "/tmp/"


def _tasks(path: Path) -> Iterator[Task]:
    if not path.is_dir():
        raise TaskError(f"{path} is no folder; expected a Harbor task directory, or a folder of them")
    single = (path / CONFIG).is_file()
    for folder in [path] if single else sorted(entry.parent for entry in path.glob(f"*/{CONFIG}")):
        task = load_harbor(folder)
        yield to_task(task, solution=calls_of(task.reference))


def _task(name: str, files: Files) -> SweTask:
    for needed in (CONFIG, INSTRUCTION, TEST):
        if needed not in files:
            raise TaskError(f"there is no {needed}; a task directory has one")
    _check_files(files)
    notes = Notes()
    dockerfile = _text(files, DOCKERFILE) if DOCKERFILE in files else ""
    config = read_config(_text(files, CONFIG), dockerfile, notes)
    if not dockerfile and not config.docker_image:
        raise TaskError(f"there is neither {DOCKERFILE} nor environment.docker_image in {CONFIG}; add one")
    tests, solution, context = (_below(files, folder) for folder in ("tests/", "solution/", "environment/"))
    taken = {CONFIG, INSTRUCTION, *tests, *solution, *({} if config.docker_image else context)}
    return SweTask(
        id=config.name or name,
        statement=_text(files, INSTRUCTION),
        recipe=_recipe(config, dockerfile, context),
        hidden_tests={f"/{path}": file for path, file in tests.items()},
        expect=RewardFile(),
        runner=Runner(
            framework="command",
            command=test_command(config),
            timeout_s=config.timeout_s,
            memory_mb=config.memory_mb,
            user="root",
        ),
        reference=_reference(config, {path: _text(files, path) for path in solution}),
        user=config.user,
        difficulty=config.difficulty,
        tags=config.tags,
        provenance={
            "source": "harbor",
            "trust": "command",
            # Nobody knows which files a script changes, so all of them are the agent's.
            "reference_paths": ["*"],
            "normalised": notes.to_json(),
            "harbor": _kept(files, config, taken),
        },
    )


def _kept(files: Files, config: Config, taken: set[str]) -> JsonObject:
    """What the task has no place for, so that the directory can be written again."""
    return {
        "task_toml": _text(files, CONFIG),
        "ignored": list(config.ignored),
        "files": tree_to_json({path: file for path, file in files.items() if path not in taken}),
        "executable": sorted(path for path in taken if files[path].executable),
    }


def _recipe(config: Config, dockerfile: str, context: Mapping[str, TreeFile]) -> Recipe:
    if config.docker_image:
        return Recipe(base=config.docker_image, workspace=config.workspace)
    beside = {path.removeprefix("environment/"): file for path, file in context.items() if path != DOCKERFILE}
    return Recipe(dockerfile=dockerfile, context=beside, workspace=config.workspace)


def _reference(config: Config, solution: Mapping[str, str]) -> Solution:
    if SOLVE not in solution:
        return Solution()
    return Solution(
        command=solve_command(config),
        files={f"{solutions_home(config)}{path}": text for path, text in solution.items()},
    )


def _check_files(files: Files) -> None:
    for service in _SERVICES:
        if f"environment/{service}" in files:
            raise TaskError(f"environment/{service} starts several containers; only a Dockerfile or an image is run")
    if any(path.startswith("steps/") for path in files):
        raise TaskError("steps/ belongs to a task of several steps; split it into tasks")
    if "trajectory.json" in files:
        raise TaskError("trajectory.json begins in the middle of an episode; an episode begins with its task here")
    if any(path.startswith("solution/") for path in files) and SOLVE not in files:
        raise TaskError(f"solution/ has no {SOLVE}; expected one script that solves the task")


def _below(files: Files, folder: str) -> Files:
    return {path: file for path, file in files.items() if path.startswith(folder)}


def _text(files: Files, path: str) -> str:
    try:
        return files[path].content.decode("utf-8")
    except UnicodeDecodeError as cause:
        raise TaskError(f"{path} is no UTF-8 text ({cause.reason}); put data into environment/ or tests/") from cause


def _read(folder: Path) -> Files:
    files: Files = {}
    try:
        for path in sorted(folder.rglob("*")):
            name = path.relative_to(folder).as_posix()
            if path.is_symlink() or not (path.is_file() or path.is_dir()):
                raise TaskError(f"{name} is a link or a device; expected regular files only")
            if path.is_file():
                files[name] = TreeFile(path.read_bytes(), executable=bool(path.stat().st_mode & 0o100))
    except OSError as cause:
        raise TaskError(f"{cause.filename} cannot be read ({cause.strerror})") from cause
    return files
