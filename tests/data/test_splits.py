"""Splits: whole, even, repeatable, and look-alikes together."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from tiny_release import annotations

from mmdet_cppe5.cli.main import main
from mmdet_cppe5.data.splits import partition, select
from mmdet_cppe5.data.stats import Statistics, read_statistics


def random_stats(seed, images, classes=5):
    """Return a data set whose images differ as much as real ones do."""
    rng = np.random.default_rng(seed)
    counts = rng.geometric(0.2, images)
    image = np.repeat(np.arange(images), counts)
    # Each image prefers some classes.
    taste = rng.dirichlet(np.full(classes, 0.5), images)
    label = np.array([rng.choice(classes, p=taste[i]) for i in image])
    sides = np.exp(rng.normal(4, 1, (len(image), 2)))
    boxes = np.concatenate([np.zeros((len(image), 2)), sides], axis=1)
    return Statistics(
        'x',
        tuple(f'c{k}' for k in range(classes)),
        tuple(range(images)),
        np.full((images, 2), 1000.0),
        image,
        label,
        boxes,
        sides.prod(axis=1),
        0,
    )


def shares_of(part, image, label, parts):
    """Share of each class's boxes by part, counted in another way."""
    return np.array(
        [
            [
                np.mean(part[image[label == k]] == number)
                for k in np.unique(label)
            ]
            for number in range(parts)
        ]
    )


@pytest.mark.parametrize('shares', [(0.85, 0.15), (0.2,) * 5])
def test_parts_resemble_each_other(shares):
    stats = random_stats(0, 600)
    found = partition(stats, shares, 0)
    sizes = np.bincount(found.part)
    np.testing.assert_array_equal(sizes, np.round(600 * np.array(shares)))
    held = shares_of(found.part, stats.image, stats.label, len(shares))
    worst = np.abs(held - np.array(shares)[:, None]).max()
    assert worst < 0.005
    # What chance gives: the median over 20 shuffles is many times worse.
    by_chance = []
    for seed in range(20):
        part = np.random.default_rng(seed).permutation(found.part)
        held = shares_of(part, stats.image, stats.label, len(shares))
        by_chance.append(np.abs(held - np.array(shares)[:, None]).max())
    assert worst < np.median(by_chance) / 4


@given(
    st.integers(0, 5),
    st.lists(st.integers(0, 12), min_size=12, max_size=40),
    st.integers(2, 4),
)
@settings(max_examples=40, deadline=None)
def test_groups_stay_together_and_no_part_is_empty(seed, groups, parts):
    groups = np.array(groups)
    stats = random_stats(seed, len(groups))
    shares = [1 / parts] * parts
    if len(np.unique(groups)) < parts:
        with pytest.raises(ValueError, match='Expected at least'):
            partition(stats, shares, seed, groups)
        return
    found = partition(stats, shares, seed, groups)
    assert sorted(set(found.part.tolist())) == list(range(parts))
    for group in np.unique(groups):
        assert len(set(found.part[groups == group].tolist())) == 1


def test_the_counts_are_those_of_the_parts():
    stats = random_stats(3, 50)
    found = partition(stats, (0.5, 0.5), 1)
    for number in (0, 1):
        mine = found.part[stats.image] == number
        row = dict(zip(found.names, found.counts[number].tolist()))
        assert row['images'] == np.sum(found.part == number)
        for k in range(5):
            boxes = mine & (stats.label == k)
            assert row[f'c{k} boxes'] == boxes.sum()
            images = len(set(stats.image[boxes].tolist()))
            assert row[f'images with c{k}'] == images
        small = mine & (stats.areas < 32**2)
        assert row['small boxes'] == small.sum()


def test_the_seed_decides():
    stats = random_stats(1, 80)
    first = partition(stats, (0.8, 0.2), 7).part
    assert partition(stats, (0.8, 0.2), 7).part.tolist() == first.tolist()
    assert partition(stats, (0.8, 0.2), 8).part.tolist() != first.tolist()


@pytest.mark.parametrize('shares', [(0.5, 0.4), (1.2, -0.2), (1.0, 0.0)])
def test_shares_must_make_sense(shares):
    with pytest.raises(ValueError, match='add up to 1'):
        partition(random_stats(0, 10), shares, 0)


