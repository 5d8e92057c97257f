# shellcheck shell=bash
# Processes that outlive the script that started them: start, recognise, end. Each has $RUN/pids/<service>.pid with its
# pid, and beside it <service>.start with the kernel's start time, so that a pid that was given to a stranger since then
# is never signalled. Needs RUN (the run directory). Sourced by scripts/stack.

LAUNCHED=() LAUNCHING=0 INTERRUPTED=0  # what this run started, for undo

# Fields of /proc/<pid>/stat into the caller's state, session and started. Status 1: no such process.
read_stat() {
  local line
  { read -r line <"/proc/$1/stat"; } 2>/dev/null || return 1  # not $(<file): where that fails, bash exits
  line=${line##*) }  # the name before it may hold spaces and brackets
  # shellcheck disable=SC2086
  set -- $line
  state=$1 session=$4 started=${20}
}

# The pid of a running service, or status 1. A zombie is not running: nobody may be there to reap it.
pid_of() {
  local pid known state session started
  pid=$(cat "$RUN/pids/$1.pid" 2>/dev/null) && known=$(cat "$RUN/pids/$1.start" 2>/dev/null) || return 1
  read_stat "$pid" && [[ $state != [ZX] && $started == "$known" ]] || return 1
  printf '%s\n' "$pid"
}
alive() { pid_of "$1" >/dev/null; }

# launch <service> <command...>: in a session of its own, so that neither Ctrl-C nor a closed terminal ends it.
launch() {
  local service=$1 log=$RUN/logs/$1.log pid state session started
  shift
  # A restart adds to the log, since the end of the last life is what one wants to read; but it must not grow for ever.
  if [[ $(stat -c %s "$log" 2>/dev/null || echo 0) -gt 10000000 ]]; then : >"$log"; fi
  LAUNCHING=1  # between here and the pid file an interrupt would lose the process: on_interrupt waits for the end
  setsid "$@" >>"$log" 2>&1 </dev/null 9>&- &
  pid=$!
  LAUNCHED+=("$service")
  read_stat "$pid" || started=gone
  printf '%s\n' "$pid" >"$RUN/pids/$service.pid"
  printf '%s\n' "$started" >"$RUN/pids/$service.start"
  LAUNCHING=0
  ((INTERRUPTED == 0)) || on_interrupt
}

on_interrupt() {
  INTERRUPTED=1
  if ((LAUNCHING)); then return; fi
  say "turnstile: interrupted: ending what was started"
  undo
  exit 130
}
undo() { trap - EXIT INT TERM HUP; if ((${#LAUNCHED[@]})); then end 5 "${LAUNCHED[@]}"; fi; }
undo_and_exit() { undo; exit "$1"; }
undo_on_failure() { trap 'undo_and_exit $?' EXIT; trap on_interrupt INT TERM HUP; }

# What is left of a service whose leader is gone: nginx's workers outlive a master that was killed. The kernel keeps the
# leader's pid reserved while its session has members; the program's name is checked all the same.
leftovers() {
  local service=$1 leader dir pid state session started
  leader=$(cat "$RUN/pids/$service.pid" 2>/dev/null) || return 0
  for dir in /proc/[0-9]*; do
    pid=${dir#/proc/}
    if read_stat "$pid" && [[ $session == "$leader" && $state != [ZX] ]] &&
      [[ $(readlink "$dir/exe" || true) == */"$(program_of "$service")"* ]]; then printf '%s\n' "$pid"; fi
  done
}

# end <seconds> <service...>: TERM to all, wait for all, then KILL what is left. A frozen process is woken to hear TERM.
end() {
  local patience=$1 service pid deadline
  shift
  for service; do
    if pid=$(pid_of "$service"); then kill -TERM "$pid" 2>/dev/null; kill -CONT "$pid" 2>/dev/null; fi || true
  done
  deadline=$((SECONDS + patience))
  for service; do
    while alive "$service" && ((SECONDS < deadline)); do sleep 0.05; done
    if pid=$(pid_of "$service"); then
      say "    $service did not end within $patience s: killing it"
      kill -KILL "$pid" 2>/dev/null || true
    fi
    for pid in $(leftovers "$service"); do kill -KILL "$pid" 2>/dev/null || true; done
    while alive "$service"; do sleep 0.02; done  # after KILL this is the kernel's work alone
    rm -f "$RUN/pids/$service.pid" "$RUN/pids/$service.start"
  done
}

port_open() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# Who listens, as far as this user may know.
listener() {
  local who
  who=$(ss -ltnpH "sport = :$1" 2>/dev/null | sed -n 's/.*users:((\(.*\)))$/\1/p' | head -n 1)
  printf '%s' "${who:-a process that this user may not see}"
}
