#!/usr/bin/env bash
# Run a command on a Slurm cluster, for slurm_train.sh and slurm_test.sh:
#     tools/slurm_run.sh PARTITION JOB COMMAND [ARGUMENTS]
# GPUS (8 in all), GPUS_PER_NODE (8), CPUS_PER_TASK (5) and SRUN_ARGS are
# taken from the environment.
set -euo pipefail

partition=$1 job=$2
shift 2

# SRUN_ARGS holds several words on purpose.
# shellcheck disable=SC2086
exec srun -p "$partition" \
    --job-name="$job" \
    --gres="gpu:${GPUS_PER_NODE:-8}" \
    --ntasks="${GPUS:-8}" \
    --ntasks-per-node="${GPUS_PER_NODE:-8}" \
    --cpus-per-task="${CPUS_PER_TASK:-5}" \
    --kill-on-bad-exit=1 \
    ${SRUN_ARGS:-} \
    "$@"
