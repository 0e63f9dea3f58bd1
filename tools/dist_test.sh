#!/usr/bin/env bash
# Test on several GPUs, or in several processes where there is no GPU:
#     tools/dist_test.sh CONFIG CHECKPOINT PROCESSES [options of test.py]
# On several machines, run it on each with NNODES, NODE_RANK and MASTER_ADDR
# set; PORT changes the port (29500).
set -euo pipefail

if [ $# -lt 3 ]; then
    sed -n '2,5s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
config=$1 checkpoint=$2 gpus=$3
shift 3

exec python -m torch.distributed.run \
    --nnodes="${NNODES:-1}" \
    --node-rank="${NODE_RANK:-0}" \
    --master-addr="${MASTER_ADDR:-127.0.0.1}" \
    --master-port="${PORT:-29500}" \
    --nproc-per-node="$gpus" \
    "$(dirname "$0")/test.py" "$config" "$checkpoint" --launcher pytorch "$@"
