"""A report on the 29 real test photos of CPPE-5."""

import contextlib
import io
import json

from builders import write
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval
from report_builders import jittered

from mmdet_cppe5.cli.main import main

MEGABYTE = 1_000_000


def test_report_on_the_real_photos(test_data, tmp_path, open_page):
    folder = test_data / 'cppe5'
    annotations = str(folder / 'annotations' / 'test.json')
    truth = json.loads((folder / 'annotations' / 'test.json').read_text())
    results = write(tmp_path / 'found.json', jittered(truth))
    out = tmp_path / 'report.html'
    arguments = [annotations, results, '--images', str(folder / 'images')]
    assert main(['report', *arguments, '--out', str(out)]) == 0
    assert MEGABYTE < out.stat().st_size < 10 * MEGABYTE

    page, faults = open_page(out)
    assert page.locator('.store image').count() == 29
    with contextlib.redirect_stdout(io.StringIO()):
        truth = COCO(annotations)
        reference = COCOeval(truth, truth.loadRes(results), 'bbox')
        reference.evaluate()
        reference.accumulate()
        reference.summarize()
    shown = page.locator('.headline dd').evaluate_all(
        'all => all.map(each => each.firstChild.textContent)'
    )
    wanted = [*reference.stats[:6], reference.stats[8]]
    assert shown == [f'{100 * value:.1f}' for value in wanted]
    # The largest photo is scaled down, and drawn at its own proportions.
    sizes = page.evaluate(
        """async () => {
            const all = [...document.querySelectorAll('.store image')];
            return Promise.all(all.map(async node => {
                const photo = new Image();
                photo.src = node.getAttribute('href');
                await photo.decode();
                return [photo.naturalWidth / photo.naturalHeight,
                    node.width.baseVal.value / node.height.baseVal.value,
                    Math.max(photo.naturalWidth, photo.naturalHeight)];
            }));
        }"""
    )
    assert max(side for *_, side in sizes) == 1280
    for photo, drawn, _ in sizes:
        assert abs(photo / drawn - 1) < 0.01
    assert faults == []