def test_selecting_keeps_records_as_they_are():
    dataset = annotations(1, 5)
    part = select(dataset, {2, 5})
    assert [i['id'] for i in part['images']] == [2, 5]
    assert part['annotations'] == [
        dataset['annotations'][1],
        dataset['annotations'][4],
    ]
    assert part['categories'] == dataset['categories']
    assert len(dataset['images']) == 5


@pytest.fixture
def data(tmp_path):
    """Write 12 images of which 3 and 9 are the same, and their boxes."""
    pytest.importorskip('imagehash')
    dataset = annotations(1, 12)
    (tmp_path / 'images').mkdir()
    for image in dataset['images']:
        seed = 3 if image['id'] == 9 else image['id']
        noise = np.random.default_rng(seed).integers(0, 256, (6, 8, 3))
        picture = Image.fromarray(noise.astype(np.uint8)).resize((40, 30))
        picture.save(tmp_path / 'images' / image['file_name'])
    path = tmp_path / 'train.json'
    path.write_text(json.dumps(dataset))
    return path


def ids(path):
    dataset = json.loads(path.read_text())
    return {image['id'] for image in dataset['images']}


@pytest.mark.parametrize('seed', range(4))
def test_command_for_train_and_val(data, tmp_path, seed, capsys):
    out = tmp_path / 'split'
    code = main(
        ['split', str(data), '--out-dir', str(out), '--val', '0.25',
         '--images', str(tmp_path / 'images'), '--seed', str(seed)]
    )  # fmt: skip
    assert code == 0
    train, val = ids(out / 'train.json'), ids(out / 'val.json')
    assert train | val == set(range(1, 13))
    assert not train & val
    assert len(val) == 3
    assert {3, 9} <= train or {3, 9} <= val
    record = json.loads((out / 'split.json').read_text())
    assert record['near_identical'] == [[3, 9]]
    assert record['seed'] == seed
    assert record['counts']['val']['images'] == len(val)
    assert 'look like another one' in capsys.readouterr().err


def test_command_for_folds(data, tmp_path, capsys):
    out = tmp_path / 'folds'
    code = main(['split', str(data), '--out-dir', str(out), '--folds', '3'])
    assert code == 0
    assert 'not looked for' in capsys.readouterr().err
    held = [ids(out / f'fold{k}of3_val.json') for k in (1, 2, 3)]
    assert sorted(map(len, held)) == [4, 4, 4]
    assert set.union(*held) == set(range(1, 13))
    for number, part in enumerate(held, start=1):
        train = ids(out / f'fold{number}of3_train.json')
        assert train == set(range(1, 13)) - part


def test_command_refuses_what_makes_no_sense(data, tmp_path, capsys):
    base = ['split', str(data), '--out-dir', str(tmp_path / 'x')]
    for wrong in (['--val', '1'], ['--folds', '1'], ['--folds', '13']):
        assert main([*base, *wrong]) == 2
        assert 'Expected' in capsys.readouterr().err
    (tmp_path / 'images/4.png').write_bytes(b'')
    assert main([*base, '--images', str(tmp_path / 'images')]) == 2
    assert 'readable image' in capsys.readouterr().err
    (tmp_path / 'images/4.png').unlink()
    assert main([*base, '--images', str(tmp_path / 'images')]) == 2
    assert 'Expected an image' in capsys.readouterr().err
    assert not (tmp_path / 'x').exists()


def test_the_real_look_alikes_stay_together(test_data, tmp_path):
    pytest.importorskip('imagehash')
    folder = test_data / 'cppe5'
    path = folder / 'annotations/test.json'
    code = main(
        ['split', str(path), '--out-dir', str(tmp_path), '--images',
         str(folder / 'images'), '--folds', '4']
    )  # fmt: skip
    assert code == 0
    held = [ids(tmp_path / f'fold{k}of4_val.json') for k in (1, 2, 3, 4)]
    assert sum({1003, 1011} <= part for part in held) == 1
    assert sorted(map(len, held)) == [7, 7, 7, 8]
    total = read_statistics(path).class_sizes.sum(axis=1)
    for k in (1, 2, 3, 4):
        part = read_statistics(tmp_path / f'fold{k}of4_val.json')
        mine = part.class_sizes.sum(axis=1)
        assert (mine > 0).all()
        assert (mine < total / 2).all()
