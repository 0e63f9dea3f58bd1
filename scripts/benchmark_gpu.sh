#!/usr/bin/env bash
# Speeds of the paper's sixteen detectors on this machine's first GPU:
# fp32 and AMP, batch size 1, noise images of 1333x800, random weights.
#   scripts/benchmark_gpu.sh [OUT_DIR] [extra options of the benchmark]
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
out=${1:-speeds}
shift || true
models="ssd yolov3 faster_rcnn reppoints sparse_rcnn fcos grid_rcnn
  deformable_detr fsaf ld vfnet regnet double_heads dcn
  empirical_attention tridentnet"
# The environment's own Python; without one, that of `make setup`.
python=${PYTHON:-$(command -v python || echo "$root/.venv/bin/python")}

# shellcheck disable=SC2086
"$python" "$root/tools/analysis_tools/benchmark.py" --all $models \
  --precision fp32 amp --synthetic 30 --input-size 1333 800 \
  --num-warmup 5 --out-dir "$out" "$@" || failed=$?
for precision in fp32 fp16 bf16; do
  set -- "$out"/*_"$precision"_batch1.json
  [ "$#" -gt 1 ] || continue
  echo "== $precision"
  "$python" "$root/tools/analysis_tools/benchmark.py" --compare "$@"
done
exit "${failed:-0}"
