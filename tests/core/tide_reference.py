"""TIDE told slowly: repair the files and let pycocotools evaluate again.

Written from the paper's definitions on top of pycocotools' own matching
(``evalImgs``), without any code of the package.
"""

from dataclasses import replace

import numpy as np
from pycocotools import mask as mask_utils


def slow_tide(case, pos_thr=0.5, bg_thr=0.1, cap=100):
    """Return errors (N,), fixed (N,) and dAPs by name."""
    params = {'iouThrs': np.array([pos_thr]), 'maxDets': [1, 10, cap]}
    run = case.coco(**params)
    hit_gt, state = _matching(run, case)
    used = set(hit_gt.values())
    counted = {
        row
        for row, (_, _, box, extras) in enumerate(case.gts)
        if not extras.get('iscrowd') and 0 <= box[2] * box[3] <= 1e10
    }
    kinds, targets = {}, {}
    for row, dt in enumerate(case.dts):
        if state.get(row) != 'fp':
            continue
        kinds[row], targets[row] = _kind(case, dt, counted, pos_thr, bg_thr)
    fixed = _fixed(case, kinds, targets, used)
    missed = counted - used - {targets[row] for row in fixed}
    base = _ap(run)
    deltas = {}
    for kind in ('Cls', 'Loc', 'Both', 'Dupe', 'Bkg'):
        repaired = _repair(case, kind, kinds, targets, fixed, state)
        deltas[kind] = _ap(repaired.coco(**_uncapped(params))) - base
    kept = _keep(case, state)
    deltas['Miss'] = _ap(_drop(kept, missed).coco(**_uncapped(params))) - base
    hits = replace(
        case, dts=[dt for row, dt in enumerate(case.dts) if row in hit_gt]
    )
    deltas['FalsePos'] = _ap(hits.coco(**_uncapped(params))) - base
    unmatched = counted - used
    deltas['FalseNeg'] = (
        _ap(_drop(kept, unmatched).coco(**_uncapped(params))) - base
    )
    return kinds, fixed, missed, deltas


def _uncapped(params):
    return {**params, 'maxDets': [1, 10, 10**6]}


def _ap(run):
    """AP over all, NaN for pycocotools' -1."""
    precision = run.eval['precision'][0, :, :, 0, -1]
    defined = precision[precision > -1]
    return defined.mean() if defined.size else float('nan')


def _matching(run, case):
    """Matched ground truth of each hit, and 'tp', 'fp' or 'ignored'."""
    hit_gt, state = {}, {}
    for image in run.evalImgs:
        if image is None or image['aRng'] != run.params.areaRng[0]:
            continue
        ignored = image['dtIgnore'][0]
        for dt_id, gt_id, skip in zip(
            image['dtIds'], image['dtMatches'][0], ignored
        ):
            row = dt_id - 1
            if skip:
                state[row] = 'ignored'
            elif gt_id:
                state[row] = 'tp'
                hit_gt[row] = int(gt_id) - 1
            else:
                state[row] = 'fp'
    return hit_gt, state


def _kind(case, dt, counted, pos_thr, bg_thr):
    """The kind of a false positive and the ground truth it points at."""
    image, label, _, box = dt
    same, other = (0.0, None), (0.0, None)
    by_class = sorted(counted, key=lambda row: (case.gts[row][1], row))
    for row in by_class:
        gt = case.gts[row]
        if gt[0] != image:
            continue
        iou = mask_utils.iou([list(map(float, box))], [gt[2]], [0])[0, 0]
        if gt[1] == label and iou > 0 and iou >= same[0]:
            same = (iou, row)
        if gt[1] != label and iou > 0 and iou >= other[0]:
            other = (iou, row)
    if bg_thr <= same[0] < pos_thr:
        return 'Loc', same[1]
    if other[0] >= pos_thr:
        return 'Cls', other[1]
    if same[0] >= pos_thr:
        return 'Dupe', same[1]
    if max(same[0], other[0]) <= bg_thr:
        return 'Bkg', None
    return 'Both', None


def _fixed(case, kinds, targets, used):
    """Best-scored Cls or Loc error of each ground truth that is free."""
    best = {}
    for row, kind in kinds.items():
        target = targets[row]
        if kind not in ('Cls', 'Loc') or target in used:
            continue
        if target not in best or case.dts[row][2] > case.dts[best[target]][2]:
            best[target] = row
    return set(best.values())


def _repair(case, kind, kinds, targets, fixed, state):
    dts = []
    for row, (image, label, score, box) in enumerate(case.dts):
        if row not in state:
            continue
        if kinds.get(row) == kind:
            if row not in fixed:
                continue
            gt = case.gts[targets[row]]
            label, box = (gt[1], box) if kind == 'Cls' else (label, gt[2])
        dts.append((image, label, score, box))
    return replace(case, dts=dts)


def _keep(case, state):
    """Only the detections within the cap."""
    dts = [dt for row, dt in enumerate(case.dts) if row in state]
    return replace(case, dts=dts)


def _drop(case, rows):
    gts = [gt for row, gt in enumerate(case.gts) if row not in rows]
    return replace(case, gts=gts)
