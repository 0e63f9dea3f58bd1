"""``mmdet-cppe5 evaluate``: what it prints, writes, imports and refuses."""

import hashlib
import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest
from builders import annotation, coco_dataset, entry, write

from mmdet_cppe5.cli.main import main

BOX = [10, 10, 50, 50]
BOX2 = [200, 200, 50, 50]
FAR = [400, 400, 20, 20]


def evaluate(tmp_path, annotations, entries, *options, **dataset):
    """Run the command on small files; return the JSON that it writes."""
    truth = write(tmp_path / 'gt.json', coco_dataset(annotations, **dataset))
    found = write(tmp_path / 'results.json', entries)
    out = tmp_path / 'out.json'
    options = ['--resamples', '20', *options]
    assert main(['evaluate', truth, found, '--json', str(out), *options]) == 0
    return json.loads(out.read_text())


def refused(tmp_path, capsys, truth, found, *options):
    """Run the command on wrong input; return what it says."""
    paths = [
        value
        if isinstance(value, str)
        else write(tmp_path / f'{name}.json', value)
        for name, value in (('gt', truth), ('results', found))
    ]
    assert main(['evaluate', *paths, *options]) == 2
    captured = capsys.readouterr()
    assert captured.out == ''
    assert captured.err.count('\n') == 1
    return captured.err


# -- output -----------------------------------------------------------------


def test_prints_cocos_published_lines(test_data, capsys):
    """The text that COCO published for these files, spacing apart."""
    folder = test_data / 'coco_val2014_100'
    main(
        [
            'evaluate',
            str(folder / 'instances_val2014_100.json'),
            str(folder / 'instances_val2014_fakebbox100_results.json'),
            '--no-tide',
            '--no-ci',
        ]
    )

    def lines(text):
        return [
            ' '.join(line.split())
            for line in text.splitlines()
            if line.startswith(' Average')
        ]

    published = (folder / 'val2014_fake_eval_res.txt').read_text()
    published = published.split('type=bbox')[1].split('type=keypoints')[0]
    assert len(lines(published)) == 12
    assert lines(capsys.readouterr().out) == lines(published)


def test_json_has_every_number_and_what_it_depends_on(tmp_path):
    annotations = [annotation(1, 1, BOX), annotation(1, 1, BOX2)]
    entries = [entry(1, 1, BOX, 0.9), entry(1, 2, FAR, 0.8)]
    got = evaluate(tmp_path, annotations, entries)
    assert got['schema'] == 'mmdet-cppe5/evaluation/1'
    assert got['overall']['AP'] == pytest.approx(100 * 51 / 101, abs=1e-11)
    assert got['overall']['APs'] is None
    assert got['classes']['B']['AP'] is None
    assert got['counts'] == {
        'A': {'ground_truths': 2, 'ignored': 0, 'detections': 1},
        'B': {'ground_truths': 0, 'ignored': 0, 'detections': 1},
    }
    assert got['tide']['counts']['Miss'] == 1
    assert got['tide']['counts']['Bkg'] == 1
    assert [each['pos_thr'] for each in got['tide']['thresholds']] == (
        np.linspace(0.5, 0.95, 10).tolist()
    )
    assert got['intervals']['num_resamples'] == 20
    assert got['card_recall']['average_recall'] == 50
    digest = hashlib.sha256((tmp_path / 'gt.json').read_bytes()).hexdigest()
    assert got['inputs']['ground_truth']['sha256'] == digest
    assert got['inputs']['results']['detections'] == 2
    assert got['settings']['iou_thrs'] == np.linspace(0.5, 0.95, 10).tolist()
    assert got['settings']['max_dets'] == [1, 10, 100]
    assert got['settings']['classes'] == ['A', 'B']
    assert got['versions']['numpy'] == np.__version__


