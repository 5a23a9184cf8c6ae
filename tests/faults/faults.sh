#!/usr/bin/env bash
# Commands of which one allocation, or one flush to disk, fails, the n-th, or all memory maps from the n-th on: each
# ends with status 1 and a message, or does its work where it was not needed, and leaves no unfinished files.
# Usage: faults.sh HEED FAULTS.so MODEL
set -euo pipefail
heed=$1 library=$2 model=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

failures=0 messages=0
# try FAULT=N ARGUMENTS...: runs heed with the N-th call failing; as FAULT, ulimit=N is a limit of N KB. True if the
# command failed
try() {
  local fault=$1 status=0
  shift
  if [[ $fault == ulimit=* ]]; then
    (ulimit -v "${fault#*=}" && exec "$heed" "$@") >"$folder/out" 2>"$folder/err" || status=$?
    if ((status != 0)) && ! grep -qi "memory" "$folder/err"; then status="$status without the reason"; fi
  else
    env LD_PRELOAD="$library" "$fault" "$heed" "$@" >"$folder/out" 2>"$folder/err" || status=$?
  fi
  grep -qi "memory" "$folder/err" && messages=$((messages + 1))
  if [[ $status != 0 ]] && { [[ $status != 1 ]] || [[ ! -s $folder/err ]]; }; then
    echo "$fault of heed $*: status $status: $(tail -1 "$folder/err")"
    failures=$((failures + 1))
  fi
  if compgen -G "$folder/*.part" >/dev/null; then
    echo "$fault of heed $*: left $(basename "$folder"/*.part)"
    failures=$((failures + 1))
    rm -rf "$folder"/*.part
  fi
  [[ $status != 0 ]]
}

# try_allocations STEP ARGUMENTS...: the first ones, which options and messages need, then every STEP % more, until the
# command makes fewer. A command may do without a few of them.
try_allocations() {
  local step=$1 n passed=0
  shift
  for ((n = 1; passed < 5; n += 1 + n * step / 100)); do
    if try HEED_FAIL_CALL=new:$n "$@"; then passed=0; else passed=$((passed + 1)); fi
    rm -rf "$folder/converted"
  done
}

try_allocations 2 info "$model"
try_allocations 3 translate --model "$model" --threads 1 "ein haus"
try_allocations 10 translate --model "$model" --threads 4 "ein haus"
try_allocations 4 quantize "$model" "$folder/converted"
try_allocations 50 convert "$model" "$folder/converted" --weights float16
for n in 1 2 3 4 5 6 7 8; do
  try HEED_FAIL_CALL=fsync:$n convert "$model" "$folder/converted" --weights float16 || true
  try HEED_FAIL_CALL=fsync:$n quantize "$model" "$folder/quantized" || true
  rm -rf "$folder/converted" "$folder/quantized"
done
for n in {1..60}; do printf 'Das Haus %d ist rot.\tThe house %d is red.\n' "$n" "$n"; done >"$folder/pairs.tsv"
train=(train --pairs "$folder/pairs.tsv" --valid-pairs "$folder/pairs.tsv" --preset tiny --max-steps 2
  --set tokenizer.vocabulary=300 --output "$folder/trained")
# Two maps of the data, and one with which the trainer finds out whether oneDNN would get memory for its code.
before=$messages
for n in 1 2 3; do
  try HEED_FAIL_CALL=mmap:$n+ "${train[@]}" --threads 1 || true
  rm -rf "$folder/trained"
done
((messages > before)) || { echo "the command trains without memory maps"; failures=$((failures + 1)); }
# From where there is memory for the command and its libraries, of which ICU alone may take 40 MB.
least=50000
until (ulimit -v $least && "$heed" --version) >/dev/null 2>&1; do least=$((least + 10000)); done
for more in 0 50000 100000; do
  try ulimit=$((least + more)) "${train[@]}" --threads 2 || true
  rm -rf "$folder/trained"
done
((messages > 20)) || { echo "only $messages commands ran out of memory: does the library fail allocations?"; exit 1; }
((failures == 0))
