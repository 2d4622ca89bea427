"""The task set of the trainer's benchmark: expressions that a program prints, with held-out ones of the same kinds."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

FORMS = ("{a} * {b} + {c}", "({a} + {b}) * {c}", "{a} * {b} - {c}", "{c} + {a} * {b}", "{a} ** 2 + {b}")
ASK = "Write Python code that prints {what}. Reply with one ```python code block."


def write_tasks(folder: Path, *, train: int = 40, test: int = 40) -> tuple[Path, list[str], list[str]]:
    """A file of tasks, the ids for training, and the held-out ones; no expression occurs twice."""
    rng, seen = Random(0), set()
    lines, ids = [], []
    while len(ids) < train + test:
        numbers = {name: rng.randint(11, 99) for name in "ab"} | {"c": rng.randint(11, 400)}
        what = FORMS[len(ids) % len(FORMS)].format(**numbers)
        if what in seen:
            continue
        seen.add(what)
        ids.append(f"expressions/{len(ids)}")
        task = {"id": ids[-1], "prompt": ASK.format(what=what), "kind": "number", "secret": {"answer": str(eval(what))}}
        lines.append(json.dumps(task))
    path = folder / "expressions.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path, ids[:train], ids[train:]