def test_tables_round_and_dash(tmp_path, capsys):
    annotations = [annotation(1, 1, BOX), annotation(1, 1, BOX2)]
    evaluate(tmp_path, annotations, [entry(1, 1, BOX, 0.9)])
    printed = capsys.readouterr().out
    row = r'A +2 +1 +50\.5 +50\.5 +50\.5 +- +50\.5 +- +50\.0'
    assert re.search(row, printed)
    assert re.search(r'B +0 +0( +-){7}', printed)
    assert re.search(r'mean of 1 +2 +1 +50\.5', printed)
    assert re.search(r'area= small \| maxDets=100 \] = -\n', printed)


def test_switches_leave_parts_out(tmp_path):
    got = evaluate(tmp_path, [annotation(1, 1, BOX)], [], '--no-tide')
    assert got['tide'] is None
    got = evaluate(tmp_path, [annotation(1, 1, BOX)], [], '--no-ci')
    assert got['intervals'] is None


def test_repeated_results_are_noted(tmp_path, capsys):
    entries = [entry(1, 1, BOX, 0.9), entry(1, 1, BOX2, 0.8)]
    got = evaluate(
        tmp_path,
        [annotation(1, 1, BOX), annotation(1, 1, BOX2)],
        entries * 2,
    )
    assert got['overall']['AP'] == pytest.approx(100, abs=1e-11)
    assert 'counted once' in got['notices'][0]
    assert f'note: {got["notices"][0]}' in capsys.readouterr().err


def test_classes_caps_and_thresholds(tmp_path):
    annotations = [annotation(1, 1, BOX), annotation(1, 2, BOX2)]
    got = evaluate(
        tmp_path,
        annotations,
        [entry(1, 2, [200, 200, 50, 41], 0.9)],
        *('--classes', 'B', '--max-dets', '5', '--iou-thrs', '0.8', '0.9'),
    )
    assert list(got['classes']) == ['B']
    overall = got['overall']
    assert overall['AP80'] == pytest.approx(100, abs=1e-11)
    assert overall['AP90'] == 0
    assert overall['AP'] == overall['AP@5'] == (overall['AP80'] + 0) / 2
    assert overall['AR5'] == 50
    assert 'AP50' not in overall


def test_masks_and_keypoints(tmp_path):
    square = [[10, 10, 60, 10, 60, 60, 10, 60]]
    points = [10, 10, 2, 60, 60, 2]
    item = annotation(
        1, 1, BOX, segmentation=square, keypoints=points, num_keypoints=2
    )
    found = entry(1, 1, FAR, 0.9) | {
        'segmentation': square,
        'keypoints': points,
    }
    for options in (
        ('--iou-type', 'segm'),
        ('--iou-type', 'keypoints', '--sigmas', '0.1', '0.1'),
    ):
        got = evaluate(tmp_path, [item], [found], *options)
        assert got['overall']['AP'] == pytest.approx(100, abs=1e-11)
        assert got['settings']['iou_type'] == options[1]


# -- what it needs ----------------------------------------------------------


def test_starts_without_the_framework(tmp_path):
    truth = write(tmp_path / 'gt.json', coco_dataset([annotation(1, 1, BOX)]))
    found = write(tmp_path / 'results.json', [entry(1, 1, BOX, 0.9)])
    heavy = ['torch', 'mmdet', 'mmcv', 'mmengine', 'pycocotools']
    heavy += ['matplotlib', 'pandas', 'scipy', 'PIL']
    code = (
        'import sys\n'
        'from mmdet_cppe5.cli.main import main\n'
        f'code = main(["evaluate", {truth!r}, {found!r}])\n'
        f'print(sorted(set({heavy!r}) & set(sys.modules)), code)\n'
    )
    done = subprocess.run(
        [sys.executable, '-c', code], capture_output=True, text=True
    )
    assert done.stdout.splitlines()[-1] == '[] 0', done.stderr


