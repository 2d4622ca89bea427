#!/usr/bin/env bash
# mypy --strict over a tree of links that looks like the installed package. Pointed at the checkout itself, mypy
# reports success after reading the one folder that carries the package's name; the count at the end catches that.
set -euo pipefail
cd "$(dirname "$0")/.."
repo=$PWD
parts="envs verifiers trainers"

tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
cp -rs "$repo/agent_envs" "$tree/agent_envs"
for part in $parts; do cp -rs "$repo/$part" "$tree/agent_envs/$part"; done
# The repositories of the bundled tasks are data.
rm -rf "$tree/agent_envs/envs/swe/mini"

cd "$tree"
status=0
"$repo/.venv/bin/python" -m mypy --config-file "$repo/pyproject.toml" --cache-dir "$repo/.mypy_cache" -p agent_envs \
    >mypy.out 2>&1 || status=$?
# Paths as the reader knows them, not those of the tree.
sed -E "s#^agent_envs/($(echo $parts | tr ' ' '|'))/#\1/#" mypy.out
[ "$status" = 0 ] || exit "$status"

checked=$(sed -nE 's/^Success: no issues found in ([0-9]+) source files?$/\1/p' mypy.out)
expected=$(find agent_envs -name '*.py' | wc -l)
if [ "${checked:-0}" -lt "$expected" ]; then
    echo "mypy read ${checked:-0} of $expected files; is an __init__.py missing?" >&2
    exit 1
fi
