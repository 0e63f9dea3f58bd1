#!/usr/bin/env bash
# Train on a Slurm cluster:
#     tools/slurm_train.sh PARTITION JOB CONFIG WORK_DIR [options of train.py]
# GPUS (8 in all), GPUS_PER_NODE (8), CPUS_PER_TASK (5) and SRUN_ARGS are
# taken from the environment.
set -euo pipefail

if [ $# -lt 4 ]; then
    sed -n '2,5s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
partition=$1 job=$2 config=$3 work_dir=$4
shift 4

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
    python -u "$(dirname "$0")/train.py" "$config" \
    --work-dir="$work_dir" --launcher=slurm "$@"
