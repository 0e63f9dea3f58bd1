"""The report: everything about one detector, and its place among others."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np

from mmdet_cppe5 import __version__
from mmdet_cppe5.coco.records import counted
from mmdet_cppe5.core import Comparison
from mmdet_cppe5.core.per_image import image_counts
from mmdet_cppe5.figures.style import percent
from mmdet_cppe5.files import PathLike
from mmdet_cppe5.reports.cells import span
from mmdet_cppe5.reports.findings import findings
from mmdet_cppe5.reports.gallery import Group, galleries
from mmdet_cppe5.reports.page import Headline, Page, Section
from mmdet_cppe5.reports.photos import embed_photos, find_photo
from mmdet_cppe5.reports.section_fix import fix_section
from mmdet_cppe5.reports.section_pairs import ALL_PAIRS, pair_section
from mmdet_cppe5.reports.section_slices import slice_section
from mmdet_cppe5.reports.sections_accuracy import (
    accuracy_section,
    ends,
    error_section,
)
from mmdet_cppe5.reports.sections_images import (
    example_section,
    image_section,
    miss_section,
    photo_list,
    worst_images,
)
from mmdet_cppe5.reports.sections_models import model_section
from mmdet_cppe5.reports.sections_scores import score_section, working_score
from mmdet_cppe5.reports.slices import slices
from mmdet_cppe5.reports.study import DataSet, Study
from mmdet_cppe5.scores.caveats import COVERAGE

PHOTO_LIMIT = 60


@dataclass(frozen=True)
class Origin:
    """A file that the numbers come from, with its SHA-256 digest."""

    what: str
    path: str
    digest: str


@dataclass(frozen=True)
class Extras:
    """What a report may say beyond the numbers.

    Attributes:
        title: the heading; None makes one.
        images: folder of the photos.
        comparison: of all detectors.
        milliseconds: time per image of detectors by name.
        origins: the files behind the numbers.
        notices: sentences on what was unusual in them.
        photo_limit: how many photos the page may hold.
        facts: further lines for the last section.
        slice_keys: fields of the images or annotations to slice by.
    """

    title: Optional[str] = None
    images: Optional[PathLike] = None
    comparison: Optional[Comparison] = None
    milliseconds: Optional[Mapping[str, float]] = None
    origins: Sequence[Origin] = ()
    notices: Sequence[str] = ()
    photo_limit: int = PHOTO_LIMIT
    facts: Sequence[tuple[str, str]] = ()
    slice_keys: Sequence[str] = ()


def report_page(
    data: DataSet, studies: Sequence[Study], extras: Optional[Extras] = None
) -> Page:
    """Put a report together.

    Args:
        data: the data set.
        studies: the detectors; figures, galleries and tables are about the
            first, the others are compared with it.
        extras: what else to say.

    Returns:
        The page; :func:`~.page.render` makes it HTML.
    """
    extras = extras or Extras()
    study = studies[0]
    score = working_score(study.evaluation)
    groups = galleries(data, study)
    chosen = _choose_images(data, study, groups, score, extras.photo_limit)
    addresses, problems = _photos(data, chosen, extras.images)
    shown = {image for image, address in zip(chosen, addresses) if address}
    sections = [
        fix_section(data, study),
        accuracy_section(data, study),
        error_section(data, study),
        score_section(data, study, score),
        miss_section(data, study),
        slice_section(
            data, studies, slices(data, extras.slice_keys, extras.images)
        ),
        example_section(data, groups, shown),
        image_section(data, study, score, set(chosen)),
    ]
    if len(studies) > 1:
        sections.insert(-1, pair_section(data, studies, shown))
    if extras.comparison is not None:
        sections.insert(
            2, model_section(studies, extras.comparison, extras.milliseconds)
        )
    notices = [*extras.notices, *problems]
    if len(chosen) < len(data.image_names):
        notices.append(
            f'Photos are limited to {len(chosen)} of '
            f'{len(data.image_names):,} images, those with the examples and '
            'the most errors, to keep the file small.'
        )
    sections.append(_method(study, extras, notices))
    return Page(
        extras.title or f'How good is {study.name}?',
        'Detection report',
        _subtitle(data, studies),
        _headline(study),
        findings(data, study, groups, extras.comparison),
        sections,
        photo_list(
            data, study, studies[1:ALL_PAIRS], chosen, addresses, score
        ),
        round(float(np.floor(score * 100) / 100), 2),
        _listed(data, groups),
        study.name,
    )


def _listed(data: DataSet, groups: Sequence[Group]) -> dict[str, Any]:
    """Return images and categories that a worklist may name."""
    shown = sorted({card.photo for group in groups for card in group.cards})
    names = zip(data.truth.category_ids, data.class_names)
    return {
        'images': [data.truth.images[i] for i in shown],
        'categories': [{'id': key, 'name': name} for key, name in names],
    }


def _choose_images(
    data: DataSet,
    study: Study,
    groups: Sequence[Group],
    score: float,
    limit: int,
) -> list[int]:
    """Return the images of the examples, then those with most errors."""
    wanted = [card.photo for group in groups for card in group.cards]
    wanted += worst_images(image_counts(study.evaluation, score)).tolist()
    return sorted(list(dict.fromkeys(wanted))[:limit])


def _photos(
    data: DataSet, chosen: Sequence[int], folder: Optional[PathLike]
) -> tuple[list[Optional[str]], list[str]]:
    if folder is None:
        return [None] * len(chosen), []
    paths = [find_photo(folder, data.image_names[i]) for i in chosen]
    addresses, problems = embed_photos(
        paths, [tuple(data.image_sizes[i]) for i in chosen]
    )
    lost = [data.image_names[i] for i, p in zip(chosen, paths) if p is None]
    if lost:
        problems.append(
            f'{counted(len(lost), "photo")} not found, such as {lost[0]}.'
        )
    return addresses, problems


def _subtitle(data: DataSet, studies: Sequence[Study]) -> str:
    counts = data.counts()
    text = (
        f'{data.name}: {counted(len(data.image_names), "image")}, '
        f'{counted(int(counts.sum()), "object")}; classes with objects: '
        f'{np.sum(counts > 0)}.'
    )
    if len(studies) > 1:
        others = len(studies) - 1
        text += (
            f' The details are about {studies[0].name}, compared with '
            f'{others} other detector{"" if others == 1 else "s"}.'
        )
    return text


def _headline(study: Study) -> list[Headline]:
    intervals = {}
    if study.intervals is not None:
        intervals = study.intervals.intervals
    largest = f'AR{study.evaluation.max_dets[-1]}'
    no_interval = 'no interval' if intervals else ''
    return [
        Headline(
            name,
            percent(value),
            span(ends(intervals.get(name))) or no_interval,
        )
        for name, value in study.evaluation.summary().items()
        if name.startswith('AP') or name == largest
    ]


def _method(study: Study, extras: Extras, notices: Sequence[str]) -> Section:
    """Return how the numbers were made, to be traced and repeated."""
    evaluation = study.evaluation
    facts: list[tuple[str, str]] = [
        (origin.what, f'{origin.path} (SHA-256 {origin.digest})')
        for origin in extras.origins
    ]
    thresholds = ', '.join(f'{t:.2f}' for t in evaluation.iou_thrs)
    facts += [
        ('IoU thresholds', thresholds),
        (
            'Detections counted',
            f'at most {evaluation.max_dets[-1]} per image and class',
        ),
        (
            'AP',
            'mean of the interpolated precision at 101 recall levels, over '
            'thresholds and classes with objects; equal to pycocotools',
        ),
        (
            'Errors',
            f'TIDE at IoU {study.tide.pos_thr:.2f}, background below '
            f'{study.tide.bg_thr:.2f}; ΔAP on the same AP as everything else',
        ),
    ]
    if study.intervals is not None:
        each = study.intervals
        facts.append(
            (
                'Intervals',
                f'{each.confidence:.0%}, bootstrap over images, method '
                f'“{each.method}”, '
                f'{each.num_resamples:,} resamples, seed {each.seed}. '
                f'{COVERAGE}',
            )
        )
    facts += [
        *extras.facts,
        (
            'Software',
            f'mmdet-cppe5 {__version__}, NumPy {np.__version__}, '
            f'Python {platform.python_version()}',
        ),
    ]
    return Section(
        'method',
        'How these numbers were made',
        [*notices],
        facts=facts,
    )
