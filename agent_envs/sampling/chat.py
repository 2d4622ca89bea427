"""How observations become token ids: the chat template's frame, with foreign text that is never a control token.

One decision: the template is rendered once around placeholders. The frame between them is tokenised with its control
tokens, what stands in the placeholders (observations, tool output) with every special token split into plain text.
"""

from __future__ import annotations

from typing import Any

from agent_envs.errors import ConfigError

_FIRST, _SAID, _NEXT = "qUxFirstqUx", "qUxSaidqUx", "qUxNextqUx"
Message = dict[str, str]


class ChatFormat:
    """Turns the texts of an episode into ids for one tokenizer.

    Args:
        tokenizer: Of the Hugging Face kind, with a chat template.
        system: The system message; empty leaves it to the template.
    """

    def __init__(self, tokenizer: Any, *, system: str = "") -> None:
        if not getattr(tokenizer, "chat_template", None):
            raise ConfigError(
                "this tokenizer has no chat template, so nothing says how an observation becomes a prompt;"
                " train an instruct model, or set tokenizer.chat_template"
            )
        self.tokenizer = tokenizer
        self.system: list[Message] = [{"role": "system", "content": system}] if system else []
        first = self._render([{"role": "user", "content": _FIRST}])
        second = self._render(self._exchange(_SAID))
        self._opening = self._split(first, _FIRST)
        self.keeps_history = self._keeps_history(first)
        """Whether later prompts begin with everything said before, as it was sampled (the prefix property)."""
        self._between = self._split(second[second.index(_SAID) + len(_SAID) :], _NEXT)

    def opening(self, observation: str) -> list[int]:
        """The whole prompt of the first turn."""
        before, after = self._opening
        return self.frame(before) + self.plain(observation) + self.frame(after)

    def following(self, sampled: list[int], observation: str) -> list[int]:
        """What comes between the sampled ids and the model's next turn, in a template that keeps its history."""
        before, after = self._between
        frame = self.frame(before)
        # The model wrote the end of its turn itself, unless its budget cut it short.
        if frame and sampled and sampled[-1] == frame[0]:
            frame = frame[1:]
        return frame + self.plain(observation) + self.frame(after)

    def rewritten(self, shown: list[tuple[str, str]]) -> list[int]:
        """The whole prompt as the template rewrites what was said, for templates that do not keep their history."""
        marks = [f"{_FIRST}{number}q" for number in range(len(shown))]
        roles = {"model": "assistant", "environment": "user"}
        text = self._render([{"role": roles[who], "content": m} for m, (who, _) in zip(marks, shown, strict=True)])
        contents = [self._as_history(said) if who == "model" else said for who, said in shown]
        ids: list[int] = []
        for mark, content in zip(marks, contents, strict=True):
            before, _, text = text.partition(mark)
            ids += self.frame(before) + self.plain(content)
        return ids + self.frame(text)

    def text(self, sampled: list[int]) -> str:
        """What the model said, without control tokens."""
        said: str = self.tokenizer.decode(sampled, skip_special_tokens=True)
        return said

    def frame(self, text: str) -> list[int]:
        """Ids of the template's own text, control tokens included."""
        return list(self.tokenizer.encode(text, add_special_tokens=False)) if text else []

    def plain(self, text: str) -> list[int]:
        """Ids of foreign text: `<|im_end|>` in it is nine characters, and no end of anything."""
        if not text:
            return []
        return list(self.tokenizer.encode(text, add_special_tokens=False, split_special_tokens=True))

    def _render(self, messages: list[Message]) -> str:
        rendered: str = self.tokenizer.apply_chat_template(
            self.system + messages, tokenize=False, add_generation_prompt=True
        )
        return rendered

    def _exchange(self, said: str) -> list[Message]:
        return [
            {"role": "user", "content": _FIRST},
            {"role": "assistant", "content": said},
            {"role": "user", "content": _NEXT},
        ]

    def _split(self, rendered: str, mark: str) -> tuple[str, str]:
        before, found, after = rendered.partition(mark)
        if not found:
            raise ConfigError("the chat template does not show a user's message as it is; agent-envs cannot use it")
        return before, after

    def _keeps_history(self, first: str) -> bool:
        thought = f"<think>\n{_SAID}\n</think>\n\n{_SAID}"
        return all(self._render(self._exchange(said)).startswith(first + said) for said in (_SAID, thought))

    def _as_history(self, said: str) -> str:
        """What the template makes of a message of the model that is no longer the last one."""
        rendered = self._render(self._exchange(said))
        before, _, rest = self._render(self._exchange(_SAID)).partition(_SAID)
        return rendered[len(before) : len(rendered) - len(rest)] if rendered.endswith(rest) else said
