"""Synthetic detections for the reports' tests."""

import numpy as np


def jittered(truth, seed=0, miss=0.1, wrong=0.08, spread=0.06, junk=4):
    """Detections that a fair detector might make of a ground truth.

    Each object is missed with probability ``miss``, called another class
    with ``wrong``, and its box shaken by ``spread`` of its size, four times
    as much for one in eight; each image gets about ``junk`` false alarms.
    """
    rng = np.random.default_rng(seed)
    classes = [category['id'] for category in truth['categories']]
    found = []
    for item in truth['annotations']:
        if rng.uniform() < miss:
            continue
        x, y, w, h = item['bbox']
        shake = spread * (4 if rng.uniform() < 1 / 8 else 1)
        moves = rng.normal(0, shake, 4)
        box = [x + w * moves[0], y + h * moves[1]]
        box += [w * np.exp(moves[2]), h * np.exp(moves[3])]
        label = item['category_id']
        if rng.uniform() < wrong:
            label = int(rng.choice(classes))
        found.append(
            _entry(item['image_id'], label, box, rng.beta(6, 2) - shake)
        )
    for image in truth['images']:
        for _ in range(rng.poisson(junk)):
            size = np.exp(rng.normal(3.5, 0.6, 2))
            corner = rng.uniform(0, [image['width'], image['height']])
            found.append(
                _entry(
                    image['id'],
                    int(rng.choice(classes)),
                    [*corner, *size],
                    rng.beta(1.2, 7),
                )
            )
    return found


def _entry(image_id, category_id, box, score):
    return {
        'image_id': image_id,
        'category_id': category_id,
        'bbox': [round(float(value), 2) for value in box],
        'score': round(float(np.clip(score, 0.01, 0.99)), 4),
    }
