"""The shell programs that run in a container: the loop that serves commands, and what our own shell can do besides.

Any `sh` will do; where there is a bash it is used, which takes commands as they are. Nothing here is trusted by us.
"""

from __future__ import annotations

from shlex import quote

# Reads the first mark and becomes the shell: nothing may be printed before the host has spoken, or it could be lost.
START = r"""
read -r agent_mark || exit
if [ -x /bin/bash ]; then exec /bin/bash -c "$2" bash "$agent_mark" "$1"; fi
exec /bin/sh -c "$3" sh "$agent_mark" "$1"
"""

_REPORT = r"""
  {builtin}printf '\0%s %s %s\0' "$agent_mark" "$?" "$PWD" >&5
  {builtin}printf '\0%s\0' "$agent_mark" >&6
"""
_HELLO = r"""
agent_mark=$1
cd -- "$2" 2>/dev/null
set --
# Told at once, where the engine would take seconds to notice.
trap 'agent_status=$?
{ printf "\0%s exit %s\0" "$agent_mark" "$agent_status" >&5; printf "\0%s exit %s\0" "$agent_mark" "$agent_status" >&6
} 2>/dev/null' EXIT
printf '\0%s %s %s\0' "$agent_mark" "$$" "$0" >&5
printf '\0%s\0' "$agent_mark" >&6
"""

# The redirections hold for one command, even if it closes its output for good; the shell keeps its own copies of the
# line and the pipes where no program inherits them.
BASH = (
    r"""
shopt -s expand_aliases
exec 3<&0 5>&1 6>&2 </dev/null
"""
    + _HELLO
    + r"""
while IFS= builtin read -r -d '' -u 3 agent_mark && IFS= builtin read -r -d '' -u 3 agent_command; do
  builtin eval "$agent_command" </dev/null >&5 2>&6 3<&- 5>&- 6>&-
"""
    + _REPORT.format(builtin="builtin ")
    + "done\n"
)
# A shell without `read -d`: a command comes as one line, with its backslashes and line ends written in octal.
SH = (
    r"""
exec 3<&0 5>&1 6>&2 </dev/null
"""
    + _HELLO
    + r"""
while read -r agent_mark <&3 && IFS= read -r agent_command <&3; do
  agent_command=$(printf '%b.' "$agent_command")
  eval "${agent_command%.}" </dev/null >&5 2>&6 3<&- 5>&- 6>&-
"""
    + _REPORT.format(builtin="")
    + "done\n"
)

