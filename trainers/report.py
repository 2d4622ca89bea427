"""What a run leaves for people: a line of metrics a step, samples of episodes, a picture of the curves, trackers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from agent_envs import json_lines
from agent_envs.errors import MissingExtra
from agent_envs.sampling.trajectory import Trajectory

Metrics = dict[str, float]
_Sink = Callable[[Metrics], Any]
_CURVES = ("eval/pass@1", "reward", "solved", "entropy", "grad_norm", "sampler_gap")


class Journal:
    """Writes the metrics of a run to `metrics.jsonl`, to trackers that were asked for, and to whoever listens."""

    def __init__(self, folder: Path, on_step: _Sink, trackers: Iterable[str], config: Mapping[str, Any]) -> None:
        self.path = folder / "metrics.jsonl"
        told = [_tracker(name, folder, config) for name in trackers]
        self._sinks, self._ends = [on_step, *(sink for sink, _ in told)], [end for _, end in told]

    def keep_until(self, step: int) -> None:
        """Forget the steps after a checkpoint: they will be made again."""
        kept = [line for line in read_metrics(self.path) if line["step"] < step]
        self.path.write_text("".join(json.dumps(line) + "\n" for line in kept), encoding="utf-8")

    def write(self, metrics: Metrics) -> None:
        """Add one line."""
        json_lines.append(self.path, json.dumps(metrics).encode())
        for sink in self._sinks:
            sink(metrics)

    def close(self) -> None:
        """Let the trackers store what they hold."""
        for end in self._ends:
            end()


def read_metrics(path: str | Path) -> list[Metrics]:
    """The lines of such a file; none where there is no file."""
    return [json.loads(line) for _, line, _ in json_lines.numbered_lines(path)] if Path(path).exists() else []


def write_samples(path: Path, version: int, trajectories: Iterable[Trajectory]) -> None:
    """Append readable episodes: who said what, and what it was worth."""
    with path.open("a", encoding="utf-8") as file:
        for t in trajectories:
            file.write(f"\n## {t.start}, after {version} steps: reward {t.reward:g}, {t.end}\n")
            for who, said in t.shown:
                file.write(f"\n[{who}]\n{said}\n")


def draw_curves(metrics: list[Metrics], path: Path) -> None:
    """A PNG with a panel for each curve that was measured."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ModuleNotFoundError as cause:
        raise MissingExtra("matplotlib", extra="train") from cause
    shown = [name for name in _CURVES if any(name in line for line in metrics)]
    figure = Figure(figsize=(10, 2.6 * ((len(shown) + 1) // 2)), layout="constrained")
    FigureCanvasAgg(figure)
    for number, name in enumerate(shown, start=1):
        panel = figure.add_subplot((len(shown) + 1) // 2, 2, number)
        points = [(line["step"], line[name]) for line in metrics if name in line]
        panel.plot(*zip(*points, strict=True), marker="." if len(points) < 40 else "")
        panel.set_title(name, fontsize=9)
        panel.grid(visible=True, alpha=0.3)
    figure.savefig(path, dpi=110)


def _tracker(name: str, folder: Path, config: Mapping[str, Any]) -> tuple[_Sink, Callable[[], Any]]:
    try:
        if name == "tensorboard":
            writer = import_module("torch.utils.tensorboard").SummaryWriter(folder)
            return lambda m: [writer.add_scalar(key, value, int(m["step"])) for key, value in m.items()], writer.close
        tracker = import_module(name)
    except ModuleNotFoundError as cause:
        raise MissingExtra(name, extra="tracking") from cause
    options = {"resume": "allow"} if name == "trackio" else {"dir": str(folder)}
    run = tracker.init(project="agent-envs", name=folder.resolve().name, config=dict(config), **options)
    return lambda m: run.log(m, step=int(m["step"])), tracker.finish
