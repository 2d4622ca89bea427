"""The policy as the learner sees it: log-probabilities of chosen tokens, with logits at those positions only."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch.utils.checkpoint import checkpoint

if TYPE_CHECKING:
    from agent_envs.trainers.grpo import Sample

_Scores = tuple[torch.Tensor, torch.Tensor | None]


class Policy:
    """A causal model; anything that is called with `input_ids` and returns an object with `logits` will do.

    Args:
        model: For instance of transformers, or PEFT.
        autocast: Compute in bfloat16, whatever the weights are kept in.
        chunk: The most logits computed at once; more are computed in pieces, and again in the backward pass.
    """

    def __init__(self, model: Any, *, autocast: bool = False, chunk: int = 1 << 25) -> None:
        self.model, self.autocast, self.chunk = model, autocast, chunk
        self._shortcut = self._find_shortcut()

    @property
    def device(self) -> Any:
        """Where the weights are."""
        return next(self.model.parameters()).device

    def logprobs(self, samples: Sequence[Sample], temperature: float, *, entropy: bool = False) -> _Scores:
        """Of every trained token of the samples, in their order; and the entropy there where it is asked for."""
        ids = torch.nn.utils.rnn.pad_sequence([sample.ids for sample in samples], batch_first=True).to(self.device)
        rows = torch.cat([torch.full_like(sample.at, row) for row, sample in enumerate(samples)])
        at = torch.cat([sample.at for sample in samples]).to(self.device)
        targets = ids[rows, at]
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.autocast):
            if self._shortcut is None:
                logits = self.model(input_ids=ids).logits[rows, at - 1]
                return _score(logits, targets, temperature, entropy=entropy)
            decoder, head = self._shortcut
            # Padding stands on the right, where a causal model never looks: no mask is needed.
            states = decoder(input_ids=ids, use_cache=False).last_hidden_state[rows, at - 1]
            return self._in_chunks(states, head, targets, temperature, entropy=entropy)

    @contextlib.contextmanager
    def as_reference(self) -> Iterator[None]:
        """The model as it was before training: with its adapters off, where it has any."""
        with self.model.disable_adapter() if hasattr(self.model, "disable_adapter") else contextlib.nullcontext():
            yield

    def _in_chunks(self, states: Any, head: Any, targets: Any, temperature: float, *, entropy: bool) -> _Scores:
        def score(some: Any, some_targets: Any) -> _Scores:
            return _score(head(some), some_targets, temperature, entropy=entropy)

        size = max(1, self.chunk // head.weight.shape[0])
        if len(states) <= size:
            return score(states, targets)
        pieces = [
            checkpoint(score, some, some_targets, use_reentrant=False)
            for some, some_targets in zip(states.split(size), targets.split(size), strict=True)
        ]
        return torch.cat([one for one, _ in pieces]), torch.cat([two for _, two in pieces]) if entropy else None

    def _find_shortcut(self) -> tuple[Any, Any] | None:
        """The body of the model and its head, where head(body(ids)) are the model's own logits."""
        base = self.model.get_base_model() if hasattr(self.model, "get_base_model") else self.model
        if not hasattr(base, "get_decoder") or base.get_output_embeddings() is None:
            return None
        decoder, head = base.get_decoder(), base.get_output_embeddings()
        ids = torch.tensor([[0, 1, 2]], device=self.device)
        with torch.no_grad():
            # Some models cap or scale the logits after the head.
            same = torch.allclose(head(decoder(input_ids=ids).last_hidden_state), self.model(input_ids=ids).logits)
        return (decoder, head) if same else None


def _score(logits: Any, targets: Any, temperature: float, *, entropy: bool) -> _Scores:
    logits = logits.float() / temperature
    total = logits.logsumexp(-1)
    logprobs = logits.gather(-1, targets[:, None])[:, 0] - total
    if not entropy:
        return logprobs, None
    return logprobs, total - (logits.softmax(-1) * logits).sum(-1)
