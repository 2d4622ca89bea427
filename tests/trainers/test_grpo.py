"""From rewards to one step: advantages, denominators, masks, and a gradient that no split changes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch
from agent_envs.trainers import TrainConfig
from agent_envs.trainers.grpo import (
    Sample,
    accumulate,
    advantages,
    has_variance,
    kl_estimate,
    micro_batches,
    pass_at_k,
    samples_of,
    standardized,
    step,
    token_losses,
)
from agent_envs.trainers.policy import Policy

from agent_envs.sampling import Segment, Trajectory, tiny_model

LOSSES = ("grpo", "dr_grpo", "dapo", "gspo", "reinforce")


def played(reward: float, *lengths: int, group: int = 0, member: int = 0, **more: Any) -> Trajectory:
    """An episode with a turn of every length, over some ids."""
    segments = []
    for turn, length in enumerate(lengths):
        segments.append(Segment(tuple(range(3 + member, 8 + member + turn)), fresh=turn == 0))
        ids = tuple((7 * member + 3 * k + turn) % 200 for k in range(length))
        segments.append(Segment(ids, tuple(-1.0 - 0.01 * k for k in range(length)), by_model=True))
    rewards = [0.0] * (len(lengths) - 1) + [reward]
    return Trajectory(
        group=group,
        member=member,
        segments=segments,
        rewards=rewards,
        state_hashes=more.pop("state_hashes", [""] * len(lengths)),
        errors=[""] * len(lengths),
        **more,
    )


def groups_of_unlike_lengths() -> list[list[Trajectory]]:
    return [
        [played(1.0, 5, member=0), played(0.0, 17, 3, member=1), played(0.3, 2, member=2)],
        [played(0.0, 9, group=1, member=3), played(1.0, 1, 4, 2, group=1, member=4)],
    ]


def gradient(config: TrainConfig, budget: int, groups: list[list[Trajectory]] | None = None) -> torch.Tensor:
    model, _ = tiny_model(seed=1)
    accumulate(Policy(model), samples_of(groups or groups_of_unlike_lengths(), config), config, budget=budget)
    return torch.cat([p.grad.flatten() for p in model.parameters()])


def test_advantages_are_those_of_the_formula() -> None:
    values = [1.5, 0.3, -0.3, -1.0]
    std = torch.tensor(values, dtype=torch.float64).std().item()
    assert standardized(values) == pytest.approx([(v - 0.125) / (std + 1e-4) for v in values], rel=1e-12)
    population = torch.tensor(values, dtype=torch.float64).std(correction=0).item()
    assert standardized(values, ddof=0)[0] == pytest.approx(1.375 / (population + 1e-4), rel=1e-12)


def test_a_group_whose_rewards_differ_by_rounding_alone_has_no_variance() -> None:
    assert not has_variance([0.1 + 0.2, 0.3, 0.3])
    assert standardized([0.1 + 0.2, 0.3, 0.3]) == [0.0, 0.0, 0.0]


def test_the_only_loser_of_a_group_is_kept_and_no_advantage_explodes() -> None:
    found = standardized([0.0] + [0.95] * 7)
    assert found[0] < -2.0
    assert max(map(abs, found)) < 3.0


def test_the_floor_of_the_standard_deviation_bounds_what_tiny_differences_are_worth() -> None:
    assert max(map(abs, standardized([0.5, 0.5 + 1e-5, 0.5, 0.5], std_floor=1e-3))) < 0.01


def test_a_scale_of_the_batch_and_none_at_all() -> None:
    groups = groups_of_unlike_lengths()
    centred = advantages(groups, TrainConfig(advantage_scale="none"))
    assert [member[0] for member in centred[1]] == pytest.approx([-0.5, 0.5])
    std = torch.tensor([t.reward for group in groups for t in group]).std().item()
    scaled = advantages(groups, TrainConfig(advantage_scale="batch"))
    assert [member[0] for member in scaled[1]] == pytest.approx([-0.5 / (std + 1e-4), 0.5 / (std + 1e-4)], rel=1e-5)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_gradient_is_the_same_for_any_split_into_micro_batches(loss: Any) -> None:
    config = TrainConfig(loss=loss, group_size=3, entropy_bonus=0.01, importance_cap=2.0)
    whole = gradient(config, 10_000)
    assert whole.norm() > 0
    for budget in (1, 40, 64):
        torch.testing.assert_close(gradient(config, budget), whole, atol=1e-6, rtol=1e-5)


def test_logits_in_chunks_have_the_same_gradient() -> None:
    config, samples = TrainConfig(), samples_of(groups_of_unlike_lengths(), TrainConfig())
    found = []
    for chunk in (1 << 25, 300):
        model, _ = tiny_model(seed=1)
        accumulate(Policy(model, chunk=chunk), samples, config, budget=10_000)
        found.append(torch.cat([p.grad.flatten() for p in model.parameters()]))
    torch.testing.assert_close(found[0], found[1], atol=1e-7, rtol=1e-5)


def test_groups_without_variance_and_masked_episodes_change_no_gradient() -> None:
    config = TrainConfig(mask_truncated=True)
    teaching = groups_of_unlike_lengths()
    idle = [[played(0.5, 30, group=2, member=m) for m in (5, 6)]]
    torch.testing.assert_close(gradient(config, 999, teaching + idle), gradient(config, 999))
    teaching[0].append(played(0.3, 40, member=9, truncated=True))
    model, _ = tiny_model()
    ids = [sample.ids for sample in samples_of(teaching, config)]
    assert max(len(one) for one in ids) < 40
    assert model is not None


def test_the_denominator_is_that_of_the_whole_step() -> None:
    groups = groups_of_unlike_lengths()
    tokens = sum(t.trained for group in groups for t in group)
    by_token = samples_of(groups, TrainConfig(loss="dapo"))
    assert {round(float(w), 9) for s in by_token for w in s.weights} == {round(1 / tokens, 9)}
    by_episode = samples_of(groups, TrainConfig(loss="grpo"))
    assert sum(float(s.weights.sum()) for s in by_episode) == pytest.approx(1.0)
    constant = samples_of(groups, TrainConfig(loss="dr_grpo", length=50))
    assert float(constant[0].weights[0]) == pytest.approx(1 / (5 * 50))


def test_what_the_environment_wrote_is_never_trained_on() -> None:
    (sample, *_) = samples_of([[played(1.0, 4, 3), played(0.0, 4, 3, member=1)]], TrainConfig())
    assert sample.at.tolist() == [5, 6, 7, 8, 15, 16, 17]
    assert len(sample.ids) == 18


def test_an_end_of_turn_id_inside_the_sampled_ids_stays_trained_although_it_is_the_padding_id() -> None:
    ended = Segment((9, 2), (-0.1, -0.2), by_model=True)
    one = Trajectory(group=0, member=0, segments=[Segment((1,), fresh=True), ended], rewards=[1.0])
    other = Trajectory(group=0, member=1, segments=[Segment((1,), fresh=True), ended], rewards=[0.0])
    assert [s.at.tolist() for s in samples_of([[one, other]], TrainConfig())] == [[1, 2], [1, 2]]


def test_turns_that_began_in_the_same_state_are_compared() -> None:
    good = played(1.0, 1, 1, state_hashes=["a", "b"])
    bad = played(0.0, 1, 1, member=1, state_hashes=["a", "c"])
    plain, credited = (advantages([[good, bad]], TrainConfig(turn_credit=credit))[0] for credit in (0.0, 1.0))
    assert credited[0][0] > plain[0][0]
    assert credited[0][1] == plain[0][1]


def test_clipping_ends_the_gradient_above_the_upper_bound() -> None:
    logprobs = torch.tensor([0.5, 0.1], requires_grad=True)
    batch = Sample(
        ids=torch.tensor([]),
        at=torch.tensor([]),
        advantages=torch.tensor([1.0, 1.0]),
        weights=torch.ones(2),
        sampled=torch.zeros(2),
        old=torch.zeros(2),
    )
    token_losses(logprobs, batch, TrainConfig(clip_high=0.28)).sum().backward()
    assert logprobs.grad is not None
    assert logprobs.grad[0] == 0.0
    assert logprobs.grad[1] < 0.0


def test_the_correction_for_the_sampler_is_truncated() -> None:
    batch = Sample(
        ids=torch.tensor([]),
        at=torch.tensor([]),
        advantages=torch.tensor([1.0, 1.0]),
        weights=torch.ones(2),
        sampled=torch.tensor([-9.0, 0.5]),
        old=torch.zeros(2),
    )
    losses = token_losses(torch.zeros(2), batch, TrainConfig(importance_cap=2.0))
    assert losses.tolist() == pytest.approx([-2.0, -(torch.tensor(-0.5).exp().item())])


def test_estimators_of_the_divergence() -> None:
    ours, theirs = torch.tensor([-1.0]), torch.tensor([-1.5])
    assert float(kl_estimate(ours, theirs, "k1")) == pytest.approx(0.5)
    assert float(kl_estimate(ours, theirs, "k2")) == pytest.approx(0.125)
    assert float(kl_estimate(ours, theirs, "k3")) == pytest.approx(torch.tensor(-0.5).exp().item() - 0.5)


def test_a_gradient_that_is_no_number_moves_no_weight() -> None:
    weight = torch.nn.Parameter(torch.ones(2))
    optimizer = torch.optim.AdamW([weight])
    weight.grad = torch.tensor([float("nan"), 1.0])
    assert step(optimizer, max_grad_norm=1.0) != 1.0
    assert weight.tolist() == [1.0, 1.0]


def test_micro_batches_keep_to_their_budget_of_ids_with_padding() -> None:
    pieces = list(micro_batches(samples_of(groups_of_unlike_lengths(), TrainConfig()), 40))
    assert sum(map(len, pieces)) == 5
    assert all(len(piece) == 1 or len(piece) * max(len(s.ids) for s in piece) <= 40 for piece in pieces)


def test_pass_at_k_is_unbiased() -> None:
    groups = {0: [played(0, 1, solved=True), played(0, 1), played(0, 1), played(0, 1)]}
    assert pass_at_k(groups, 1) == pytest.approx(0.25)
    assert pass_at_k(groups, 2) == pytest.approx(0.5)


class LstmPolicy(torch.nn.Module):
    """The small policy of the founding documents: it knows nothing of transformers."""

    def __init__(self, vocabulary: int = 32, width: int = 16) -> None:
        super().__init__()
        self.embedding = torch.nn.Embedding(vocabulary, width)
        self.lstm = torch.nn.LSTM(width, width, batch_first=True)
        self.head = torch.nn.Linear(width, vocabulary)

    def forward(self, input_ids: torch.Tensor) -> Any:
        return SimpleNamespace(logits=self.head(self.lstm(self.embedding(input_ids))[0]))


def test_the_closed_loop_of_the_founding_documents() -> None:
    """Four trajectories, rewards 1.5, 0.3, -0.3, -1.0: one update makes the best likelier and the worst less likely."""
    torch.manual_seed(0)
    policy = Policy(LstmPolicy())
    rewards = [1.5, 0.3, -0.3, -1.0]
    group = []
    for member, reward in enumerate(rewards):
        said = Segment(tuple((5 * member + k) % 32 for k in range(4)), (0.0,) * 4, by_model=True)
        group.append(Trajectory(group=0, member=member, segments=[Segment((1, 2), fresh=True), said], rewards=[reward]))
    config = TrainConfig(loss="grpo", clip_high=0.2, importance_cap=0.0)
    found = [turns[0] for turns in advantages([group], config)[0]]
    assert found == pytest.approx([1.29768, 0.16516, -0.40110, -1.06174], abs=1e-5)
    samples = samples_of([group], config)

    def likelihoods() -> list[float]:
        with torch.no_grad():
            return [float(row.sum()) for row in policy.logprobs(samples, 1.0)[0].split(4)]

    before = likelihoods()
    optimizer = torch.optim.AdamW(policy.model.parameters(), lr=1e-2)
    metrics = accumulate(policy, samples, config, budget=1000)
    assert metrics["loss"] == pytest.approx(-sum(found) / 4, abs=1e-6)
    assert step(optimizer, max_grad_norm=1.0) > 0
    change = [after - then for after, then in zip(likelihoods(), before, strict=True)]
    assert change[0] > 0 > change[3]
