"""Judging repaired repositories: what a task expects, and verdicts from file trees alone."""
