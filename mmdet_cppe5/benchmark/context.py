"""What a speed depends on beside the model: device, software, settings."""

from __future__ import annotations

import importlib
import os
import platform
import shutil
import subprocess
from pathlib import Path
from typing import Any, Optional

import torch

CLOCK_FIELDS = (
    'driver_version',
    'clocks.sm',
    'clocks.mem',
    'clocks.max.sm',
    'power.limit',
    'persistence_mode',
)


def _first_cpuinfo(field: str) -> Optional[str]:
    try:
        lines = Path('/proc/cpuinfo').read_text().splitlines()
    except OSError:
        return None
    for line in lines:
        key, _, value = line.partition(':')
        if key.strip() == field:
            return value.strip()
    return None


def device_name(device: torch.device) -> str:
    """Return the model name of a GPU, or of the CPU."""
    if device.type == 'cuda':
        return torch.cuda.get_device_name(device)
    name = _first_cpuinfo('model name') or platform.processor()
    return name or platform.machine()


def _gpu_facts(device: torch.device) -> dict[str, Any]:
    facts: dict[str, Any] = {
        'cuda': torch.version.cuda,
        'cudnn': torch.backends.cudnn.version(),
        'capability': list(torch.cuda.get_device_capability(device)),
        'tf32_matmul': torch.backends.cuda.matmul.allow_tf32,
        'tf32_cudnn': torch.backends.cudnn.allow_tf32,
        'cudnn_benchmark': torch.backends.cudnn.benchmark,
    }
    if not shutil.which('nvidia-smi'):
        return facts
    # The UUID, since nvidia-smi's numbers ignore CUDA_VISIBLE_DEVICES.
    uuid = getattr(torch.cuda.get_device_properties(device), 'uuid', None)
    command = [
        'nvidia-smi',
        f'--query-gpu={",".join(CLOCK_FIELDS)}',
        '--format=csv,noheader',
    ]
    if uuid is not None:
        command.append(f'--id=GPU-{uuid}')
    try:
        answer = subprocess.run(
            command, capture_output=True, text=True, timeout=20, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return facts
    values = answer.stdout.strip().splitlines()[0].split(', ')
    return {**facts, **dict(zip(CLOCK_FIELDS, values))}


def _cpu_facts() -> dict[str, Any]:
    return {
        'cores': os.cpu_count(),
        'usable_cores': len(os.sched_getaffinity(0))
        if hasattr(os, 'sched_getaffinity')
        else os.cpu_count(),
        'mhz': _first_cpuinfo('cpu MHz'),
        'load_average': list(os.getloadavg()),
    }


def machine(device: torch.device) -> dict[str, Any]:
    """Describe the hardware and its driver, with clocks where known."""
    return {
        'device_name': device_name(device),
        'cpu_name': device_name(torch.device('cpu')),
        'platform': platform.platform(),
        'cpu': _cpu_facts(),
        'gpu': _gpu_facts(device) if device.type == 'cuda' else None,
    }


def software() -> dict[str, str]:
    """Return the versions of everything between the model and the device."""
    names = ('torch', 'mmcv', 'mmengine', 'mmdet', 'mmdet_cppe5', 'numpy')
    versions = {
        name: str(importlib.import_module(name).__version__) for name in names
    }
    return {'python': platform.python_version(), **versions}


class HostMemory:
    """Peak resident memory of this process since the last reset."""

    def reset(self) -> None:
        """Start a new peak where the kernel allows it."""
        try:
            Path('/proc/self/clear_refs').write_text('5')
        except OSError:
            return

    def peak_mib(self) -> Optional[float]:
        """Return the peak in MiB, or None where it cannot be read."""
        try:
            status = Path('/proc/self/status').read_text()
        except OSError:
            return None
        for line in status.splitlines():
            if line.startswith('VmHWM:'):
                return int(line.split()[1]) / 1024
        return None
