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

tools=$(dirname "$0")
exec bash "$tools/slurm_run.sh" "$partition" "$job" \
    python -u "$tools/train.py" "$config" --work-dir="$work_dir" \
    --launcher=slurm "$@"
