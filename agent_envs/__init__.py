"""Gymnasium environments for LLM agents."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

__version__ = "0.1.0"

# In a checkout this folder alone is not the package: three of its parts lie beside it until it is installed.
if find_spec("agent_envs.envs") is None:
    raise ImportError(
        f"{Path(__file__).parents[1]} is on sys.path and hides the installed agent_envs; run from another folder or "
        "with `python -P`, or install the checkout itself: pip install -e ."
    )
