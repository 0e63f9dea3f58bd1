"""A report from files on disk."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Optional

from mmdet_cppe5.benchmark.compare import read_record, require_comparable
from mmdet_cppe5.coco import read_ground_truth, read_results
from mmdet_cppe5.coco.box_form import form_notices
from mmdet_cppe5.coco.conversion import to_core
from mmdet_cppe5.coco.loading import noticing_a_swap
from mmdet_cppe5.core import Comparison, compare
from mmdet_cppe5.core.settings import listed
from mmdet_cppe5.files import (
    PathLike,
    check_output,
    file_digest,
    write_text,
)
from mmdet_cppe5.names import did_you_mean
from mmdet_cppe5.reports.exports import save_drawing, to_latex, to_markdown
from mmdet_cppe5.reports.page import Page, render
from mmdet_cppe5.reports.report import Extras, Origin, report_page
from mmdet_cppe5.reports.study import (
    DataSet,
    Study,
    data_set,
    study,
)
from mmdet_cppe5.reports.worklist import work_items, write_worklist
from mmdet_cppe5.scores.assessment import Phase
from mmdet_cppe5.scores.groups import (
    distinct_names,
    numbered,
    without_prefix,
)


@dataclass(frozen=True)
class ReportFiles:
    """What to read, what to write.

    Attributes:
        ground_truth: COCO annotation file.
        results: COCO result files; the details are about the first.
        out: the page.
        images: folder of the photos; None draws boxes only.
        names: of the detectors; empty takes the files' stems.
        title: heading of the page; None makes one.
        classes: evaluate only these; None means all.
        resamples: for intervals and tests; 0 leaves both out, None takes
            1000, or fewer for more than 100,000 detections.
        seed: of the resampling.
        speed: ``NAME=FILE`` of inference benchmark records.
        figures: folder for every figure as PNG and SVG; None writes none.
        tables: folder for every table as Markdown and LaTeX.
        photo_limit: photos in the page at most.
        worklist: every error of the first detector, as ``.csv`` or
            ``.json``; None writes none.
        slice: fields of the images or annotations to slice by.
    """

    ground_truth: PathLike
    results: Sequence[PathLike]
    out: PathLike
    images: Optional[PathLike] = None
    names: Sequence[str] = ()
    title: Optional[str] = None
    classes: Optional[Sequence[str]] = None
    resamples: Optional[int] = None
    seed: int = 0
    speed: Sequence[str] = ()
    figures: Optional[PathLike] = None
    tables: Optional[PathLike] = None
    photo_limit: int = 60
    worklist: Optional[PathLike] = None
    slice: Sequence[str] = ()


def write_report(
    files: ReportFiles, phase: Phase = contextlib.nullcontext
) -> Page:
    """Evaluate, put the report together and write it.

    Args:
        files: what to read and write.
        phase: called with what is being done, entered while it is.

    Returns:
        The page that was written.

    Raises:
        FileNotFoundError: if a file or the images' folder is missing.
        ValueError: if a file is not what it should be, or as many names as
            result files are not given.
    """
    for path in (files.out, files.worklist):
        check_output(path, [files.ground_truth, *files.results])
    names = _names(files)
    milliseconds = _speeds(files.speed, names)
    if files.images is not None and not Path(files.images).is_dir():
        raise FileNotFoundError(
            f'Expected the folder of the photos at {files.images}, but there '
            'is no such folder.'
        )
    with noticing_a_swap(files.ground_truth, files.results[0]):
        truth = read_ground_truth(files.ground_truth, files.classes)
    data = data_set(truth, Path(files.ground_truth).name)
    notices, studies = list(truth.notices), []
    for name, path in zip(names, files.results):
        results = read_results(path, truth)
        notices += results.notices
        # The others' intervals come out of the comparison.
        resamples = 0 if studies else files.resamples
        detections = to_core(truth, results).detections
        notices += form_notices(truth, results, detections.bbox)
        with phase(f'Judging {name}'):
            studies.append(
                study(
                    name,
                    data,
                    detections,
                    resamples=resamples,
                    seed=files.seed,
                    entries=results.entry,
                )
            )
    with phase('Comparing detectors'):
        comparison = comparison_of(studies, files.resamples, files.seed)
    extras = Extras(
        title=files.title,
        images=files.images,
        comparison=comparison,
        milliseconds=milliseconds,
        origins=_origins(files, names),
        notices=notices,
        facts=[('Command', command_of(files))],
        photo_limit=files.photo_limit,
        slice_keys=files.slice,
    )
    with phase('Writing the page'):
        return write_page(data, studies, extras, files)


def write_page(
    data: DataSet,
    studies: Sequence[Study],
    extras: Extras,
    files: ReportFiles,
) -> Page:
    """Write a report, and its figures and tables where asked for."""
    page = report_page(data, studies, extras)
    write_text(files.out, render(page))
    if files.figures is not None:
        for drawing in page.drawings():
            save_drawing(drawing, files.figures)
    if files.tables is not None:
        for table in page.tables():
            folder = Path(files.tables)
            write_text(folder / f'{table.id}.md', to_markdown(table))
            write_text(folder / f'{table.id}.tex', to_latex(table))
    if files.worklist is not None:
        items = work_items(data, studies[0])
        write_worklist(files.worklist, data, items)
    return page


def comparison_of(
    studies: Sequence[Study], resamples: Optional[int], seed: int
) -> Optional[Comparison]:
    """Compare several detectors; None for one, or without resampling."""
    if len(studies) < 2 or resamples == 0:
        return None
    return compare(
        {each.name: each.evaluation for each in studies},
        num_resamples=resamples,
        seed=seed,
    )


def command_of(files: ReportFiles) -> str:
    """Return the command line that makes the same page."""
    words = ['mmdet-cppe5', 'report', str(files.ground_truth)]
    words += map(str, files.results)
    for each in fields(ReportFiles):
        value = getattr(files, each.name)
        if each.name in ('ground_truth', 'results') or value == each.default:
            continue
        words.append(f'--{each.name.replace("_", "-")}')
        many = isinstance(value, (list, tuple))
        words += map(str, value if many else [value])
    return shlex.join(words)


def _names(files: ReportFiles) -> list[str]:
    if not files.names:
        return without_prefix(
            distinct_names([str(path) for path in files.results])
        )
    if len(files.names) != len(files.results):
        raise ValueError(
            f'Expected as many names as result files, but got '
            f'{len(files.names)} names for {len(files.results)} files.'
        )
    return numbered(files.names)


def _speeds(speed: Sequence[str], names: Sequence[str]) -> dict[str, float]:
    """Read the milliseconds per image out of benchmark records."""
    records = {}
    for item in speed:
        name, _, path = item.partition('=')
        if name not in names or not path:
            raise ValueError(
                "Expected '--speed' to be NAME=FILE with the name of a "
                f'detector, one of {listed(names)}, but got {item!r}'
                f'{did_you_mean(name, names) or "."}'
            )
        records[name] = read_record(path)
    require_comparable(list(records.values()))
    return {
        name: float(record['ms_per_image']['median'])
        for name, record in records.items()
    }


def _origins(files: ReportFiles, names: Sequence[str]) -> list[Origin]:
    origins = [
        Origin(
            'Ground truth',
            str(files.ground_truth),
            file_digest(files.ground_truth),
        )
    ]
    origins += [
        Origin(f'Detections of {name}', str(path), file_digest(path))
        for name, path in zip(names, files.results)
    ]
    return origins
