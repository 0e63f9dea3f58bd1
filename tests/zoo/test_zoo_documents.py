"""The metafile, the tables made from it, and the README's recipe."""

import re
import shutil

import pytest
import yaml
import zoo_models
from mmengine.config import Config
from mmengine.registry import init_default_scope

from mmdet_cppe5.zoo import table
from mmdet_cppe5.zoo.metafile import PAPER, PUBLIC, find_model, read_zoo


@pytest.fixture
def zoo_readme(repo_root):
    return repo_root / 'configs' / 'cppe5' / 'README.md'


def test_metafile_lists_every_config_once(repo_root):
    index = yaml.safe_load((repo_root / 'model-index.yml').read_text())
    assert index == {'Import': ['configs/cppe5/metafile.yml']}

    names = [model.name for model in read_zoo()]

    assert sorted(names) == sorted(zoo_models.PAPER + zoo_models.MODERN)
    assert names[: len(zoo_models.PAPER)] == zoo_models.PAPER
    assert all((repo_root / model.config).is_file() for model in read_zoo())


def test_paper_s_row_of_faster_rcnn():
    model = find_model('faster_rcnn')

    assert model.results[PAPER] == {
        'box AP': 44.0,
        'box AP50': 73.8,
        'box AP75': 47.8,
        'box AP small': 30.0,
        'box AP medium': 34.7,
        'box AP large': 52.5,
    }
    assert model.paper == {
        'Parameters (M)': 60.14,
        'GMACs': 282.75,
        'FPS (V100)': 15.6,
    }
    # Nothing was measured on the public images yet.
    assert all(PUBLIC not in each.results for each in read_zoo())


@pytest.mark.parametrize('model', read_zoo(), ids=lambda model: model.name)
def test_batch_is_the_one_that_the_learning_rate_belongs_to(model):
    gpus, images = map(int, model.batch.split(' x '))
    config = zoo_models.load(model.name)

    assert config.auto_scale_lr.base_batch_size == gpus * images
    assert config.train_dataloader.batch_size == images


def test_unknown_model_is_an_error_with_the_list():
    with pytest.raises(KeyError, match=r"ssd, yolov3.*got 'frcnn'"):
        find_model('frcnn')


def test_tables_are_those_of_the_metafile(repo_root, zoo_readme):
    assert not table.stale(zoo_readme, repo_root), 'run make zoo-table'


def test_table_marks_the_paper_s_numbers_and_links_relatively(
    tmp_path, repo_root
):
    path = repo_root / 'configs' / 'cppe5'
    text = table.zoo_table(path, repo_root)

    assert "the paper's own, measured on 100 test images" in text
    row = next(line for line in text.split('\n') if 'Faster R-CNN]' in line)
    assert '[Faster R-CNN](faster_rcnn.py)' in row
    assert '| 44.0 | 73.8 | 47.8 | 30.0 | 34.7 | 52.5 | 15.6 |' in row
    assert '| 60.14 / 60.135 | 282.75 / 282.75 | [.pth](' in row
    assert 'AP public' not in text  # nobody has measured any yet
    double = next(line for line in text.split('\n') if 'Double H' in line)
    note = re.search(r'<sup>(\d)</sup>', double).group(1)
    assert f'\n{note}. The release under this name is the DCN' in text


def test_stale_table_is_seen_and_mended(tmp_path, repo_root):
    path = tmp_path / 'README.md'
    path.write_text(f'before\n{table.BEGIN}\nold\n{table.END}\nafter\n')

    assert table.stale(path, repo_root)
    table.update(path, repo_root)

    assert not table.stale(path, repo_root)
    text = path.read_text()
    assert text.startswith('before\n')
    assert text.endswith('after\n')
    path.write_text('no markers')
    with pytest.raises(ValueError, match='0 and 0'):
        table.update(path, repo_root)


def test_table_tool_checks_and_writes(tmp_path, tool, capsys):
    path = tmp_path / 'README.md'
    path.write_text(f'{table.BEGIN}\n{table.END}')

    main = tool('analysis_tools/zoo_table').main

    assert main(['--check', str(path)]) == 1
    assert 'make zoo-table' in capsys.readouterr().out
    assert main([str(path)]) == 0
    assert main(['--check', str(path)]) == 0
    with pytest.raises(SystemExit, match=r'^zoo_table\.py: .*nowhere\.md'):
        main([str(tmp_path / 'nowhere.md')])


def test_size_tool_prints_ours_beside_the_paper_s(tool, capsys):
    tool('analysis_tools/get_flops').main(['double_heads'])

    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split() == [
        'double_heads',
        '46.731',
        '148.7',
        '480.88',
        '220.05',
    ]
    assert 'DCN network' in lines[-1]


def test_recipe_for_a_new_model_works(tmp_path, repo_root, zoo_readme):
    recipe = re.search(
        r'<!-- add-model -->\n```python\n(.*?)```',
        zoo_readme.read_text(),
        re.DOTALL,
    ).group(1)
    assert recipe in (repo_root / 'README.md').read_text()
    shutil.copytree(
        repo_root / 'configs' / '_base_', tmp_path / 'configs' / '_base_'
    )
    path = tmp_path / 'configs' / 'cppe5' / 'atss.py'
    path.parent.mkdir()
    path.write_text(recipe)

    config = Config.fromfile(path)

    assert config.train_dataloader.dataset.type == 'CPPE5Dataset'
    assert len(config.train_dataloader.dataset.pipeline) > 3
    assert config.test_evaluator.type == 'CPPE5Metric'
    init_default_scope('mmdet')
    zoo_models.without_pretrained(zoo_models.shrink(config.model))
    model = zoo_models.build(config.model)
    model.train()
    batch = model.data_preprocessor(zoo_models.batch(), True)
    loss, _ = model.parse_losses(model(**batch, mode='loss'))
    loss.backward()
    assert loss.isfinite()
    assert model.backbone.layer2[0].downsample[0].weight.grad.any()
