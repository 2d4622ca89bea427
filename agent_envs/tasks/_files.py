"""Tasks from files: JSONL, Parquet, and Hugging Face dataset folders, without their library.

A row always comes with the place where it stands, because an error that does not name it cannot be repaired.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from agent_envs import json_lines
from agent_envs.errors import MissingExtra, TaskError
from agent_envs.json_lines import JsonObject
from agent_envs.tasks._task import Task

if TYPE_CHECKING:
    import pyarrow

T = TypeVar("T")

Importer = Callable[[Mapping[str, Any]], Task]
"""Makes a task of one row of a foreign data set."""

_TABLES = (".parquet", ".arrow")
_FILE_NAME = re.compile(
    r"(?P<split>\w[\w.]*?)(?:-(?P<shard>\d{5})-of-(?P<shards>\d{5})(?:-[0-9a-f]{16})?)?\.(?:parquet|jsonl)"
)


def load_files(files: Mapping[str, list[Path]], importer: Importer | None) -> dict[str, tuple[Task, ...]]:
    """The tasks of the files of every split, in order."""
    return {
        split: tuple(task for path in paths for task in _tasks_of_file(path, importer))
        for split, paths in files.items()
    }


def load_folder(folder: Path, importer: Importer | None) -> dict[str, tuple[Task, ...]]:
    """The tasks of a dataset folder."""
    return load_files(_files_by_split(folder), importer)


def _tasks_of_file(path: Path, importer: Importer | None) -> Iterator[Task]:
    if importer is None and not _is_table(path):
        yield from (_made(where, Task.from_json, line) for where, line in _lines(path))
    else:
        yield from (_made(where, importer or Task.from_row, row) for where, row in _rows(path))


def _made(where: str, make: Callable[[T], Task], row: T) -> Task:
    try:
        task = make(row)
        if isinstance(task, Task) and isinstance(row, Mapping):
            task.check_plain()
    except TaskError as cause:
        raise TaskError(f"{where}: {cause}") from cause
    except (LookupError, TypeError, ValueError, AttributeError) as cause:
        names = f"; the row has: {', '.join(map(str, row))}" if isinstance(row, Mapping) else ""
        raise TaskError(f"{where}: the importer failed with {type(cause).__name__}: {cause}{names}") from cause
    if not isinstance(task, Task):
        raise TaskError(f"{where}: the importer returned a {type(task).__name__}; expected a Task")
    return task


def _is_table(path: Path) -> bool:
    """Whether the file holds typed columns rather than lines of JSON."""
    return path.suffix in _TABLES


def _lines(path: Path) -> Iterator[tuple[str, bytes]]:
    """Every line of a JSONL file that is not blank."""
    try:
        for number, line, _ in json_lines.numbered_lines(path):
            yield f"{path}, line {number}", line
    except OSError as cause:
        raise TaskError(f"{path} cannot be read ({cause.strerror}); expected a file of tasks") from cause


def _rows(path: Path) -> Iterator[tuple[str, JsonObject]]:
    """Every row of a JSONL, Parquet or Arrow file."""
    if _is_table(path):
        for number, row in enumerate(_table_rows(path), start=1):
            yield f"{path}, row {number}", row
        return
    for where, line in _lines(path):
        try:
            yield where, msgspec.json.decode(line, type=JsonObject)
        except (msgspec.DecodeError, UnicodeError) as cause:
            raise TaskError(f"{where}: {cause}; expected one JSON object per line") from cause


def _table_rows(path: Path) -> Iterator[JsonObject]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as cause:
        raise MissingExtra("pyarrow", extra="parquet") from cause
    try:
        if path.suffix == ".parquet":
            with pyarrow.parquet.ParquetFile(path) as file:
                for batch in file.iter_batches(1024):
                    yield from batch.to_pylist()
        else:
            for batch in _arrow_batches(path):
                yield from batch.to_pylist()
    except (OSError, pyarrow.ArrowException) as cause:
        raise TaskError(
            f"{path} cannot be read as a table ({cause}); expected a complete {path.suffix} file"
        ) from cause


def _arrow_batches(path: Path) -> Iterator[pyarrow.RecordBatch]:
    import pyarrow

    with pyarrow.memory_map(str(path)) as source:
        try:
            # `save_to_disk` writes the stream format; other tools write the file format under the same suffix.
            yield from pyarrow.ipc.open_stream(source)
            return
        except pyarrow.ArrowInvalid:
            reader = pyarrow.ipc.open_file(source)
        for position in range(reader.num_record_batches):
            yield reader.get_batch(position)


def _files_by_split(folder: Path) -> dict[str, list[Path]]:
    """The data files of a dataset folder, by split, in order; raises `TaskError` where one is missing."""
    if not folder.is_dir():
        raise TaskError(
            f"{folder} is no folder; expected a dataset folder; a file is read by from_jsonl or from_parquet"
        )
    if (folder / "dataset_dict.json").is_file():
        names = _json_file(folder / "dataset_dict.json").get("splits", [])
        return {str(name): _saved_files(folder / str(name)) for name in names}
    if (folder / "state.json").is_file():
        return {str(_json_file(folder / "state.json").get("_split") or "train"): _saved_files(folder)}
    data = folder / "data"
    return _named_files(data if data.is_dir() else folder)


def _saved_files(folder: Path) -> list[Path]:
    """The Arrow files of one split that `save_to_disk` wrote, as its own list orders them."""
    state = _json_file(folder / "state.json")
    if state.get("_indices_data_files"):
        raise TaskError(f"{folder} keeps a selection of its rows in an index file; save it after flatten_indices()")
    files = [folder / str(entry["filename"]) for entry in state.get("_data_files") or []]
    if not files:
        raise TaskError(f"{folder / 'state.json'} lists no data files; expected what save_to_disk writes")
    for file in files:
        if not file.is_file():
            raise TaskError(f"{file} is missing, and {folder / 'state.json'} lists it; copy the whole folder")
    return files


def _named_files(folder: Path) -> dict[str, list[Path]]:
    """Files whose names say their split, such as `train-00000-of-00002.parquet` or `test.jsonl`."""
    found: dict[str, list[tuple[Path, int]]] = {}
    for path in sorted(folder.iterdir()):
        match = _FILE_NAME.fullmatch(path.name)
        if match and path.is_file():
            found.setdefault(match["split"], []).append((path, int(match["shards"] or 1)))
    if not found:
        raise TaskError(f"{folder} holds no task files; {_remedy(folder)}")
    for split, files in found.items():
        shards = files[0][1]
        if any(count != shards for _, count in files) or len(files) != shards:
            raise TaskError(
                f"split {split!r} in {folder} has {len(files)} files, but their names say {shards}; copy them all"
            )
    return {split: [path for path, _ in found[split]] for split in sorted(found, key=_split_order)}


def _split_order(split: str) -> tuple[int, str]:
    """Training data first: a task set without a chosen split begins with it."""
    usual = ("train", "validation", "val", "dev", "test")
    return (usual.index(split) if split in usual else len(usual), split)


def _remedy(folder: Path) -> str:
    inner = [path.name for path in sorted(folder.iterdir()) if path.is_dir() and any(path.glob("*.parquet"))]
    if inner:
        return f"choose one of its configurations: {', '.join(inner)}"
    return "expected names such as train-00000-of-00001.parquet, train.parquet or test.jsonl"


def _json_file(path: Path) -> JsonObject:
    try:
        return msgspec.json.decode(path.read_bytes(), type=JsonObject)
    except (OSError, msgspec.DecodeError) as cause:
        raise TaskError(f"{path} cannot be read ({cause}); expected what save_to_disk writes") from cause
