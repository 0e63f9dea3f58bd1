"""A report after validation or test, and its figures for TensorBoard."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Optional

from mmdet.registry import HOOKS
from mmengine.dist import collect_results
from mmengine.hooks import Hook
from mmengine.runner import Runner

from mmdet_cppe5.annotation_file import read_annotation_file
from mmdet_cppe5.coco import (
    CocoGroundTruth,
    parse_ground_truth,
)
from mmdet_cppe5.figures.style import require_matplotlib
from mmdet_cppe5.files import PathLike, write_text
from mmdet_cppe5.reports.exports import save_drawing
from mmdet_cppe5.reports.page import Page, render, require_jinja
from mmdet_cppe5.reports.report import Extras, report_page
from mmdet_cppe5.reports.study import data_set, study
from mmdet_cppe5.samples import (
    SampleDetections,
    detections_of_results,
    first_per_image,
    instances_to_coco,
    read_sample,
)


@HOOKS.register_module()
class ReportHook(Hook):
    """Writes the report of :mod:`mmdet_cppe5.reports` during a run.

    It works with any detector and any data set in COCO form, whatever the
    evaluator is. All processes hand over their detections; the main one
    writes. Switch it on from the command line with
    ``--cfg-options default_hooks.report.test=True`` where the config has it,
    and where not, with ``default_hooks.report.type=ReportHook`` as well.

    Args:
        test: write a report after a test.
        val: write a report after a validation.
        interval: after every how many validations.
        to_visualizer: also send the figures to the visualizer's back ends,
            such as TensorBoard.
        figures: also save the figures as PNG and SVG.
        out_dir: where the files go; None means ``report`` in the folder of
            the run's logs.
        images: folder of the photos; None means the data set's own.
        ann_file: COCO annotation file; None means the data set's own, or
            else the annotations that the samples carry.
        resamples: for the intervals; 0 leaves them out, None takes 1000, or
            fewer for more than 100,000 detections.
        seed: of the resampling.
        photo_limit: photos in the page at most.

    Raises:
        ImportError: before the run, if what reports need is not installed.
    """

    # After the evaluation's own hooks, such as the one that saves the best
    # checkpoint: what they do must not wait for a report.
    priority = 'VERY_LOW'

    def __init__(
        self,
        test: bool = True,
        val: bool = False,
        interval: int = 1,
        to_visualizer: bool = False,
        figures: bool = False,
        out_dir: Optional[PathLike] = None,
        images: Optional[PathLike] = None,
        ann_file: Optional[PathLike] = None,
        resamples: Optional[int] = None,
        seed: int = 0,
        photo_limit: int = 60,
    ) -> None:
        if interval < 1:
            raise ValueError(
                'Expected the `interval` of ReportHook to be at least 1, but '
                f'got {interval}.'
            )
        self.test = test
        self.val = val
        self.interval = interval
        self.to_visualizer = to_visualizer
        self.figures = figures
        self.out_dir = out_dir
        self.images = images
        self.ann_file = ann_file
        self.resamples = resamples
        self.seed = seed
        self.photo_limit = photo_limit
        self._validations = 0
        self._samples: list[SampleDetections] = []

    def before_run(self, runner: Runner) -> None:
        """Check that reports can be made, before hours are spent."""
        if self.val or self.test:
            require_matplotlib()
            require_jinja()

    def before_val_epoch(self, runner: Runner) -> None:
        """Forget what the last loop left."""
        self._samples = []

    def before_test_epoch(self, runner: Runner) -> None:
        """Forget what the last loop left."""
        self._samples = []

    def after_val_iter(
        self,
        runner: Runner,
        batch_idx: int,
        data_batch: Any = None,
        outputs: Optional[Sequence[Any]] = None,
    ) -> None:
        """Keep the detections of a batch."""
        if self.val and self._is_due():
            self._keep(runner.val_dataloader.dataset, outputs)

    def after_test_iter(
        self,
        runner: Runner,
        batch_idx: int,
        data_batch: Any = None,
        outputs: Optional[Sequence[Any]] = None,
    ) -> None:
        """Keep the detections of a batch."""
        if self.test:
            self._keep(runner.test_dataloader.dataset, outputs)

    def after_val_epoch(
        self, runner: Runner, metrics: Optional[dict[str, float]] = None
    ) -> None:
        """Write the report of a validation."""
        if self.val and self._is_due():
            dataset = runner.val_dataloader.dataset
            self._write(runner, dataset, f'val_iter_{runner.iter}')
        self._validations += 1

    def after_test_epoch(
        self, runner: Runner, metrics: Optional[dict[str, float]] = None
    ) -> None:
        """Write the report of a test."""
        if self.test:
            self._write(runner, runner.test_dataloader.dataset, 'test')

    def _is_due(self) -> bool:
        return (self._validations + 1) % self.interval == 0

    def _keep(self, dataset: Any, outputs: Optional[Sequence[Any]]) -> None:
        classes = dataset.metainfo['classes']
        keep_instances = self._annotation_file(dataset) is None
        self._samples += [
            read_sample(sample.to_dict(), classes, keep_instances)
            for sample in outputs or ()
        ]

    def _annotation_file(self, dataset: Any) -> Optional[PathLike]:
        if self.ann_file is not None:
            return self.ann_file
        path = getattr(dataset, 'ann_file', None)
        return path if path and str(path).endswith('.json') else None

    def _write(self, runner: Runner, dataset: Any, name: str) -> None:
        """Collect all processes' detections; the main one writes."""
        # Which results are padding is told by the image ids.
        samples = collect_results(self._samples, sys.maxsize)
        self._samples = []
        if samples is None:
            return
        page = self._page(runner, dataset, first_per_image(samples))
        folder = Path(self.out_dir or Path(runner.log_dir) / 'report')
        path = folder / f'{name}.html'
        write_text(path, render(page))
        runner.logger.info(f'Wrote the report to {path}.')
        if self.figures:
            for drawing in page.drawings():
                save_drawing(drawing, folder / name)
        if self.to_visualizer:
            for drawing in page.drawings():
                runner.visualizer.add_image(
                    f'report-{drawing.name}', drawing.pixels(), runner.iter
                )

    def _page(
        self,
        runner: Runner,
        dataset: Any,
        samples: Sequence[SampleDetections],
    ) -> Page:
        truth = self._truth(dataset, samples)
        data = data_set(truth, Path(truth.source).name)
        judged = study(
            _run_name(runner),
            data,
            detections_of_results(samples, truth),
            resamples=self.resamples,
            seed=self.seed,
        )
        notices = list(truth.notices)
        untested = len(truth.image_ids) - len(samples)
        if untested:
            notices.append(
                f'{untested} images of {truth.source} were not tested; their '
                'objects count as missed.'
            )
        extras = Extras(
            images=self.images or _image_folder(dataset),
            notices=notices,
            photo_limit=self.photo_limit,
            facts=[
                ('Config', str(runner.cfg.filename or 'not from a file')),
                ('Checkpoint', str(runner.cfg.get('load_from') or '–')),
                ('Iteration', str(runner.iter)),
            ],
        )
        return report_page(data, [judged], extras)

    def _truth(
        self, dataset: Any, samples: Sequence[SampleDetections]
    ) -> CocoGroundTruth:
        classes = tuple(dataset.metainfo['classes'])
        path = self._annotation_file(dataset)
        if path is not None:
            backend_args = getattr(dataset, 'backend_args', None)
            file = read_annotation_file(str(path), backend_args)
            return parse_ground_truth(file.data, file.path, classes)
        data = instances_to_coco(samples, classes, need_area=False)
        return parse_ground_truth(data, 'the data samples', classes)


def _image_folder(dataset: Any) -> Optional[str]:
    """Return where a data set's images lie, if it says so and it is here."""
    prefix = getattr(dataset, 'data_prefix', None) or {}
    folder = prefix.get('img') or prefix.get('img_path')
    return folder if folder and Path(folder).is_dir() else None


def _run_name(runner: Runner) -> str:
    """Return the config's name, or the experiment's without a config."""
    if runner.cfg.filename:
        return Path(runner.cfg.filename).stem
    return str(runner.experiment_name)
