# An image with the project and everything it needs, for the CPU:
#
#     docker build -t mmdet-cppe5 .
#
# or for CUDA, from an image that has nvcc and for the GPUs named:
#
#     docker build -t mmdet-cppe5:cuda . \
#         --build-arg BASE=nvidia/cuda:12.6.3-devel-ubuntu24.04 \
#         --build-arg TORCH_INDEX=https://download.pytorch.org/whl/cu126 \
#         --build-arg FORCE_CUDA=1 --build-arg TORCH_CUDA_ARCH_LIST='8.0;9.0'
ARG BASE=python:3.11-slim-bookworm
FROM ${BASE}

RUN apt-get update \
    && DEBIAN_FRONTEND=noninteractive apt-get install -y \
        --no-install-recommends build-essential python3 python3-dev \
        python3-venv \
    && rm -rf /var/lib/apt/lists/*

ARG TORCH=torch==2.13.0
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
ARG FORCE_CUDA=0
ARG TORCH_CUDA_ARCH_LIST=
ARG MAX_JOBS=

WORKDIR /opt/mmdet-cppe5
COPY . .
# One layer, so that the compiled wheel's cache stays out of the image.
RUN PIP_NO_CACHE_DIR=1 PIP_EXTRA_INDEX_URL="${TORCH_INDEX}" \
        XDG_CACHE_HOME=/tmp/cache TORCH="${TORCH}" MAX_JOBS="${MAX_JOBS}" \
        FORCE_CUDA="${FORCE_CUDA}" \
        TORCH_CUDA_ARCH_LIST="${TORCH_CUDA_ARCH_LIST}" \
        python3 scripts/set_up.py --venv /opt/venv \
    && rm -rf /tmp/cache

ENV PATH=/opt/venv/bin:${PATH}
WORKDIR /workspace
CMD ["mmdet-cppe5", "--help"]
