#!/bin/bash
# echo_test.sh PROGRAM CASE: runs PROGRAM (echo_ranks) under mpirun and checks what it came to.
set -u
program=$1
case_name=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
out=$dir/out

as_root=()
[ "$(id -u)" = 0 ] && as_root=(--allow-run-as-root)
launch() { # N_RANKS ARGUMENTS…
  local n=$1
  shift
  # The background form keeps the shell free to kill ranks; a hang ends by itself.
  timeout -k 5 90 mpirun "${as_root[@]}" --oversubscribe --bind-to none --enable-recovery \
    --mca pml ob1 --mca btl self,vader,tcp -n "$n" "$program" "$@" >"$out" 2>"$dir/err" &
  mpirun=$!
}

fail() {
  echo "FAILED: $*"
  echo "--- output"
  grep -v '^progress' "$out"
  echo "--- errors"
  cat "$dir/err"
  exit 1
}

value_of() { sed -n "s/^$1 //p" "$out" | head -1; }
expect() { # KEY VALUE
  local found
  found=$(value_of "$1")
  [ "$found" = "$2" ] || fail "$1 is '$found', expected '$2'"
}

# Waits (30 s at most) until that command succeeds.
await() {
  for _ in $(seq 300); do
    "$@" && return 0
    sleep 0.1
  done
  fail "waited too long for: $*"
}
has_progress() { grep -q '^progress [1-9]' "$out"; }
has_pid() { grep -q "^pid $1 " "$out"; }
is_gone() { [ ! -d "/proc/$1" ] || grep -q '^State:\s*Z' "/proc/$1/status"; }
nothing_left() {
  local pid
  for pid in $(sed -n 's/^pid [0-9]* //p' "$out"); do
    is_gone "$pid" || return 1
  done
}

all_came_once() { # N
  expect right "$1"
  expect twice 0
  expect errors 0
  expect exit_code 0
  expect ending complete
}

clean_run() { # N_RANKS N_REQUESTS ARGUMENTS…
  launch "$1" "requests=$2" "${@:3}"
  wait $mpirun || fail "mpirun returned $?"
  all_came_once "$2"
  expect losses 0
  expect finalize 1
  ! grep -qiE 'mpirun|exited|abort' "$dir/err" || fail "mpirun complained"
}

lose_one() { # SIGNAL CAUSE LIMIT_SECONDS
  launch 3 requests=2000 bytes=200 step_ms=20 slots=16
  await has_progress
  await has_pid 1
  local victim
  victim=$(sed -n 's/^pid 1 //p' "$out")
  kill "-$1" "$victim"
  local killed_at=$SECONDS
  wait $mpirun
  all_came_once 2000
  expect losses 1
  grep -q "^cause $2 " "$out" || fail "the cause is not $2"
  await nothing_left
  echo "ended $((SECONDS - killed_at)) s after the signal"
}

lose_all() {
  launch 3 requests=5000 bytes=200 step_ms=50 slots=16
  await has_progress
  kill -KILL $(sed -n 's/^pid [12] //p' "$out")
  wait $mpirun
  expect exit_code 4
  expect ending workers_lost
  expect twice 0
  expect losses 2
  await nothing_left
}

# Workers whose coordinator is gone end by themselves, and mpirun with them.
lose_coordinator() {
  launch 3 requests=5000 bytes=200 step_ms=50 slots=16 orphan_s=3
  await has_progress
  kill -KILL "$(sed -n 's/^pid 0 //p' "$out")"
  await nothing_left
  wait $mpirun
  grep -q 'the coordinator has been silent' "$dir/err" || fail "no word of the orphans"
}

# Everything stands still for longer than any heartbeat may be late: nobody is lost for that.
pause_all() {
  launch 3 requests=1500 bytes=200 step_ms=20 slots=16
  await has_progress
  kill -STOP $(sed -n 's/^pid [0-9]* //p' "$out")
  sleep 7
  kill -CONT $(sed -n 's/^pid [0-9]* //p' "$out")
  wait $mpirun
  all_came_once 1500
  expect losses 0
}

case $case_name in
  one_rank) clean_run 1 3000 bytes=100 ;;
  two_ranks) clean_run 2 3000 bytes=100 ;;
  three_ranks) clean_run 3 20000 bytes=1000 ;;
  large_messages) clean_run 3 12 bytes=5000000 slots=4 ;;
  no_input) clean_run 3 0 ;;
  killed_worker) lose_one KILL died ;;
  frozen_worker) lose_one STOP frozen ;;
  all_workers_killed) lose_all ;;
  coordinator_killed) lose_coordinator ;;
  whole_job_paused) pause_all ;;
  *) fail "no such case" ;;
esac
echo "ok: $case_name"
