"""Sampling from a server: a small one that conforms, and those that are refused."""

from __future__ import annotations

import json
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from peft import LoraConfig, get_peft_model

from agent_envs.errors import ConfigError
from agent_envs.sampling import Completion, Request, ServerSampler, tiny_model

Answer = dict[str, Any]


@contextmanager
def server(choice: Answer, *, status: int = 200) -> Iterator[tuple[str, list[Answer]]]:
    """An OpenAI-compatible server whose every completion is `choice`."""
    seen: list[Answer] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            seen.append({"path": self.path, **body})
            content = json.dumps({"choices": [choice]}).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *args: object) -> None:
            """Say nothing."""

    serving = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=serving.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{serving.server_port}/v1", seen
    finally:
        serving.shutdown()
        thread.join()
        serving.server_close()


def completions(sampler: ServerSampler, *requests: Request) -> list[Completion]:
    for request in requests:
        sampler.submit(request)
    done: list[Completion] = []
    until = time.monotonic() + 60
    while len(done) < len(requests) and time.monotonic() < until:
        done += sampler.poll(0.1)
    return done


def test_ids_go_in_and_ids_come_out() -> None:
    with server({"text": "hi", "token_ids": [7, 8], "logprobs": {"token_logprobs": [-0.5, -1.5]}}) as (url, seen):
        done = completions(ServerSampler(url, "m", context=99), *(Request(key=k, ids=[1], max_new=4) for k in (5, 6)))
    assert sorted((c.key, tuple(c.ids), tuple(c.logprobs)) for c in done) == [
        (5, (7, 8), (-0.5, -1.5)),
        (6, (7, 8), (-0.5, -1.5)),
    ]
    assert seen[0]["prompt"] == [1]
    assert seen[0]["return_token_ids"] is True
    assert seen[0]["top_p"] == 1.0


@pytest.mark.parametrize(
    ("choice", "missing"),
    [
        ({"text": "hi", "logprobs": {"token_logprobs": [-0.5]}}, "token ids"),
        ({"text": "hi", "token_ids": [7], "logprobs": None}, "log-probabilities"),
    ],
)
def test_a_server_that_answers_with_text_alone_is_refused(choice: Answer, missing: str) -> None:
    with server(choice) as (url, _), pytest.raises(ConfigError, match=f"no {missing}"):
        completions(ServerSampler(url, "m", context=99), Request(key=0, ids=[1], max_new=4))


def test_a_server_that_fails_is_a_fault_and_no_completion() -> None:
    with server({}, status=500) as (url, _):
        (done,) = completions(ServerSampler(url, "m", context=99), Request(key=0, ids=[1], max_new=4))
    assert "500" in done.error
    assert done.ids == []


def test_a_server_that_cannot_follow_the_training_is_refused() -> None:
    sampler = ServerSampler("http://127.0.0.1:1/v1", "m", context=99)
    sampler.refresh(None, 0)
    with pytest.raises(ConfigError, match="lora_rank"):
        sampler.refresh(None, 1)


def test_a_server_is_given_each_new_adapter_and_asked_for_it_from_then_on(tmp_path: Path) -> None:
    model, _ = tiny_model()
    with warnings.catch_warnings(action="ignore"):
        adapted = get_peft_model(model, LoraConfig(target_modules=["q_proj"], r=2))
    choice = {"token_ids": [7], "logprobs": {"token_logprobs": [-0.5]}}
    with server(choice) as (url, seen):
        sampler = ServerSampler(url, "m", context=99, adapters=str(tmp_path))
        sampler.refresh(adapted, 3)
        completions(sampler, Request(key=0, ids=[1], max_new=4))
    loaded, asked = seen
    assert loaded["path"] == "/v1/load_lora_adapter"
    assert (Path(loaded["lora_path"]) / "adapter_model.safetensors").exists()
    assert asked["model"] == loaded["lora_name"] == "agent-envs-3"
