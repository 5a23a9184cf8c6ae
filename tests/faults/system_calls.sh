#!/usr/bin/env bash
# Commands of which one system call fails, the n-th of its name: each ends with status 1 and a message, or does what it
# does without the failure. Files under their final names are whole, and no unfinished ones are left.
#
#   system_calls.sh HEED FAULTS.so MODEL [STEP]
#
# STEP: n grows by so many percent and 1; 0, the default, tries every n. Prints how many failures it tried.
set -euo pipefail
heed=$1 library=$2 model=$3 step=${4:-0}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
printf 'ein haus\ta house\neine katze\ta cat\n' >"$folder/test.tsv"
printf 'Das ist ein Haus.\nWo ist die Katze?\n' >"$folder/text"

complaints=0 tried=0
complain() {
  echo "$fault of heed ${arguments[*]}: $*: $(tail -n 1 "$folder/err")"
  complaints=$((complaints + 1))
}

# whole_files STATUS: whether every file that the command has left is the one that it writes without a failure, and, if
# it says so, all are there.
whole_files() {
  local file
  while read -r file; do
    cmp -s "$folder/$file" "$folder/expected/$file" || { complain "$file is left, and differs" && return; }
  done < <(cd "$folder" && find result result.* -type f 2>/dev/null)
  if (($1 == 0)) && [[ -e $folder/expected/result ]]; then
    diff -rq "$folder/result" "$folder/expected/result" >/dev/null 2>&1 || complain "another result"
  fi
}

# goes_on STATUS: whether a training, run again, ends with the model of one without a failure.
goes_on() {
  "$heed" "${arguments[@]}" >"$folder/out" 2>"$folder/err" || { complain "cannot be run again" && return; }
  cmp -s "$folder/result/model.safetensors" "$folder/expected/result/model.safetensors" || complain "another model when run again"
}

# one_failure CALL N: true if the command came to the N-th call, with which it has ended or gone on as it should.
one_failure() {
  local status=0
  fault=$1:$2
  rm -rf "$folder/happened" "$folder"/result*
  env LD_PRELOAD="$library" HEED_FAIL_CALL="$fault" HEED_FAULT_HAPPENED="$folder/happened" \
    "$heed" "${arguments[@]}" <"$folder/text" >"$folder/out" 2>"$folder/err" || status=$?
  if [[ ! -e $folder/happened ]]; then return 1; fi
  tried=$((tried + 1))
  if ((status == 0)); then
    cmp -s "$folder/out" "$folder/expected/out" || complain "another output"
  elif ((status != 1)) || ! grep -q "^heed: " "$folder/err"; then
    complain "status $status without a message"
  fi
  "$check" $status
}

# try ARGUMENTS...: every call of every name, with the result in $folder/result.
try() {
  local call n
  arguments=("$@")
  rm -rf "$folder/expected" "$folder"/result*
  "$heed" "$@" <"$folder/text" >"$folder/out" 2>"$folder/err"
  mkdir "$folder/expected"
  mv "$folder/out" "$folder/expected"
  if [[ -e $folder/result ]]; then mv "$folder/result" "$folder/expected"; fi
  for call in $calls; do
    for ((n = 1; ; n += 1 + n * step / 100)); do
      one_failure "$call" "$n" || break
    done
  done
}

calls="open read write fsync rename mmap close"
check=whole_files
try translate --model "$model" --threads 1
try translate --model "$model" --threads 1 --output "$folder/result"
try evaluate --model "$model" --threads 1 --output "$folder/result" "$folder/test.tsv"
try quantize "$model" "$folder/result"
try convert "$model" "$folder/result" --weights float16
for n in {1..40}; do printf 'Das Haus %d ist rot.\tThe house %d is red.\n' "$n" "$n"; done >"$folder/pairs.tsv"
# Not mmap: faults.sh has Heed's own maps, and oneDNN ends the process where it gets none for its code.
calls="open read write fsync rename close"
check=goes_on
try train --pairs "$folder/pairs.tsv" --valid-pairs "$folder/pairs.tsv" --preset tiny --max-steps 2 --threads 1 \
  --set tokenizer.vocabulary=300 --set validation.every=1 --output "$folder/result"
echo "$tried failures, $complaints complaints"
((tried > 50)) || { echo "that is few: does the library let calls fail?"; exit 1; }
((complaints == 0))
