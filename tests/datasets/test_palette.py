"""The class colours are readable on white and for the colour-blind."""

import itertools

import numpy as np
import pytest

from mmdet_cppe5.classes import CLASSES, PALETTE

# Machado, Oliveira and Fernandes 2009 (doi:10.1109/TVCG.2009.113), severity 1,
# on linear RGB.
SIGHT = {
    'normal': np.eye(3),
    'protanopia': [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    'deuteranopia': [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    'tritanopia': [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}


def linear(colour):
    part = np.asarray(colour) / 255
    return np.where(
        part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4
    )


def lab(rgb):
    xyz = np.array(
        [
            [0.4124, 0.3576, 0.1805],
            [0.2126, 0.7152, 0.0722],
            [0.0193, 0.1192, 0.9505],
        ]
    ) @ np.clip(rgb, 0, 1)
    t = xyz / [0.9505, 1, 1.089]
    f = np.where(t > 0.008856, np.cbrt(t), 7.787 * t + 16 / 116)
    return np.array(
        [116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])]
    )


@pytest.mark.parametrize('name', CLASSES)
def test_contrast_on_white_and_on_black(name):
    colour = PALETTE[CLASSES.index(name)]
    luminance = linear(colour) @ [0.2126, 0.7152, 0.0722]
    assert (1 + 0.05) / (luminance + 0.05) >= 3
    assert (luminance + 0.05) / 0.05 >= 2


@pytest.mark.parametrize('sight', SIGHT)
def test_every_pair_can_be_told_apart(sight):
    seen = [lab(np.array(SIGHT[sight]) @ linear(c)) for c in PALETTE]
    # CIE76; two colours side by side are told apart at about 2.3.
    assert min(
        np.linalg.norm(a - b) for a, b in itertools.combinations(seen, 2)
    ) > 10 * 2.3  # fmt: skip
