#!/usr/bin/env bash
# Prepare .venv for `demo` or `test`, the extras of pyproject.toml, once: a stamp keyed on pyproject.toml and the place
# makes every later call a matter of milliseconds and of no network. PYTHON=... chooses another interpreter.
set -euo pipefail
cd "$(dirname "$0")/.."
profile=${1:-test}
venv=.venv

die() { printf 'agent-envs: %s\n' "$*" >&2; exit 1; }
say() { printf 'agent-envs: %s\n' "$*" >&2; }
on_debian_as_root() { [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; }

# A pyenv shim may be on PATH and still refuse to run, hence the probe instead of `command -v`.
find_python() {
    local candidate
    for candidate in ${PYTHON:-python3 python3.13 python3.12 python3.11}; do
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            printf '%s\n' "$candidate"
            return
        fi
    done
    candidate=${PYTHON:-python3}
    die "needs Python 3.11 or newer, and $candidate is $("$candidate" --version 2>/dev/null || echo missing);" \
        "install one (Debian 12: apt-get install python3) or name one: make PYTHON=/path/to/python3.11 ..."
}

# Prints the Debian packages that this Python lacks for the profile.
missing_packages() {
    local python=$1 version
    version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    "$python" -c 'import ensurepip, venv' 2>/dev/null || echo "python$version-venv"
    [ "$profile" = test ] || return 0
    # reasoning-gym depends on pycosat, which is published as C source only.
    command -v cc >/dev/null || echo "gcc libc6-dev"
    "$python" -c 'import os, sys, sysconfig; sys.exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' ||
        echo "python$version-dev"
    command -v git >/dev/null || echo git
}

install_missing() {
    local python=$1 missing
    missing=$(missing_packages "$python" | tr '\n' ' ')
    [ -n "$missing" ] || return 0
    on_debian_as_root || die "this machine lacks: $missing; on Debian or Ubuntu: sudo apt-get install $missing"
    say "installing with apt-get: $missing"
    apt-get update -qq
    # shellcheck disable=SC2086 - a list of words
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends ca-certificates $missing >/dev/null
}

make_venv() {
    local python=$1
    install_missing "$python"
    if ! { "$venv/bin/python" -c 'import sys, pip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && as_asked; }; then
        say "creating $venv with $("$python" --version)"
        "$python" -m venv --clear "$venv"
    fi
    say "installing agent-envs[$profile] into $venv; this is done once"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --editable ".[$profile]"
}

# What the tests of containers need: an engine, and the means to make its base image where no registry answers. An engine
# that answers is used as it is. Without one those tests are skipped, so nothing here is fatal.
docker_answers() {
    [ -n "${DOCKER_HOST:-}" ] ||
        "$1" -c 'import socket; socket.socket(socket.AF_UNIX).connect("/var/run/docker.sock")' 2>/dev/null
}
ensure_docker() {
    local python=$1 lacks=""
    docker_answers "$python" || command -v dockerd >/dev/null || lacks="docker.io iptables "
    command -v debootstrap >/dev/null || [ -x /usr/sbin/debootstrap ] || lacks="${lacks}debootstrap"
    if ! on_debian_as_root; then
        docker_answers "$python" ||
            say "no Docker engine answers, so its tests will be skipped; to run them: sudo apt-get install docker.io debootstrap"
        return 0
    fi
    if [ -n "$lacks" ]; then
        say "installing with apt-get: $lacks"
        # shellcheck disable=SC2086 - a list of words
        { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $lacks; } \
            >/dev/null || { say "that failed, so the tests of containers will be skipped"; return 0; }
    fi
    docker_answers "$python" && return 0
    say "starting dockerd in the background; its log is /var/log/agent-envs-dockerd.log"
    setsid dockerd </dev/null >/var/log/agent-envs-dockerd.log 2>&1 &
    for _ in $(seq 60); do
        docker_answers "$python" && return 0
        sleep 0.5
    done
    say "dockerd does not answer, so the tests of containers will be skipped; the end of its log:"
    tail -n 5 /var/log/agent-envs-dockerd.log >&2
}

# A browser for the tests of web environments: a system one, for Playwright's own cannot be fetched everywhere.
has_browser() {
    command -v chromium-headless-shell chromium chromium-browser google-chrome >/dev/null ||
        ls "$HOME"/.cache/ms-playwright/chromium* >/dev/null 2>&1
}
ensure_browser() {
    has_browser && return 0
    if ! on_debian_as_root; then
        say "no browser was found, so its tests will be skipped; to run them: sudo apt-get install chromium-headless-shell"
        return 0
    fi
    say "installing with apt-get: chromium-headless-shell"
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
        chromium-headless-shell fonts-liberation; } >/dev/null || say "that failed, so the tests of browsers will be skipped"
}

[ -f pyproject.toml ] || die "$PWD is not a checkout of agent-envs: it holds no pyproject.toml"
wanted="$(sha256sum <pyproject.toml) $PWD"
version() { "$1" -c 'import sys; print(sys.version)'; }
as_asked() { [ -z "${PYTHON:-}" ] || [ "$(version "$PYTHON" 2>/dev/null)" = "$(version "$venv/bin/python")" ]; }
fresh() { [ -x "$venv/bin/python" ] && [ "$(cat "$venv/installed-$1" 2>/dev/null)" = "$wanted" ] && as_asked; }

if [ "$profile" = test ]; then ensure_docker "$(find_python)"; ensure_browser; fi
# What the tests need includes what the demo needs.
if fresh test || fresh "$profile"; then exit 0; fi
python=$(find_python)
make_venv "$python"
printf '%s\n' "$wanted" >"$venv/installed-$profile"
