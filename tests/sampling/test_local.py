"""Sampling in this process: the same ids as plain generation, whoever else is in the batch."""

from __future__ import annotations

import time
from typing import Any

import pytest
import torch

from agent_envs.sampling import Completion, LocalSampler, Request, tiny_model

PROMPTS = ([1, 2, 3], [4, 5, 6, 7, 8, 9], [10], [1, 2, 3])


@pytest.fixture(scope="module")
def model() -> Any:
    torch.set_num_threads(1)
    return tiny_model(seed=3)[0]


def finish(sampler: LocalSampler, requests: list[Request]) -> dict[int, Completion]:
    for request in requests:
        sampler.submit(request)
    return polled(sampler, len(requests))


def polled(sampler: LocalSampler, count: int) -> dict[int, Completion]:
    """So many completions, by their keys."""
    done: dict[int, Completion] = {}
    until = time.monotonic() + 300
    while len(done) < count:
        assert time.monotonic() < until, "the sampler never finished"
        done |= {completion.key: completion for completion in sampler.poll(5.0)}
    return done


def requests_of(*prompts: list[int], **options: Any) -> list[Request]:
    return [Request(key=k, ids=p, max_new=6 + k, seed=k, **options) for k, p in enumerate(prompts)]


def test_greedy_ids_are_those_of_generate(model: Any) -> None:
    done = finish(LocalSampler(model, set()), requests_of(*PROMPTS, temperature=0.0))
    for number, prompt in enumerate(PROMPTS):
        ids = torch.tensor([prompt])
        expected = model.generate(
            ids, attention_mask=torch.ones_like(ids), max_new_tokens=6 + number, do_sample=False, eos_token_id=None
        )
        assert done[number].ids == expected[0, len(prompt) :].tolist()


def test_log_probabilities_are_those_of_the_model_at_that_temperature(model: Any) -> None:
    (done,) = finish(LocalSampler(model, set()), requests_of([4, 5, 6], temperature=0.7)).values()
    ids = torch.tensor([[4, 5, 6, *done.ids]])
    with torch.no_grad():
        logprobs = (model(ids).logits[0, 2:-1] / 0.7).log_softmax(-1)
    assert done.logprobs == pytest.approx(logprobs[range(len(done.ids)), done.ids].tolist(), abs=1e-5)


def test_a_request_draws_the_same_whatever_is_sampled_beside_it(model: Any) -> None:
    together = finish(LocalSampler(model, set()), requests_of(*PROMPTS))
    for request in requests_of(*PROMPTS):
        assert finish(LocalSampler(model, set()), [request])[request.key].ids == together[request.key].ids


def test_requests_that_come_late_join_the_batch(model: Any) -> None:
    sampler = LocalSampler(model, set())
    early, late = requests_of([1, 2, 3], [4, 5, 6])
    sampler.submit(early)
    assert sampler.poll(0.0) == []
    sampler.submit(late)
    done = polled(sampler, 2)
    assert done[1].ids == finish(LocalSampler(model, set()), [late])[1].ids


def test_the_memory_of_a_turn_stands_for_its_context(model: Any) -> None:
    sampler = LocalSampler(model, set())
    (first,) = finish(sampler, [Request(key=0, ids=[1, 2, 3], max_new=5, seed=1)]).values()
    context = [1, 2, 3, *first.ids, 20, 21, 22]
    asked = [Request(key=k, ids=context, max_new=5, seed=9, memory=m) for k, m in ((0, first.memory), (1, None))]
    done = finish(sampler, asked)
    assert done[0].ids == done[1].ids
    assert done[0].logprobs == pytest.approx(done[1].logprobs, abs=1e-5)


def test_a_turn_ends_at_the_first_stop_id_which_is_part_of_it(model: Any) -> None:
    everything = set(range(len(tiny_model()[1])))
    (done,) = finish(LocalSampler(model, everything), [Request(key=0, ids=[1], max_new=9)]).values()
    assert len(done.ids) == 1


def test_new_weights_are_sampled_from_after_a_refresh() -> None:
    model, _ = tiny_model(seed=3)
    sampler = LocalSampler(model, set())
    request = Request(key=0, ids=[1, 2], max_new=8, temperature=0.0)
    before = finish(sampler, [request])[0]
    with torch.no_grad():
        model.model.embed_tokens.weight.mul_(-1.0)
    assert finish(sampler, [request])[0].ids == before.ids
    sampler.refresh(model, 1)
    assert finish(sampler, [request])[0].logprobs != before.logprobs


def test_draws_follow_the_distribution(model: Any) -> None:
    asked = [Request(key=k, ids=[1, 2, 3], max_new=1, seed=k, temperature=0.3) for k in range(2000)]
    drawn = torch.bincount(torch.tensor([c.ids[0] for c in finish(LocalSampler(model, set()), asked).values()]))
    with torch.no_grad():
        expected = (model(torch.tensor([[1, 2, 3]])).logits[0, -1] / 0.3).softmax(-1)
    top = int(expected.argmax())
    assert float(drawn[top]) / 2000 == pytest.approx(float(expected[top]), abs=0.04)


def test_a_request_takes_the_place_of_a_row_that_has_left(model: Any) -> None:
    sampler = LocalSampler(model, set())
    first = [Request(key=k, ids=[7, 8, 9, 10 + k], max_new=n, seed=k) for k, n in enumerate((2, 20, 20, 20, 20))]
    for request in first:
        sampler.submit(request)
    done = polled(sampler, 1)
    assert list(done) == [0]
    late = Request(key=9, ids=[1, 2, 3], max_new=6, seed=4)
    sampler.submit(late)
    done |= polled(sampler, 5)
    for request in (*first, late):
        alone = finish(LocalSampler(model, set()), [request])[request.key]
        assert done[request.key].ids == alone.ids
        assert done[request.key].logprobs == pytest.approx(alone.logprobs, abs=1e-5)
