"""Tasks and task sets: nothing is lost, nothing is doubled, a seed decides, and an error says where to look."""

from __future__ import annotations

import json
import pickle
import time
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_envs.errors import TaskError, UnknownTask
from agent_envs.tasks import GeneratedTaskSet, Task, TaskSet
from agent_envs.tools import ToolCall

ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY_TEXT, inner, max_size=3),
    max_leaves=8,
)
OBJECT = st.dictionaries(ANY_TEXT, JSON, max_size=3)


def numbered(count: int, *, start: int = 0) -> list[Task]:
    return [Task(id=f"t{number}", prompt=f"add 1 to {number}") for number in range(start, start + count)]


def addition(seed: int) -> Task:
    level = "easy" if seed % 4 else "hard"
    return Task(id="", prompt=f"What is 1 + {seed}?", secret={"answer": seed + 1}, difficulty=level)


def write_jsonl(path: Path, tasks: list[Task]) -> Path:
    path.write_text("".join(task.to_json() + "\n" for task in tasks))
    return path


def of_question(row: Mapping[str, Any]) -> Task:
    """The importer of a foreign row."""
    return Task(id=str(row["n"]), prompt=row["question"], secret={"answer": row["answer"]})


QUESTIONS = [{"n": number, "question": f"{number}?", "answer": number} for number in range(5)]

# --- one task ---


@given(ANY_TEXT, OBJECT, OBJECT, st.lists(ANY_TEXT).map(tuple))
def test_a_task_survives_json_whatever_its_texts(
    text: str, setup: dict[str, Any], secret: dict[str, Any], tags: Any
) -> None:
    task = Task(id=text, prompt=text, kind=text, setup=setup, secret=secret, tags=tags, difficulty=text)
    assert Task.from_json(task.to_json()) == task


def test_a_task_keeps_its_solution_and_its_wrong_endings() -> None:
    call = ToolCall("submit", {"answer": "3"})
    task = Task(id="a", prompt="p", solution=(call,), wrong=((call, call), ()))
    assert Task.from_json(task.to_json()) == task


@pytest.mark.parametrize("change", [{"prompt": "q"}, {"kind": "k"}, {"setup": {"x": 2}}, {"secret": {"y": [2]}}])
def test_the_content_hash_changes_with_what_is_asked_and_how_it_is_judged(change: dict[str, Any]) -> None:
    fields: dict[str, Any] = {"prompt": "p", "setup": {"x": 1}, "secret": {"y": [1]}}
    assert Task(id="a", **fields).content_hash != Task(id="a", **(fields | change)).content_hash


def test_the_content_hash_ignores_names_labels_and_the_order_of_keys() -> None:
    one = Task(id="a", prompt="p", setup={"x": 1, "y": {"b": 1, "a": 2}})
    other = Task(id="b", prompt="p", setup={"y": {"a": 2, "b": 1}, "x": 1}, tags=("t",), difficulty="hard")
    assert one.content_hash == other.content_hash
    assert len(one.content_hash) == 64


def test_tasks_are_equal_by_value_and_can_be_keys() -> None:
    assert {Task(id="a", prompt="p", setup={"x": [1]}): 1} == {Task(id="a", prompt="p", setup={"x": [1]}): 1}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"id": "a", "promt": "p"}', "did you mean `prompt`"),
        ('{"id": "a", "prompt": "p", "colour": 1}', "need an importer"),
        ('{"id": "a"}', "missing required field `prompt`"),
        ('{"id": 1, "prompt": "p"}', "Expected `str`"),
        ("[1]", "Expected `object`"),
        ('{"id": "a"', "truncated"),
    ],
)
def test_a_line_that_is_no_task_is_refused_with_what_is_wrong(line: str, message: str) -> None:
    with pytest.raises(TaskError, match=message):
        Task.from_json(line)


@pytest.mark.parametrize("value", [b"x", (1, 2), {1: 2}, float("nan"), {1, 2}, object()])
def test_data_that_json_would_change_is_refused(value: object) -> None:
    with pytest.raises(TaskError, match=r"secret of task 'a'"):
        TaskSet.of("s", [Task(id="a", prompt="p", secret={"x": value})])


# --- sets ---


def test_a_set_has_a_length_an_order_and_ids() -> None:
    tasks = TaskSet.of("sums", numbered(3))
    assert (len(tasks), tasks.size, tasks.name, tasks.splits) == (3, 3, "sums", ("train",))
    assert [task.id for task in tasks] == ["t0", "t1", "t2"]
    assert tasks.task("t1").prompt == "add 1 to 1"


