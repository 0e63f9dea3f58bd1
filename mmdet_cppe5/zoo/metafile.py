"""The facts of ``configs/cppe5/metafile.yml``, the zoo's single source."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Optional

import yaml

from mmdet_cppe5.download import RemoteFile
from mmdet_cppe5.paths import config_root

PAPER = 'CPPE-5 paper'
PUBLIC = 'CPPE-5 test'


@dataclass(frozen=True)
class ZooModel:
    """A config and what is known about it.

    Attributes:
        name: the config's name without folder and suffix.
        title: the model's name, for people.
        architecture: backbone and what is special.
        schedule: length of the training.
        batch: nominal GPUs x images, which the learning rate belongs to.
        parameters: millions of trained parameters, counted here.
        gmacs: billions of multiply-accumulates at 3x800x1280, counted here.
        paper: the paper's ``Parameters (M)``, ``GMACs`` and ``FPS (V100)``.
        results: metrics in points by data set, ``PAPER`` and ``PUBLIC``.
        released: the checkpoint that the paper's authors released.
        note: what a reader of the figures must know.
    """

    name: str
    title: str
    architecture: str
    schedule: str
    batch: str
    parameters: Optional[float] = None
    gmacs: Optional[float] = None
    paper: dict[str, float] = field(default_factory=dict)
    results: dict[str, dict[str, float]] = field(default_factory=dict)
    released: Optional[RemoteFile] = None
    note: str = ''

    @property
    def config(self) -> str:
        """Path of the config below the project's root."""
        return f'configs/cppe5/{self.name}.py'


def read_zoo() -> list[ZooModel]:
    """Read the metafile.

    Returns:
        The models in the order of the file, the paper's first.
    """
    path = config_root() / 'cppe5' / 'metafile.yml'
    content = yaml.safe_load(path.read_text(encoding='utf-8'))
    return [_model(entry) for entry in content['Models']]


def find_model(name: str) -> ZooModel:
    """Return the model of a config's name.

    Raises:
        KeyError: if the zoo has no such model; the message lists them all.
    """
    models = {model.name: model for model in read_zoo()}
    if name not in models:
        raise KeyError(
            f'Expected one of the models {", ".join(models)}, but got '
            f'{name!r}.'
        )
    return models[name]


def _model(entry: dict[str, Any]) -> ZooModel:
    facts = entry['Metadata']
    weights = entry.get('Released Weights')
    return ZooModel(
        name=entry['Name'],
        title=facts['Title'],
        architecture=facts['Architecture'],
        schedule=facts['Schedule'],
        batch=facts['Nominal Batch'],
        parameters=facts.get('Parameters (M)'),
        gmacs=facts.get('GMACs'),
        paper={
            key[len('Paper ') :]: value
            for key, value in facts.items()
            if key.startswith('Paper ')
        },
        results={
            result['Dataset']: result['Metrics']
            for result in entry.get('Results', [])
        },
        released=weights and _released(weights),
        note=facts.get('Note', ''),
    )


def _released(weights: dict[str, str]) -> RemoteFile:
    url = weights['URL']
    return RemoteFile(
        name=url.rpartition('/')[2],
        urls=(url,),
        sha256=weights.get('SHA256 Starts', ''),
    )
