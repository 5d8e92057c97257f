# shellcheck shell=bash
# Shared by the scripts: one way to speak, one way to fail, one way to run a slow step with its output in a log.
# Source it after `set -euo pipefail`.

# Where the checkout is, whatever directory the user called us from.
TURNSTILE_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
TURNSTILE_CACHE=${TURNSTILE_CACHE:-${HOME:?HOME is not set; set it or TURNSTILE_CACHE}/.cache/turnstile}
export TURNSTILE_ROOT TURNSTILE_CACHE

readonly kUsageError=64  # sysexits' EX_USAGE: tells "you called me wrong" from "the run failed"

say() { printf '%s\n' "$*" >&2; }
die() { say "turnstile: $*"; exit 1; }
usage_error() { say "turnstile: $*"; exit "$kUsageError"; }

# The value of an option, or a clear complaint when it is missing: `port=$(need_value "$@")`.
need_value() { [[ $# -ge 2 && $2 != --* ]] || usage_error "$1 needs a value (see --help)"; printf '%s' "$2"; }

need_number() {  # need_number <option> <value> <min> <max>
  if [[ ! $2 =~ ^(0|[1-9][0-9]{0,8})$ ]] || (($2 < $3 || $2 > $4)); then
    usage_error "$1 must be a whole number from $3 to $4, not '$2'"
  fi
}

# As root, or through sudo. The reason to ask for rights is printed by the caller.
as_root() {
  if ((EUID == 0)); then "$@"
  elif command -v sudo >/dev/null; then sudo --preserve-env=DEBIAN_FRONTEND "$@"
  else die "this needs root: $*
  run it as root, or install sudo"
  fi
}

# The compiler's own progress ("[12/80]") when the log has one, else the seconds alone.
tick() {  # tick <label> <log>
  local start=$SECONDS at
  while sleep $((SECONDS - start < 10 ? 5 : 15)); do
    at=$(grep -ao '^\[[0-9]*/[0-9]*\]' "$2" 2>/dev/null | tail -n 1 || true)
    say "    $1: $((SECONDS - start)) s ${at}"
  done
}

# step <label> <log> <what to do on failure> <command...>
# Runs the command with its output in the log. A ticker speaks while it runs, so that a long step never looks hung.
# The command gets a process group of its own: an interrupt then reaches the compilers below it too.
step() {
  local label=$1 log=$2 advice=$3 rc=0 job ticker
  shift 3
  mkdir -p "$(dirname "$log")"
  say "==> $label"
  set -m
  "$@" >"$log" 2>&1 </dev/null &
  job=$!
  tick "$label" "$log" &
  ticker=$!
  set +m
  # shellcheck disable=SC2064  # the ids of now, not of later
  trap "kill -TERM -- -$job -$ticker 2>/dev/null; say 'turnstile: interrupted during: $label'; exit 130" INT TERM HUP
  wait "$job" || rc=$?
  trap - INT TERM HUP
  kill -TERM -- "-$ticker" 2>/dev/null || true
  wait "$ticker" 2>/dev/null || true
  ((rc == 0)) && return 0
  tail -n 25 "$log" | sed 's/^/    | /' >&2
  say "turnstile: FAILED: $label (exit $rc)
  command: $*
  log:     $log
  to do:   $advice"
  return "$rc"
}
