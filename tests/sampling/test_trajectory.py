"""The export: a trajectory is one line of JSON that reads back equal."""

from __future__ import annotations

from pathlib import Path

from agent_envs.sampling import Segment, Trajectory, read_trajectories, write_trajectories


def test_trajectories_are_read_back_as_they_were(tmp_path: Path) -> None:
    one = Trajectory(
        group=3,
        member=1,
        start="seed=7",
        segments=[Segment((1, 2), fresh=True), Segment((3,), (-0.25,), by_model=True)],
        rewards=[0.5],
        state_hashes=["x"],
        errors=[""],
        end="terminated",
        policy_version=4,
        shown=[("environment", "2+2?"), ("model", "4")],
    )
    write_trajectories(tmp_path / "t.jsonl", [one, one])
    assert list(read_trajectories(tmp_path / "t.jsonl")) == [one, one]
