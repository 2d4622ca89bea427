"""Sampling in this process with a Hugging Face model: rows join and leave the batch at every token.

One decision: a row keeps its keys and values from one turn to the next, so a turn costs what is new in it. Prompts are
read one by one, without padding, and equal ones once; only single tokens are computed in batches.
"""

from __future__ import annotations

import copy
import inspect
import threading
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from transformers import Cache
from transformers.cache_utils import DynamicLayer

from agent_envs.sampling.protocol import Completion, Request

_BLOCK = 64
"""Columns by which the room for keys and values grows."""

Layers = list[tuple[torch.Tensor, torch.Tensor]]


class _Roomy(DynamicLayer):  # type: ignore[misc]
    """Keys and values with room to spare, so that a token does not copy everything before it."""

    keys: Any
    values: Any
    _room: list[Any]

    def update(self, keys: Any, values: Any, *args: Any, **kwargs: Any) -> Any:
        start = self.get_seq_length()
        end = start + keys.shape[-2]
        if start == 0 or end > self._room[0].shape[-2]:
            self._room = [self._grown(old, new, end) for old, new in ((self.keys, keys), (self.values, values))]
            self.is_initialized = True
        self._room[0][:, :, start:end] = keys
        self._room[1][:, :, start:end] = values
        self.keys, self.values = (room[:, :, :end] for room in self._room)
        return self.keys, self.values

    @staticmethod
    def _grown(old: Any, new: Any, end: int) -> Any:
        room = new.new_empty(*new.shape[:-2], end + _BLOCK, new.shape[-1])
        if old is not None:
            room[:, :, : old.shape[-2]] = old
        return room


@dataclass(slots=True)
class _Row:
    request: Request
    rng: np.random.Generator
    length: int
    """Valid columns of the cache, all at its right end."""
    ids: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)