def test_an_unknown_id_is_refused_with_the_nearest_ones() -> None:
    with pytest.raises(UnknownTask, match="nearest ids are: t11"):
        TaskSet.of("sums", numbered(12)).task("t11x")


def test_the_seed_alone_decides_which_task_is_drawn() -> None:
    tasks = TaskSet.of("sums", numbered(50))
    one, other = ([tasks.draw(rng).id for _ in range(20)] for rng in map(np.random.default_rng, (7, 7)))
    assert one == other
    assert one != [tasks.draw(np.random.default_rng(8)).id for _ in range(20)]


def test_every_task_is_drawn_equally_often() -> None:
    tasks, rng = TaskSet.of("sums", numbered(4)), np.random.default_rng(0)
    counts = Counter(tasks.draw(rng).id for _ in range(4000))
    assert all(900 < count < 1100 for count in counts.values())
    assert len(counts) == 4


def test_a_split_holds_its_own_tasks_and_nothing_else() -> None:
    tasks = TaskSet.of("sums", {"train": numbered(3), "test": numbered(2, start=3)})
    assert tasks.splits == ("train", "test")
    assert [task.id for task in tasks.split("test")] == ["t3", "t4"]
    assert len(tasks) == 5
    with pytest.raises(UnknownTask):
        tasks.split("train").task("t4")


def test_a_split_that_does_not_exist_is_refused_with_those_that_do() -> None:
    with pytest.raises(TaskError, match="it has: train"):
        TaskSet.of("sums", numbered(1)).split("test")


def test_content_shared_by_two_splits_is_refused_with_both_ids() -> None:
    leak = Task(id="copy", prompt="add 1 to 2")
    with pytest.raises(TaskError, match=r"'t2' \(train\) and 'copy' \(test\)"):
        TaskSet.of("sums", {"train": numbered(3), "test": [leak]})


def test_the_same_content_twice_in_one_split_is_allowed() -> None:
    assert len(TaskSet.of("sums", [Task(id="a", prompt="p"), Task(id="b", prompt="p")])) == 2


@pytest.mark.parametrize(
    ("tasks", "message"),
    [
        ([*numbered(2), Task(id="t0", prompt="other")], "'t0' twice"),
        ({"train": numbered(1), "test": [Task(id="t0", prompt="other")]}, "'t0' twice"),
        ([Task(id="", prompt="p")], "without an id"),
        ([], "empty"),
        ({"train": []}, "empty"),
        ([{"id": "a", "prompt": "p"}], "item 0 of split 'train' is a dict"),
    ],
)
def test_a_set_that_contradicts_itself_is_refused(tasks: Any, message: str) -> None:
    with pytest.raises(TaskError, match=message):
        TaskSet.of("sums", tasks)


def test_tasks_are_filtered_by_difficulty_and_by_all_of_their_tags() -> None:
    labels = [("easy", ("a",)), ("hard", ("a", "b")), ("hard", ())]
    tasks = [Task(id=str(n), prompt=str(n), difficulty=d, tags=t) for n, (d, t) in enumerate(labels)]
    labelled = TaskSet.of("s", tasks)
    assert [task.id for task in labelled.filter(difficulty="hard")] == ["1", "2"]
    assert [task.id for task in labelled.filter(tags=["a", "b"])] == ["1"]
    assert [task.id for task in labelled.filter(difficulty=("easy", "hard"), tags="a")] == ["0", "1"]


def test_a_filter_that_leaves_nothing_is_refused_with_what_there_is() -> None:
    with pytest.raises(TaskError, match=r"difficulties \['easy'\]"):
        TaskSet.of("s", [Task(id="a", prompt="p", difficulty="easy")]).filter(difficulty="esy")


def test_the_head_of_a_set_is_its_first_tasks_of_every_split() -> None:
    tasks = TaskSet.of("sums", {"train": numbered(3), "test": numbered(3, start=3)})
    assert [task.id for task in tasks.head(2)] == ["t0", "t1", "t3", "t4"]


@pytest.mark.parametrize("other", [numbered(2), list(reversed(numbered(3))), {"test": numbered(3)}])
def test_the_hash_of_a_set_changes_with_tasks_order_and_splits(other: Any) -> None:
    assert TaskSet.of("s", numbered(3)).content_hash == TaskSet.of("s", numbered(3)).content_hash
    assert TaskSet.of("s", numbered(3)).content_hash != TaskSet.of("s", other).content_hash


