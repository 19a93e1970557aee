#!/usr/bin/env bash
# A run on four processes is killed with -9 and goes on, on two and on one without MPI, to where it gets undisturbed; one
# process that dies takes the others with it, with a message. Arguments: the programs pliant and test_distributed.
set -euo pipefail
pliant=$1
compare=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/scene.toml" <<'END'
version = 1
[simulation]
fps = 60
frames = 400
[[body]]
box = {size = [2, 1, 1], cells = [6, 3, 3]}
young = 4e5
poisson = 0.4
damping = {mass = 2}
[[pin]]
where = "x-min"
[solver]
tolerance = 1e-9
[output]
checkpoint_every = 2
END
run() { mpirun --oversubscribe -n "$1" "$pliant" run "$folder/scene.toml" --quiet "${@:2}"; }
steps_in() { if [ -f "$1/steps.jsonl" ]; then wc -l < "$1/steps.jsonl"; else echo 0; fi; }

# All four are killed while they run.
mpirun --oversubscribe -n 4 "$pliant" run "$folder/scene.toml" --quiet --out "$folder/killed" > /dev/null 2>&1 &
mpi=$!
for _ in $(seq 3000); do [ "$(steps_in "$folder/killed")" -ge 4 ] && break; sleep 0.1; done
kill -9 $(pgrep -P "$mpi")
wait "$mpi" 2> /dev/null || true
at=$(steps_in "$folder/killed")
[ "$at" -ge 4 ] && [ "$at" -lt 390 ] || { echo "killed after $at steps: too early or too late to tell"; exit 1; }
last=$((at + 6))
cp -r "$folder/killed" "$folder/again"
run 4 --frames "$last" --out "$folder/whole"
run 2 --frames "$last" --out "$folder/killed" --resume
env -u OMPI_COMM_WORLD_SIZE "$pliant" run "$folder/scene.toml" --quiet --frames "$last" --out "$folder/again" --resume
for resumed in killed again; do
  "$compare" --compare "$folder/whole" "$folder/$resumed" 1e-10
done
echo "killed after $at steps on 4 processes, resumed on 2 and on one machine: the same positions"

# One process dies: the others end soon, with a message.
mpirun --oversubscribe -n 4 "$pliant" run "$folder/scene.toml" --quiet --out "$folder/dies" > "$folder/log" 2>&1 &
mpi=$!
for _ in $(seq 3000); do [ "$(steps_in "$folder/dies")" -ge 2 ] && break; sleep 0.1; done
begin=$SECONDS
kill -9 "$(pgrep -P "$mpi" | tail -1)"
if wait "$mpi"; then echo "the run went on without one of its processes"; exit 1; fi
[ $((SECONDS - begin)) -lt 30 ] || { echo "the others took $((SECONDS - begin)) s to end"; exit 1; }
grep -qiE 'killed|signal' "$folder/log" || { echo "no message:"; cat "$folder/log"; exit 1; }
echo "one process killed: the others ended within $((SECONDS - begin)) s, with a message"