class LocalSampler:
    """Samples from a copy of a causal language model, refreshed after every step of the learner.

    Args:
        model: A causal model of transformers, or a PEFT model over one.
        stop_ids: Ids that end a turn.
        dtype: Of the copy's weights; None keeps the model's. Frozen weights of the same type are shared, not copied.
    """

    def __init__(self, model: Any, stop_ids: set[int], *, dtype: torch.dtype | None = None) -> None:
        frozen = [p for p in model.parameters() if not p.requires_grad and dtype in (None, p.dtype)]
        self._model = copy.deepcopy(model, {id(p): p for p in frozen}).eval()
        if dtype is not None:
            self._model.to(dtype)
        base = self._model.get_base_model() if hasattr(self._model, "get_base_model") else self._model
        # transformers has been renaming the argument since 5.24.
        self._cache_name = "cache" if "cache" in inspect.signature(base.forward).parameters else "past_key_values"
        self._own = [p for p in self._model.parameters() if p.requires_grad]
        self._stop = stop_ids
        self.context: int = getattr(model.config, "max_position_embeddings", None) or 1 << 20
        self.version = 0
        self._lock = threading.Lock()
        self._waiting: list[Request] = []
        self._rows: list[_Row | None] = []
        """The rows of the batch; None where one has left and its keys and values have not been dropped yet."""
        self._layers: Layers = []
        self._cache: Any = None
        self._logits: Any = None
        self._done: list[Completion] = []

    def submit(self, request: Request) -> None:
        """Queue a request; it joins the batch at the next token."""
        self._waiting.append(request)

    def poll(self, wait_s: float) -> list[Completion]:
        """Decode until a row is finished, or `wait_s` seconds are over."""
        until = time.monotonic() + wait_s
        with torch.no_grad():
            if self._waiting:
                self._admit()
            while any(self._rows) and not self._done and time.monotonic() < until:
                with self._lock:
                    self._decode()
        done, self._done = self._done, []
        return done

    def refresh(self, model: Any, version: int) -> None:
        """Take over the weights that are trained; rows under way go on with them."""
        with self._lock, torch.no_grad():
            trained = (p for p in model.parameters() if p.requires_grad)
            for own, new in zip(self._own, trained, strict=True):
                own.copy_(new)
            self.version = version

    # --- The batch ----------------------------------------------------------------------------------------------

    def _admit(self) -> None:
        """Read the contexts that wait, and let their rows join the batch: in place of one that has left, or beside."""
        read: dict[tuple[int, ...], tuple[Layers, Any]] = {}
        beside: list[tuple[Layers, Any]] = []
        newcomers: list[_Row] = []
        for request in self._waiting:
            known = tuple(request.ids) if request.memory is None else ()
            with self._lock:
                own, last = read[known] if known in read else self._read(request)
            if known:
                read[known] = own, last
            row = _Row(request, np.random.default_rng(request.seed), len(request.ids))
            if None in self._rows and row.length <= self._mask.shape[1]:
                self._replace(self._rows.index(None), row, own, last)
            else:
                newcomers.append(row)
                beside.append((own, last))
        self._waiting = []
        if newcomers:
            layers, logits = self._remaining()
            self._rows += newcomers
            self._build([*layers, *(own for own, _ in beside)], torch.cat([*logits, *(last for _, last in beside)]))

    def _replace(self, number: int, row: _Row, own: Layers, last: Any) -> None:
        self._rows[number] = row
        for (keys, values), (new_keys, new_values) in zip(_layers_of(self._cache), own, strict=True):
            keys[number, :, -row.length :] = new_keys[0]
            values[number, :, -row.length :] = new_values[0]
        self._mask[number] = 0
        self._mask[number, -row.length :] = 1
        self._logits[number] = last[0]

    def _read(self, request: Request) -> tuple[Layers, Any]:
        cache = _cache_of(request.memory or [])
        tail = request.ids[cache.get_seq_length() :]
        ids = torch.tensor([tail], device=self._model.device)
        out = self._model(input_ids=ids, use_cache=True, logits_to_keep=1, **{self._cache_name: cache})
        return _layers_of(cache), out.logits[:, -1].float()

    def _remaining(self) -> tuple[list[Layers], list[Any]]:
        kept = [number for number, row in enumerate(self._rows) if row is not None]
        layers = [self._of_row(number) for number in kept]
        logits = [self._logits[number : number + 1] for number in kept]
        self._rows = [row for row in self._rows if row is not None]
        return layers, logits

    def _of_row(self, number: int) -> Layers:
        row = self._rows[number]
        assert row is not None
        cached = _layers_of(self._cache)
        return [tuple(t[number : number + 1, :, -row.length :] for t in layer) for layer in cached]

    def _build(self, layers: list[Layers], logits: Any) -> None:
        """One cache of many rows: every row ends in the last column."""
        columns = max(own[0][0].shape[-2] for own in layers)
        self._cache = _cache_of(
            [tuple(_stacked(layers, at, kind, columns) for kind in (0, 1)) for at in _count(layers)]
        )
        self._logits = logits
        starts = torch.tensor([[columns - own[0][0].shape[-2]] for own in layers])
        self._mask = (torch.arange(columns) >= starts).long().to(logits.device)

    def _decode(self) -> None:
        """One id for every row."""
        ids = self._sample()
        for number, row in enumerate(self._rows):
            if row is not None and (row.ids[-1] in self._stop or len(row.ids) >= row.request.max_new):
                memory = [(keys.clone(), values.clone()) for keys, values in self._of_row(number)]
                key = row.request.key
                self._done.append(Completion(key=key, ids=row.ids, logprobs=row.logprobs, memory=memory))
                self._rows[number] = None
        left = sum(row is None for row in self._rows)
        if left == len(self._rows):
            self._rows, self._cache, self._logits = [], None, None
            return
        if left * 4 >= len(self._rows):
            kept = [number for number, row in enumerate(self._rows) if row is not None]
            ids = ids[kept]
            layers, logits = self._remaining()
            self._build(layers, torch.cat(logits))
        self._mask = torch.cat([self._mask, self._mask.new_ones(len(self._rows), 1)], dim=1)
        lengths = torch.tensor([[0 if row is None else row.length] for row in self._rows], device=ids.device)
        out = self._model(
            input_ids=ids[:, None],
            attention_mask=self._mask,
            position_ids=lengths,
            use_cache=True,
            **{self._cache_name: self._cache},
        )
        self._logits = out.logits[:, -1].float()
        for row in self._rows:
            if row is not None:
                row.length += 1

    def _sample(self) -> Any:
        temperatures = [1.0 if row is None else row.request.temperature for row in self._rows]
        scale = torch.tensor([[t or 1.0] for t in temperatures], device=self._logits.device)
        logprobs = (self._logits / scale).log_softmax(-1)
        draws = torch.tensor([[0.5 if row is None else row.rng.random()] for row in self._rows], dtype=torch.float64)
        # In double precision: a sum of 50,000 single ones is wrong by more than a rare id is worth.
        mass = logprobs.double().exp().cumsum(-1)
        ids = torch.searchsorted(mass, draws.to(mass.device) * mass[:, -1:])[:, 0].clamp(max=mass.shape[-1] - 1)
        greedy = torch.tensor([t == 0.0 for t in temperatures], device=ids.device)
        ids = torch.where(greedy, logprobs.argmax(-1), ids)
        chosen = logprobs.gather(-1, ids[:, None])[:, 0].tolist()
        for row, one, logprob in zip(self._rows, ids.tolist(), chosen, strict=True):
            if row is not None:
                row.ids.append(one)
                row.logprobs.append(logprob)
        return ids


def _count(layers: list[Layers]) -> range:
    return range(len(layers[0]))


def _stacked(layers: list[Layers], at: int, kind: int, columns: int) -> Any:
    first = layers[0][at][kind]
    stacked = first.new_zeros(len(layers), first.shape[1], columns, first.shape[3])
    for number, own in enumerate(layers):
        stacked[number, :, columns - own[at][kind].shape[-2] :] = own[at][kind][0]
    return stacked


def _cache_of(layers: Any) -> Any:
    cache = Cache(layer_class_to_replicate=_Roomy)
    for number, (keys, values) in enumerate(layers):
        cache.update(keys, values, number)
    return cache


def _layers_of(cache: Any) -> Layers:
    return [(layer.keys, layer.values) for layer in cache.layers]