def test_a_lazy_set_is_loaded_once_and_only_when_it_is_used() -> None:
    calls: list[int] = []
    tasks = TaskSet.lazy("s", lambda: calls.append(1) or numbered(2))  # type: ignore[func-returns-value]
    assert calls == []
    assert (len(tasks), len(list(tasks)), calls) == (2, 2, [1])


@pytest.mark.parametrize("tasks", [TaskSet.of("s", numbered(2)), GeneratedTaskSet("g", addition).filter(tags=())])
def test_a_set_travels_to_another_process(tasks: TaskSet) -> None:
    assert pickle.loads(pickle.dumps(tasks)).content_hash == tasks.content_hash


# --- files ---


def test_a_jsonl_file_of_tasks_is_a_set(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "sums.jsonl", numbered(3))
    tasks = TaskSet.from_jsonl(path, split="test")
    assert (tasks.name, tasks.splits) == ("sums", ("test",))
    assert list(tasks) == numbered(3)


def test_a_malformed_line_is_named_by_file_and_number(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "sums.jsonl", numbered(2))
    path.write_text(path.read_text() + '\n{"id": "x", "promt": "p"}\n')
    with pytest.raises(TaskError, match=r"sums\.jsonl, line 4: .*did you mean `prompt`"):
        len(TaskSet.from_jsonl(path))


def test_a_torn_last_line_is_an_error_and_not_a_missing_task(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "sums.jsonl", numbered(3))
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(TaskError, match="line 3"):
        len(TaskSet.from_jsonl(path))


def test_a_byte_order_mark_and_blank_lines_are_no_tasks(tmp_path: Path) -> None:
    path = tmp_path / "sums.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + "\r\n\r\n".join(task.to_json() for task in numbered(3)).encode())
    assert list(TaskSet.from_jsonl(path)) == numbered(3)


