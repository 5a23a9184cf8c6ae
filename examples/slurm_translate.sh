#!/bin/bash
# A Slurm job array that translates a file: each task translates one part of it.
#
# usage: sbatch --array=1-PARTS examples/slurm_translate.sh PARTS INPUT DIRECTORY [option of heed translate ...]
#
#   sbatch --array=1-100 examples/slurm_translate.sh 100 corpus.de.zst out --pair de-en
#   heed verify out/*.txt                             # once the array has ended
#   sbatch --array=$(heed verify --incomplete out/*.txt) examples/slurm_translate.sh 100 corpus.de.zst out --pair de-en
#   cat out/*.txt > corpus.en
#
# INPUT and DIRECTORY are on a file system that all nodes see. A task that was preempted, cancelled or lost with its
# node continues behind its last complete block when it runs again. For compressed output, use .zst or .gz instead of
# .txt below.
#SBATCH --job-name=heed-translate
#SBATCH --cpus-per-task=1
#SBATCH --requeue
#SBATCH --open-mode=append
set -euo pipefail

if [ $# -lt 3 ] || [ -z "${SLURM_ARRAY_TASK_ID:-}" ]; then
  echo "usage: sbatch --array=1-PARTS $0 PARTS INPUT DIRECTORY [option of heed translate ...]" >&2
  exit 2
fi
parts=$1 input=$2 directory=$3
shift 3
mkdir -p "$directory"
output=$directory/$(printf '%05d' "$SLURM_ARRAY_TASK_ID").txt # equal widths: *.txt is in the order of the text
# Since Slurm 22.05, srun does not take the number of processors from the job, only from this option.
exec srun --cpus-per-task="$SLURM_CPUS_PER_TASK" heed translate "$@" --quiet --threads "$SLURM_CPUS_PER_TASK" --input "$input" \
  --part "$SLURM_ARRAY_TASK_ID/$parts" --resume --output "$output"
