"""Trainers that consume any registered text environment; they know `gymnasium.Env` and `Episode`, no concrete one."""
