"""The version, apart from the package itself so that any module may name it; and whether the package is whole.

It is the first module that `import agent_envs` loads, hence the check: a checkout on `sys.path` offers this folder
alone, while three parts of the package lie beside it until it is installed.
"""

from importlib.util import find_spec
from pathlib import Path

__version__ = "0.1.0"
"""The version of the package."""

if find_spec("agent_envs.envs") is None:
    raise ImportError(
        f"{Path(__file__).parents[1]} is on sys.path and hides the installed agent_envs; run from another folder or "
        "with `python -P`, or install the checkout itself: pip install -e ."
    )