# What our own shell knows. It is read by bash and by plain sh, and ends processes without starting one: where a guest
# has used up all processes, none could be started.
_TOOLS = r"""
agent_words() {
  agent_state=${1:-} agent_session=${4:-}
  [ $# -ge 20 ] || return 1
  shift 19
  agent_began=$1
}
# Every process that began at this tick or later, but for those of the sessions named and the one process named;
# and besides all of one session; whatever cannot be read is taken for such.
agent_scan() {
  agent_since=$1 agent_spared=" $2 " agent_root=$3 agent_whole=$4 agent_found=
  for agent_entry in /proc/[0-9]*; do
    agent_line= agent_pid=${agent_entry#/proc/}
    read -r agent_line 2>/dev/null <"$agent_entry/stat" || [ -n "$agent_line" ] || continue
    if agent_words ${agent_line##*") "}; then
      [ "$agent_state" != Z ] || continue
      [ "$agent_began" -ge "$agent_since" ] || [ "$agent_session" = "$agent_whole" ] || continue
      case $agent_spared in *" $agent_session "*) continue ;; esac
    fi
    case $agent_pid in 1|$$|$agent_root) continue ;; esac
    agent_found="$agent_found $agent_pid"
  done
}
agent_tick() {
  read -r agent_up agent_rest </proc/uptime
  agent_up=${agent_up%.*}${agent_up#*.}
}
# All are stopped before any is ended, so that none can multiply meanwhile.
agent_end() {
  agent_seen=
  for agent_round in 1 2 3 4 5 6 7 8; do
    agent_scan "$1" "$2" "$3" "$4"
    agent_new=
    for agent_pid in $agent_found; do
      case " $agent_seen " in *" $agent_pid "*) ;; *) agent_new="$agent_new $agent_pid" ;; esac
    done
    [ -n "$agent_new" ] || break
    kill -STOP $agent_new 2>/dev/null
    agent_seen="$agent_seen $agent_new"
  done
  [ -z "$agent_seen" ] || kill -KILL $agent_seen 2>/dev/null
}
agent_memory_kills() {
  agent_kills=0
  for agent_file in /sys/fs/cgroup/memory.events /sys/fs/cgroup/memory/memory.oom_control; do
    [ -r "$agent_file" ] || continue
    while read -r agent_key agent_value; do
      [ "$agent_key" != oom_kill ] || agent_kills=$agent_value
    done <"$agent_file"
  done
  echo "$agent_kills"
}
# The path of a file below a folder that is reached without a link: first what is to be done for a missing folder.
agent_reach() {
  agent_make=$1 agent_path=$2
  shift 2
  while [ $# -gt 1 ]; do
    agent_path=$agent_path/$1
    [ ! -L "$agent_path" ] || return 3
    [ -d "$agent_path" ] || $agent_make "$agent_path" 2>/dev/null || return 5
    shift
  done
  agent_path=$agent_path/$1
  [ ! -L "$agent_path" ] || return 3
  [ ! -d "$agent_path" ] || return 4
  [ ! -e "$agent_path" ] || [ -f "$agent_path" ] || return 6
}
agent_read() {
  agent_most=$1
  shift
  agent_reach false "$@" || return $?
  [ -e "$agent_path" ] || return 5
  [ -r "$agent_path" ] || return 7
  head -c "$agent_most" <"$agent_path"
}
# What does not fit is read all the same, so that the next command is found where it begins.
agent_put() {
  head -c "$2" <&3 | { cat >"$1" 2>/dev/null || { cat >/dev/null; false; }; }
}
agent_write() {
  agent_size=$1
  shift
  agent_reach mkdir "$@"
  agent_status=$?
  if [ $agent_status = 0 ] && { [ -w "$agent_path" ] || [ ! -e "$agent_path" ]; } && : 2>/dev/null >"$agent_path"; then
    agent_put "$agent_path" "$agent_size" || return 8
    return 0
  fi
  head -c "$agent_size" <&3 >/dev/null
  [ $agent_status != 0 ] || agent_status=7
  return $agent_status
}
agent_save() {
  agent_input=/tmp/.input-$$
  rm -f "$agent_input"
  ( umask 077; agent_put "$agent_input" "$1" )
}
"""


# A program on a line of its own: what it is asked and what it answers it agrees with the host; that it has ended, and
# how, this shell tells.
_PROGRAM = r"""
read -r agent_mark || exit
printf '\0%s %s %s\0' "$agent_mark" "$$" program
printf '\0%s\0' "$agent_mark" >&2
cd -- "$1" || cd /
agent_farewell=$2
shift 2
"$@" "$agent_mark"
agent_status=$?
printf "$agent_farewell" "$agent_mark" "$agent_status"
printf '\0%s exit %s\0' "$agent_mark" "$agent_status" >&2
"""
FRAMED = r"\0%s exit %s\0"
"""How a program takes leave on its output where its answers are frames."""
LENGTH = r"\377\377\377\377"
"""The same where they are messages that begin with their length."""


def program(folder: str, farewell: str, argv: list[str]) -> list[str]:
    """The command for a program on a line of its own; it is given the mark of its frames as its last argument."""
    return ["/bin/sh", "-c", _PROGRAM, "sh", folder, farewell, *argv]


def shell(folder: str, *, ours: bool) -> list[str]:
    """The command for a shell that serves commands."""
    bash, plain = (_tools(BASH), _tools(SH)) if ours else (BASH, SH)
    return ["/bin/sh", "-c", START, "sh", folder, bash, plain]


def _tools(script: str) -> str:
    """This loop for a shell of our own: it knows our functions, and its commands may read further from the line."""
    return _TOOLS + script.replace(" 2>&6 3<&- 5>&- 6>&-", " 2>/dev/null")


def words(*parts: str | int) -> str:
    """A command line of these words."""
    return " ".join(quote(str(part)) for part in parts)
