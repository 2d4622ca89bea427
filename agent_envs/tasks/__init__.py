"""What an agent is asked to do, and where such tasks come from: lists, files and generators behind one interface."""

from __future__ import annotations

from agent_envs.tasks._files import Importer
from agent_envs.tasks._generated import GeneratedTaskSet
from agent_envs.tasks._task import Task
from agent_envs.tasks._task_set import TaskSet

__all__ = ["GeneratedTaskSet", "Importer", "Task", "TaskSet"]
