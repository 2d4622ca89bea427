"""Sampling from an inference server with OpenAI's completions API that returns token ids and log-probabilities.

One decision: ids go in and ids come out. A server that answers with text alone is refused: tokenising its text again
gives other ids than it drew. vLLM returns them with `return_token_ids`; see docs/training.md.
"""

from __future__ import annotations

import json
import queue
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from agent_envs.errors import ConfigError
from agent_envs.json_lines import JsonObject
from agent_envs.sampling.protocol import Completion, Request

_HOW = "serve the model with vLLM 0.10.2 or newer, whose completions carry both"


class ServerSampler:
    """Samples from an OpenAI-compatible server, many requests at once.

    Args:
        url: Of the API, for instance `http://localhost:8000/v1`.
        model: The name that the server knows the model by.
        context: The most ids of a request and its completion together.
        adapters: A folder that the server can read. New weights are saved there as a LoRA adapter, and the server is
            asked to load it (vLLM: `--enable-lora`, `VLLM_ALLOW_RUNTIME_LORA_UPDATING=1`). Without it, evaluation only.
        timeout_s: The longest answer of the server.
    """

    def __init__(
        self, url: str, model: str, *, context: int, adapters: str = "", timeout_s: float = 300.0, at_once: int = 64
    ) -> None:
        self.url, self.context, self.timeout_s = url.rstrip("/"), context, timeout_s
        self._model, self._adapters = model, adapters
        self._pool = ThreadPoolExecutor(at_once, thread_name_prefix="agent-envs-server")
        self._done: queue.SimpleQueue[Completion] = queue.SimpleQueue()
        self._refused = ""
        self._flying = 0

    def submit(self, request: Request) -> None:
        """Send a request; returns at once."""
        self._flying += 1
        self._pool.submit(self._run, request, self._model)

    def poll(self, wait_s: float) -> list[Completion]:
        """What the server has answered; waits at most `wait_s` seconds for the first of it."""
        done: list[Completion] = []
        while self._flying:
            try:
                done.append(self._done.get_nowait() if done else self._done.get(timeout=wait_s))
            except queue.Empty:
                break
            self._flying -= 1
        if self._refused:
            raise ConfigError(self._refused)
        return done

    def refresh(self, model: Any, version: int) -> None:
        """Give the server the trained adapter; raises `ConfigError` where it cannot follow."""
        if version == 0:
            return
        if not self._adapters or not hasattr(model, "peft_config"):
            raise ConfigError(
                "this server cannot follow the training: give ServerSampler a folder `adapters` that it can read, and"
                " train LoRA adapters (lora_rank above 0)"
            )
        name = f"agent-envs-{version}"
        folder = Path(self._adapters).resolve() / name
        model.save_pretrained(folder)
        self._post("load_lora_adapter", {"lora_name": name, "lora_path": str(folder)})
        self._model = name

    def _run(self, request: Request, model: str) -> None:
        try:
            self._done.put(self._complete(request, model))
        except ConfigError as refusal:
            self._refused = str(refusal)
            self._done.put(Completion(key=request.key, ids=[], logprobs=[], error=str(refusal)))
        except (OSError, ValueError, LookupError, TypeError) as fault:
            why = f"the server failed: {type(fault).__name__}: {fault}"
            self._done.put(Completion(key=request.key, ids=[], logprobs=[], error=why))

    def _complete(self, request: Request, model: str) -> Completion:
        answer = self._post(
            "completions",
            {
                "model": model,
                "prompt": request.ids,
                "max_tokens": request.max_new,
                "temperature": request.temperature,
                "top_p": 1.0,
                "seed": request.seed,
                "logprobs": 0,
                "return_token_ids": True,
            },
        )
        (choice,) = answer["choices"]
        ids: list[int] = choice.get("token_ids") or []
        logprobs: list[float] = (choice.get("logprobs") or {}).get("token_logprobs") or []
        for what, found in (("token ids", ids), ("log-probabilities", logprobs)):
            if not found:
                raise ConfigError(f"the server at {self.url} returned no {what}, so it cannot be trained from; {_HOW}")
        if len(ids) != len(logprobs):
            raise ConfigError(f"the server at {self.url} returned {len(ids)} ids and {len(logprobs)} log-probabilities")
        return Completion(key=request.key, ids=ids, logprobs=logprobs)

    def _post(self, path: str, body: JsonObject) -> Any:
        headers = {"Content-Type": "application/json"}
        asked = urllib.request.Request(f"{self.url}/{path}", json.dumps(body).encode(), headers)
        try:
            with urllib.request.urlopen(asked, timeout=self.timeout_s) as reply:
                content = reply.read()
        except urllib.error.HTTPError as fault:
            raise OSError(f"{path} was answered with {fault.code}: {fault.read()[:300]!r}") from fault
        return json.loads(content) if content[:1] in (b"{", b"[") else content
