#!/usr/bin/env bash
# Train on several GPUs, or in several processes where there is no GPU:
#     tools/dist_train.sh CONFIG PROCESSES [options of train.py]
# On several machines, run it on each with NNODES, NODE_RANK and MASTER_ADDR
# set; PORT changes the port (29500).
set -euo pipefail

if [ $# -lt 2 ]; then
    sed -n '2,5s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
config=$1 gpus=$2
shift 2

exec python -m torch.distributed.run \
    --nnodes="${NNODES:-1}" \
    --node-rank="${NODE_RANK:-0}" \
    --master-addr="${MASTER_ADDR:-127.0.0.1}" \
    --master-port="${PORT:-29500}" \
    --nproc-per-node="$gpus" \
    "$(dirname "$0")/train.py" "$config" --launcher pytorch "$@"