def test_foreign_rows_become_tasks_through_an_importer(tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text("\n".join(map(json.dumps, QUESTIONS)))
    assert TaskSet.from_jsonl(path, importer=of_question).task("3").secret == {"answer": 3}


def test_an_importer_that_fails_is_named_with_the_row_and_its_columns(tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text('{"n": 1, "question": "?", "answer": 2}\n{"n": 1, "query": "?"}\n')
    with pytest.raises(TaskError, match=r"line 2: the importer failed with KeyError.*the row has: n, query"):
        len(TaskSet.from_jsonl(path, importer=of_question))


def test_an_importer_cannot_drop_rows(tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text(json.dumps(QUESTIONS[0]))
    with pytest.raises(TaskError, match="line 1: the importer returned a NoneType"):
        len(TaskSet.from_jsonl(path, importer=lambda row: None))  # type: ignore[arg-type, return-value]


def test_a_file_that_is_not_there_is_a_task_error(tmp_path: Path) -> None:
    with pytest.raises(TaskError, match="No such file"):
        len(TaskSet.from_jsonl(tmp_path / "none.jsonl"))


def test_ten_thousand_tasks_load_no_slower_than_their_json_is_parsed_twice(tmp_path: Path) -> None:
    task = Task(id="x", prompt="do " * 50, setup={"files": {"a.py": "x" * 300}}, secret={"tests": ["a" * 50] * 5})
    row, path = json.loads(task.to_json()), tmp_path / "many.jsonl"
    path.write_text("".join(json.dumps(row | {"id": f"t{n}"}) + "\n" for n in range(10_000)))

    def seconds(load: Callable[[], object]) -> float:
        began = time.thread_time()
        load()
        return time.thread_time() - began

    parsing = min(seconds(lambda: [json.loads(line) for line in path.read_text().splitlines()]) for _ in range(5))
    assert min(seconds(lambda: len(TaskSet.from_jsonl(path))) for _ in range(5)) < 2 * parsing


def test_a_parquet_file_of_tasks_may_hold_json_text_and_nulls(tmp_path: Path) -> None:
    rows = [
        {"id": "a", "prompt": "p", "setup": '{"x": [1]}', "tags": ["t"], "kind": None},
        {"id": "b", "prompt": "q", "setup": None, "tags": None, "kind": "k"},
    ]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "t.parquet")
    expected = [Task(id="a", prompt="p", setup={"x": [1]}, tags=("t",)), Task(id="b", prompt="q", kind="k")]
    assert list(TaskSet.from_parquet(tmp_path / "t.parquet")) == expected


def test_a_malformed_parquet_row_is_named(tmp_path: Path) -> None:
    rows = [{"id": "a", "prompt": "p", "setup": "{"}]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "t.parquet")
    with pytest.raises(TaskError, match=r"t\.parquet, row 1: setup is text that is not JSON"):
        len(TaskSet.from_parquet(tmp_path / "t.parquet"))


def test_a_broken_parquet_file_is_a_task_error(tmp_path: Path) -> None:
    (tmp_path / "t.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(TaskError, match=r"expected a complete \.parquet file"):
        len(TaskSet.from_parquet(tmp_path / "t.parquet"))


# --- dataset folders ---


def test_a_dataset_folder_is_read_by_split_with_training_first(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    for number, name in enumerate(("test-00000-of-00001", "train-00000-of-00002", "train-00001-of-00002")):
        pq.write_table(pa.Table.from_pylist([QUESTIONS[number]]), tmp_path / "data" / f"{name}.parquet")
    tasks = TaskSet.from_folder(tmp_path, name="q", importer=of_question)
    assert tasks.splits == ("train", "test")
    assert [task.id for task in tasks] == ["1", "2", "0"]


def test_a_folder_of_jsonl_files_is_read_by_split(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "test.jsonl", numbered(1))
    write_jsonl(tmp_path / "train.jsonl", numbered(2, start=1))
    (tmp_path / "README.md").write_text("no data")
    assert [len(TaskSet.from_folder(tmp_path).split(name)) for name in ("train", "test")] == [2, 1]


def test_a_missing_shard_is_an_error_and_not_a_smaller_set(tmp_path: Path) -> None:
    pq.write_table(pa.Table.from_pylist(QUESTIONS), tmp_path / "train-00000-of-00002.parquet")
    with pytest.raises(TaskError, match="has 1 files, but their names say 2"):
        len(TaskSet.from_folder(tmp_path, importer=of_question))


def save_to_disk(folder: Path, rows: list[dict[str, Any]], *, split: str) -> None:
    """The layout that Hugging Face's `Dataset.save_to_disk` writes."""
    folder.mkdir()
    names = []
    for number, row in enumerate(rows):
        names.append(f"data-{number:05d}-of-{len(rows):05d}.arrow")
        table = pa.Table.from_pylist([row])
        with pa.ipc.new_stream(folder / names[-1], table.schema) as writer:
            writer.write_table(table)
    state = {"_data_files": [{"filename": name} for name in names], "_split": split, "_indices_data_files": None}
    (folder / "state.json").write_text(json.dumps(state))


def test_a_saved_dataset_is_read_without_its_library(tmp_path: Path) -> None:
    save_to_disk(tmp_path / "d", QUESTIONS, split="validation")
    tasks = TaskSet.from_folder(tmp_path / "d", importer=of_question)
    assert (tasks.name, tasks.splits, [task.id for task in tasks]) == ("d", ("validation",), list("01234"))


def test_a_saved_dataset_of_several_splits_is_read_in_their_order(tmp_path: Path) -> None:
    save_to_disk(tmp_path / "test", QUESTIONS[:2], split="test")
    save_to_disk(tmp_path / "train", QUESTIONS[2:], split="train")
    (tmp_path / "dataset_dict.json").write_text('{"splits": ["train", "test"]}')
    tasks = TaskSet.from_folder(tmp_path, importer=of_question)
    assert [task.id for task in tasks] == ["2", "3", "4", "0", "1"]


def test_a_saved_dataset_with_a_missing_file_is_refused(tmp_path: Path) -> None:
    save_to_disk(tmp_path / "d", QUESTIONS, split="train")
    (tmp_path / "d" / "data-00002-of-00005.arrow").unlink()
    with pytest.raises(TaskError, match=r"data-00002-of-00005\.arrow is missing"):
        len(TaskSet.from_folder(tmp_path / "d", importer=of_question))


def test_a_saved_selection_of_rows_is_refused_rather_than_read_whole(tmp_path: Path) -> None:
    save_to_disk(tmp_path / "d", QUESTIONS, split="train")
    state = json.loads((tmp_path / "d" / "state.json").read_text())
    (tmp_path / "d" / "state.json").write_text(json.dumps(state | {"_indices_data_files": [{"filename": "i.arrow"}]}))
    with pytest.raises(TaskError, match="flatten_indices"):
        len(TaskSet.from_folder(tmp_path / "d", importer=of_question))


def test_a_folder_with_configurations_says_which_there_are(tmp_path: Path) -> None:
    (tmp_path / "main").mkdir()
    pq.write_table(pa.Table.from_pylist(QUESTIONS), tmp_path / "main" / "train.parquet")
    with pytest.raises(TaskError, match="configurations: main"):
        len(TaskSet.from_folder(tmp_path))


# --- generated sets ---


def test_a_generated_task_is_named_by_set_split_and_number_for_ever() -> None:
    tasks = GeneratedTaskSet("sums", addition)
    task = tasks.task("sums/train/123456789")
    assert (task.id, task.prompt) == ("sums/train/123456789", "What is 1 + 123456789?")
    assert tasks.task(task.id) == task


@given(st.integers(0, 2**31 - 1))
def test_a_drawn_task_can_be_asked_for_by_its_id(seed: int) -> None:
    tasks = GeneratedTaskSet("sums", addition)
    drawn = tasks.draw(np.random.default_rng(seed))
    assert tasks.task(drawn.id) == drawn == tasks.draw(np.random.default_rng(seed))


def test_the_splits_of_a_generated_set_use_different_seeds() -> None:
    tasks = GeneratedTaskSet("sums", addition, splits={"train": range(10), "test": range(10, 20)})
    prompts = {split: {task.prompt for task in tasks.split(split).head(10)} for split in tasks.splits}
    assert len(prompts["train"] | prompts["test"]) == 20


def test_divided_by_content_no_task_is_in_two_splits_however_few_there_are() -> None:
    few = GeneratedTaskSet("few", lambda seed: Task(id="", prompt=str(seed % 20)), by_content=True)
    train, test = ({task.prompt for task in few.split(split).head(300)} for split in ("train", "test"))
    assert train.isdisjoint(test)
    assert len(train | test) == 20


def test_divided_by_seed_an_overlap_shows_as_soon_as_tasks_are_listed() -> None:
    few = GeneratedTaskSet("few", lambda seed: Task(id="", prompt=str(seed % 20)))
    with pytest.raises(TaskError, match="overlap"):
        few.head(50)


def test_a_generated_set_has_no_length_and_no_end() -> None:
    tasks = GeneratedTaskSet("sums", addition)
    assert tasks.size is None
    with pytest.raises(TypeError, match=r"head\(n\)"):
        len(tasks)
    with pytest.raises(TaskError, match=r"head\(n\)"):
        list(tasks)
    assert len(tasks.split("train").head(5)) == 5


@pytest.mark.parametrize("id", ["sums/train/-1", "sums/train/007", "sums/dev/1", "other/train/1", "", "sums/test/x"])
def test_an_id_that_names_no_generated_task_is_refused_with_those_that_do(id: str) -> None:  # noqa: A002
    with pytest.raises(UnknownTask, match="sums/train/0 to 9"):
        GeneratedTaskSet("sums", addition, splits={"train": range(10), "test": range(10, 20)}).task(id)


def test_a_filtered_generated_set_holds_only_what_fits() -> None:
    hard = GeneratedTaskSet("sums", addition).split("train").filter(difficulty="hard")
    assert {hard.draw(np.random.default_rng(seed)).difficulty for seed in range(20)} == {"hard"}
    assert [task.id for task in hard.head(2)] == ["sums/train/0", "sums/train/4"]
    with pytest.raises(UnknownTask, match="excluded by the filter"):
        hard.task("sums/train/1")


def test_a_filter_that_nothing_fits_ends_with_an_error() -> None:
    none = GeneratedTaskSet("sums", addition).filter(difficulty="none")
    for use in (lambda: none.draw(np.random.default_rng(0)), lambda: none.head(1)):
        with pytest.raises(TaskError, match="fits the filter"):
            use()


def test_a_changed_generator_changes_the_hash_of_its_set() -> None:
    other = GeneratedTaskSet("sums", lambda seed: Task(id="", prompt=f"{seed}"))
    assert GeneratedTaskSet("sums", addition).content_hash == GeneratedTaskSet("sums", addition).content_hash
    assert GeneratedTaskSet("sums", addition).content_hash != other.content_hash
    assert (
        GeneratedTaskSet("sums", addition).content_hash != GeneratedTaskSet("sums", addition, version="2").content_hash
    )


@pytest.mark.parametrize(
    "splits",
    [{"a": range(5), "b": range(4, 9)}, {"a": range(0)}, {"a": range(-3, 3)}, {"a": range(0, 9, 2)}, {"a/b": range(3)}],
)
def test_splits_that_overlap_or_hold_no_seeds_are_refused(splits: dict[str, range]) -> None:
    with pytest.raises(TaskError, match="seeds"):
        GeneratedTaskSet("sums", addition, splits=splits)