def test_tidecv_e7_no_writable_folder_is_needed(tmp_path):
    """tidecv 1.0.1 fails before evaluating when HOME cannot be written."""
    truth = write(tmp_path / 'gt.json', coco_dataset([annotation(1, 1, BOX)]))
    found = write(tmp_path / 'results.json', [entry(1, 1, BOX, 0.9)])
    before = sorted(tmp_path.iterdir())
    done = subprocess.run(
        [sys.executable, '-m', 'mmdet_cppe5', 'evaluate', truth, found],
        env={**os.environ, 'HOME': '/proc/none', 'TMPDIR': '/proc/none'},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert sorted(tmp_path.iterdir()) == before


# -- wrong files ------------------------------------------------------------


def test_swapped_arguments(tmp_path, capsys):
    said = refused(tmp_path, capsys, [entry(1, 1, BOX, 0.9)], coco_dataset([]))
    assert 'The two arguments are swapped' in said


def test_log_instead_of_results(tmp_path, capsys):
    log = tmp_path / 'scalars.json'
    log.write_text('{"lr": 0.1, "loss": 2}\n{"lr": 0.1, "loss": 1}\n')
    said = refused(tmp_path, capsys, coco_dataset([]), str(log))
    assert f'{log}, but the file looks like a log' in said
    assert "CPPE5Metric(outfile_prefix='...')" in said


def test_truncated_json(tmp_path, capsys):
    cut = tmp_path / 'cut.json'
    cut.write_text(json.dumps([entry(1, 1, BOX, 0.9)])[:-9])
    said = refused(tmp_path, capsys, coco_dataset([]), str(cut))
    assert 'not valid JSON' in said
    assert 'was not written to its end' in said


def test_missing_file(tmp_path, capsys):
    said = refused(tmp_path, capsys, coco_dataset([]), str(tmp_path / 'no'))
    assert 'there is no such file' in said


def test_nan_in_results(tmp_path, capsys):
    found = [entry(1, 1, BOX, float('nan'))]
    said = refused(tmp_path, capsys, coco_dataset([]), found)
    assert "'score' of entry number 0 (image id 1)" in said


def test_misspelt_class(tmp_path, capsys):
    said = refused(tmp_path, capsys, coco_dataset([]), [], '--classes', 'a')
    assert "asked for 'a', the file has 'A', 'B'" in said


def test_threshold_out_of_range(tmp_path, capsys):
    said = refused(tmp_path, capsys, coco_dataset([]), [], '--iou-thrs', '50')
    assert '50' in said


def test_seed_that_is_none(capsys):
    for text in ('-1', 'x'):
        with pytest.raises(SystemExit):
            main(['evaluate', 'gt.json', 'r.json', f'--seed={text}'])
        said = capsys.readouterr().err
        assert f"a whole number from 0, but got '{text}'" in said


def test_nothing_is_written_over_when_it_fails(tmp_path, capsys):
    out = tmp_path / 'out.json'
    out.write_text('{"kept": 1}')
    found = [entry(5, 1, BOX, 0.9)]
    refused(tmp_path, capsys, coco_dataset([]), found, '--json', str(out))
    assert out.read_text() == '{"kept": 1}'


# -- tidecv 1.0.1's faults with files, with the right answers ---------------


def test_tidecv_b1_empty_segmentation(tmp_path):
    """CPPE-5's own form: tidecv raises IndexError."""
    got = evaluate(
        tmp_path,
        [annotation(1, 1, BOX, segmentation=[])],
        [entry(1, 1, BOX, 0.9)],
    )
    assert got['overall']['AP50'] == pytest.approx(100, abs=1e-11)


@pytest.mark.parametrize('missing', ['segmentation', 'iscrowd', 'width'])
def test_tidecv_b2_b3_b4_missing_fields(tmp_path, missing):
    """tidecv raises KeyError for each of them."""
    item = annotation(1, 1, BOX, id=1, area=2500, iscrowd=0, segmentation=[])
    item.pop(missing, None)
    data = coco_dataset([item], complete=False)
    data['images'][0].pop(missing, None)
    truth = write(tmp_path / 'gt.json', data)
    found = write(tmp_path / 'results.json', [entry(1, 1, BOX, 0.9)])
    out = tmp_path / 'out.json'
    assert main(['evaluate', truth, found, '--json', str(out)]) == 0
    overall = json.loads(out.read_text())['overall']
    assert overall['AP'] == pytest.approx(100, abs=1e-11)


def test_tidecv_a4_no_image(tmp_path):
    """tidecv: ZeroDivisionError. Undefined, and no crash."""
    got = evaluate(tmp_path, [], [], image_ids=())
    assert set(got['overall'].values()) == {None}
    assert got['intervals'] is None
    assert got['card_recall']['average_recall'] is None


def test_tidecv_b6_ids_of_another_type(tmp_path, capsys):
    """tidecv: ZeroDivisionError."""
    data = coco_dataset([annotation(1, 1, BOX)])
    said = refused(tmp_path, capsys, data, [entry('1', 1, BOX, 0.9)])
    assert 'has the image id 1 as int, here it is str' in said


def test_tidecv_b7_detection_on_an_unknown_image(tmp_path, capsys):
    """tidecv drops it silently and says AP 100."""
    data = coco_dataset([annotation(1, 1, BOX)])
    found = [entry(1, 1, BOX, 0.9), entry(99, 1, BOX, 0.9)]
    said = refused(tmp_path, capsys, data, found)
    assert 'gt.json lists the image ids 1, and 1 id of this file' in said
    assert '(99)' in said


@pytest.mark.parametrize('thresholds', [(0.6, 0.75), (0.6, 0.65)])
def test_tidecv_e1_e2_errors_at_the_first_threshold(tmp_path, thresholds):
    """Without 0.5 tidecv prints nothing. IoU 0.5 is a Loc error at 0.6."""
    got = evaluate(
        tmp_path,
        [annotation(1, 1, BOX)],
        [entry(1, 1, [10, 10, 50, 25], 0.9)],
        '--iou-thrs',
        *map(str, thresholds),
    )
    assert got['tide']['pos_thr'] == 0.6
    assert got['tide']['delta_ap']['Loc'] == pytest.approx(100, abs=1e-11)
    assert got['tide']['counts']['Loc'] == 1


def test_tidecv_f2_threshold_names(tmp_path, capsys):
    """tidecv prints 0.57 as 56."""
    evaluate(tmp_path, [annotation(1, 1, BOX)], [], '--iou-thrs', '0.57')
    assert 'TIDE: main errors @ 57\n' in capsys.readouterr().out


# -- the evaluation card's score --------------------------------------------


def test_card_recall_parts_from_ap(tmp_path):
    """Two objects, both found, behind 98 confident false alarms.

    Precision is 1/99 at recall 0.5 and 2/100 at recall 1, so AP is 2/100
    at every recall level: 2. The card's recipe counts 2 of 2 objects: 100.
    """
    alarms = [entry(1, 1, [300 + k, 300, 9, 9], 0.9) for k in range(98)]
    hits = [entry(1, 1, BOX, 0.2), entry(1, 1, BOX2, 0.1)]
    got = evaluate(
        tmp_path,
        [annotation(1, 1, BOX), annotation(1, 1, BOX2)],
        alarms + hits,
    )
    assert got['overall']['AP'] == pytest.approx(100 * 2 / 100, abs=1e-11)
    assert got['card_recall']['average_recall'] == 100


def test_card_recall_is_labelled_as_a_recall(tmp_path, capsys):
    evaluate(tmp_path, [annotation(1, 1, BOX)], [])
    printed = capsys.readouterr().out
    assert "Average recall by the recipe of CPPE-5's evaluation" in printed
    assert 'not an AP' in printed


def test_a_closed_pipe_ends_quietly_after_the_json_is_written(tmp_path):
    truth = write(tmp_path / 'gt.json', coco_dataset([annotation(1, 1, BOX)]))
    found = write(tmp_path / 'results.json', [entry(1, 1, BOX, 0.9)])
    out = tmp_path / 'out.json'
    command = [
        *(sys.executable, '-u', '-m', 'mmdet_cppe5', 'evaluate'),
        *(truth, found, '--json', str(out)),
    ]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    process.stdout.close()  # as `head` does after its lines
    said = process.stderr.read()
    assert process.wait() == 0
    assert 'BrokenPipe' not in said
    assert 'Traceback' not in said
    assert json.loads(out.read_text())['overall']['AP'] > 99
