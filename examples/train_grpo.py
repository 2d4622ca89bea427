"""Train a tiny random model, in seconds and without a download, in an environment written here."""

from pathlib import Path
from tempfile import mkdtemp

import gymnasium as gym
from agent_envs.trainers import TrainConfig, train

from agent_envs.spaces import UnicodeText


class Levers(gym.Env):
    """One answer in eight pays."""

    observation_space = action_space = UnicodeText(1000)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return "Pull a lever.", {}

    def step(self, action):
        return "Thanks.", float(action != "" and ord(action[0]) % 8 == 3), True, False, {}


if __name__ == "__main__":
    config = TrainConfig(
        steps=30, groups=2, group_size=16, max_new_tokens=1, learning_rate=1e-2, lora_rank=0, bf16="off"
    )
    result = train(Levers, model="tiny", out=Path(mkdtemp()), config=config)
    print("solved, before and after:", *(f"{share:.2f}" for share in result.curve("eval/pass@1")))
