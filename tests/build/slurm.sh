#!/usr/bin/env bash
# examples/slurm_translate.sh gives the processors of its task to srun, and as many threads to heed.
#
#   slurm.sh SOURCE
set -euo pipefail
source=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
printf '#!/bin/sh\necho "srun $*"\n' >"$work/srun"
chmod +x "$work/srun"
said=$(PATH=$work:$PATH SLURM_ARRAY_TASK_ID=3 SLURM_CPUS_PER_TASK=16 \
  bash "$source/examples/slurm_translate.sh" 100 corpus.de "$work/out" --pair de-en)
wanted="srun --cpus-per-task=16 heed translate --pair de-en --quiet --threads 16 --input corpus.de --part 3/100 --resume"
if [[ $said != "$wanted --output $work/out/00003.txt" ]]; then
  echo "the task runs: $said"
  exit 1
fi
