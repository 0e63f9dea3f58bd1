"""The two stacks that bring ``mmcv``, ``mmengine`` and ``mmdet``.

Used by ``set_up.py``; needs only the standard library.
"""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Stack:
    """One set of distributions.

    Attributes:
        extra: this project's extra that asks for it.
        mmcv: name of the distribution with the compiled operations.
        version: the one that is compiled.
        engine: name of the distribution that brings ``mmengine``.
        python: the oldest Python that it takes.
        torch: the oldest PyTorch that it takes.
    """

    extra: str
    mmcv: str
    version: str
    engine: str
    python: tuple[int, int]
    torch: tuple[int, int]


STACKS = {
    'mmlab': Stack(
        extra='framework',
        mmcv='mmcv',
        version='2.1.0',
        engine='mmengine',
        python=(3, 9),
        torch=(2, 1),
    ),
    'onedl': Stack(
        extra='onedl',
        mmcv='onedl-mmcv',
        version='2.3.6',
        engine='onedl-mmengine',
        python=(3, 10),
        torch=(2, 4),
    ),
}
