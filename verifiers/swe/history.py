"""The history an agent finds: one commit, made anew. The image it works in is also the one its work is judged on."""

from __future__ import annotations

from dataclasses import replace

from agent_envs.sandboxes.images import Recipe

_GIT_AGAIN = (
    "find . -name .git -prune -exec rm -rf {} +; command -v git >/dev/null || exit 0; "
    "export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_DATE='2020-01-01T00:00:00Z' "
    "GIT_COMMITTER_DATE='2020-01-01T00:00:00Z'; git init -q -b main . && git add -A -f && "
    "git -c user.name=upstream -c user.email=upstream@localhost commit -q --allow-empty -m 'The repository as it is'"
    " && rm -rf .git/hooks .git/logs"
)


def with_fresh_history(recipe: Recipe) -> Recipe:
    """The recipe, ended by one new commit that is all the history there is."""
    return replace(recipe, commands=(*recipe.commands, _GIT_AGAIN))
