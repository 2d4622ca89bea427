"""The names of keys, which people write in any case: as Playwright knows them."""

from __future__ import annotations

from collections.abc import Sequence

from agent_envs.errors import ToolFailed

_LONGEST_CHORD = 5
"""Signs between the keys of one: four modifiers and a key, which may be + itself."""
_MODIFIERS = {"alt": "Alt", "control": "Control", "ctrl": "Control", "meta": "Meta", "shift": "Shift"}
_NAMED = (
    "AltGraph", "AltLeft", "AltRight", "ArrowDown", "ArrowLeft", "ArrowRight", "ArrowUp", "AudioVolumeDown",
    "AudioVolumeMute", "AudioVolumeUp", "Backquote", "Backslash", "Backspace", "BracketLeft", "BracketRight",
    "CapsLock", "Comma", "ContextMenu", "ControlLeft", "ControlOrMeta", "ControlRight", "Delete", "End",
    "Enter", "Equal", "Escape", "Home", "Insert", "MediaPlayPause", "MediaTrackNext", "MediaTrackPrevious",
    "MetaLeft", "MetaRight", "Minus", "NumLock", "NumpadAdd", "NumpadDecimal", "NumpadDivide", "NumpadEnter",
    "NumpadMultiply", "NumpadSubtract", "PageDown", "PageUp", "Pause", "Period", "PrintScreen", "Quote",
    "ScrollLock", "Semicolon", "ShiftLeft", "ShiftRight", "Slash", "Space", "Tab",
)  # fmt: skip
_COUNTED = (
    *(f"F{number}" for number in range(1, 13)),
    *(f"{block}{digit}" for block in ("Digit", "Numpad") for digit in range(10)),
    *(f"Key{letter}" for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
)
_NAMES = {name.lower(): name for name in (*_NAMED, *_COUNTED)} | _MODIFIERS


def chord(keys: str) -> str:
    """The keys as they are to be pressed; raises `ToolFailed` where there are more than a hand can hold."""
    if keys.count("+") > _LONGEST_CHORD:
        raise no_key(keys)
    return keys if len(keys) == 1 else "+".join(_NAMES.get(part.lower(), part) for part in keys.split("+"))


def no_key(keys: str) -> ToolFailed:
    """What is said of keys that there are not."""
    return ToolFailed(f"{keys[:40]!r} is no key; expected such as Enter, Tab, ArrowDown, a or Control+A")


def modifiers_of(written: Sequence[str]) -> list[str]:
    """The modifiers as they are to be held down."""
    unknown = [one for one in written if one.lower() not in _MODIFIERS]
    if unknown:
        raise ToolFailed(f"{unknown[0]!r} is no modifier; there are Alt, Control, Meta and Shift")
    return list(dict.fromkeys(_MODIFIERS[one.lower()] for one in written))
