"""The ids under which the bundled environments are known to `gymnasium.make`."""

from __future__ import annotations

import gymnasium

ENVIRONMENTS: dict[str, str] = {
    "AgentRL/MiniWoB-v0": "agent_envs.envs.web:MiniWobEnv",
    "AgentRL/PythonSandbox-v0": "agent_envs.envs.python_sandbox:PythonSandboxEnv",
    "AgentRL/SWE-v0": "agent_envs.envs.swe:SweEnv",
    "AgentRL/Web-v0": "agent_envs.envs.web:WebEnv",
}
"""Id -> entry point. A version moves when scores would."""


def register_environments() -> None:
    """Register every bundled environment; calling it again changes nothing.

    No environment is registered with `max_episode_steps`: Gymnasium's `TimeLimit` ends an episode outside the
    environment, where no verifier would ever see it. Budgets are constructor arguments.
    """
    for env_id, entry_point in ENVIRONMENTS.items():
        if env_id not in gymnasium.registry:
            gymnasium.register(id=env_id, entry_point=entry_point)
