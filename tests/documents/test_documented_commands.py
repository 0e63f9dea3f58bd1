"""Every command of the documents and the Makefile is run, made short.

A command is taken from the text as it stands there; what is done to shorten
it is listed here. One that no line of :data:`TRIALS` knows fails the test: a
new command needs a trial.
"""

import functools
import re
import runpy
import sys
from pathlib import Path

import pytest
from commands import documented_commands, make_targets
from faulty_server import faulty_server
from stage import build_stage
from tiny_release import SPLITS, files, sha256, tar_gz

from mmdet_cppe5.cli.main import SUBCOMMANDS, main
from mmdet_cppe5.data import prepare as preparation
from mmdet_cppe5.data.release import Release
from mmdet_cppe5.download import RemoteFile

ROOT = Path(__file__).parent.parent.parent
DOCUMENTS = sorted(
    path.relative_to(ROOT).as_posix()
    for pattern in ('*.md', 'docs/*.md', 'configs/*/README.md')
    for path in ROOT.glob(pattern)
)
# What a reader puts something of his own for.
PLACEHOLDERS = {
    'CONFIG': 'configs/cppe5/faster_rcnn.py',
    'CHECKPOINT': 'ckpt.pth',
    'IMAGES': 'images',
    '...': 'photos',
}
# Options that shorten, appended: the last of two counts.
SHORT_SPEED = ['--max-iter', '2', '--num-warmup', '1', '--device', 'cpu']
# In bf16 mmcv's non-maximum suppression does not run on a CPU.
SMALL = [
    *('--input-size', '96', '64'),
    # Two batches of eight.
    *('--synthetic', '16', '--precision', 'fp32'),
]
# In the Makefile: the suite itself, and the tools of others.
NOT_OURS = r'python -m pytest|ruff|mypy|rm|find|grep|pip'
TESTED = ['configs/cppe5/faster_rcnn.py', 'ckpt.pth']


# -- what is done with a command ---------------------------------------------


class Run:
    """Run it in this process, with words appended or replaced."""

    def __init__(self, *more, **replaced):
        self.more = list(more)
        self.replaced = replaced

    def __call__(self, words, stage):
        words = [PLACEHOLDERS.get(w, self.replaced.get(w, w)) for w in words]
        words = [name for word in words for name in _expand(word)]
        if words[0] == '--cfg-options':
            words = ['python', 'tools/test.py', *TESTED, *words]
        if words[0] == 'mmdet-cppe5':
            _check_exit(main([*words[1:], *self.more]), words)
            return
        script = words[1:] if words[0] == 'python' else words
        _run_script([*script, *self.more])


class Elsewhere:
    """Name the test that does it."""

    def __init__(self, file, name):
        self.file, self.name = ROOT / file, name

    def __call__(self, words, stage):
        assert f'def {self.name}(' in self.file.read_text()


def mention(words, stage):
    """`mmdet-cppe5 split` in a sentence: there is such a subcommand."""
    assert words[1] in SUBCOMMANDS


def fresh(words, stage):
    """Download to a folder where nothing is yet, from a server here."""
    archive = tar_gz(files())
    folder = stage / 'fresh'
    folder.mkdir(exist_ok=True)
    (folder / 'dataset.tar.gz').write_bytes(archive)
    with (
        faulty_server(archive=archive) as server,
        pytest.MonkeyPatch.context() as patch,
    ):
        urls = [f'{server.url}/good/archive']
        size, digest = len(archive), sha256(archive)
        file = RemoteFile('dataset.tar.gz', urls, size, digest)
        release = Release(file, SPLITS, None)
        patch.setattr(
            'mmdet_cppe5.cli.prepare.prepare',
            functools.partial(preparation.prepare, release=release),
        )
        patch.chdir(folder)
        if not (folder / 'tools').exists():
            (folder / 'tools').symlink_to(ROOT / 'tools')
        Run()(words, stage)
        assert (folder / 'data/cppe5/annotations/train.json').is_file()


def install(words, stage):
    """Each extra that it names exists."""
    named = re.findall(r'\[([\w,]+)\]', ' '.join(words))
    declared = (ROOT / 'setup.py').read_text()
    for extra in ','.join(named).split(',') if named else ():
        assert f"'{extra}':" in declared


def target(words, stage):
    """There is such a target; its recipe is tried as a document is."""
    assert words[1] in make_targets((ROOT / 'Makefile').read_text())


def environment(words, stage):
    """A tool of others makes it; its Python is one that we support."""
    (version,) = re.findall(r'\b3\.\d+', ' '.join(words))
    (least,) = re.findall(
        r"python_requires='>=(3\.\d+)'", (ROOT / 'setup.py').read_text()
    )
    assert int(version[2:]) >= int(least[2:])


def with_parquet(words, stage):
    parquet = pytest.importorskip('pyarrow.parquet')
    import pyarrow

    image = (stage / 'images').iterdir().__next__().read_bytes()
    row = {
        'image_id': 1,
        'image': {'bytes': image, 'path': None},
        'width': 9,
        'height': 9,
        'objects': {
            'id': [1], 'area': [4], 'bbox': [[1, 1, 2, 2]], 'category': [0],
        },
    }  # fmt: skip
    parquet.write_table(pyarrow.Table.from_pylist([row]), stage / '0.parquet')
    (stage / 'parquet').mkdir(exist_ok=True)
    Run(images='parquet', **{'train.json': 'parquet.json'})(
        [*words, '--classes', 'Coverall'], stage
    )


def learn_little(words, stage):
    """The check on photos, in one epoch, so that it must complain."""
    module = runpy.run_path(str(ROOT / words[1]))
    shown = ['--cfg-options', 'train_cfg.max_epochs=1',
             'default_hooks.checkpoint.interval=1']  # fmt: skip

    def run_tool(name, photos, *arguments):
        more = shown if name == 'train.py' else []
        _run_script(
            [f'tools/{name}', module['CONFIG'], *arguments, *more],
            CPPE5_DATA_ROOT=str(photos),
        )
        return 0.0

    check = module['main']
    check.__globals__['run_tool'] = run_tool
    arguments = ['check', '--data', 'data/cppe5', '--work-dir', 'learnt']
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, 'argv', arguments)
        with pytest.raises(SystemExit, match='Expected an AP50 of at least'):
            check()
    assert (stage / 'learnt' / 'check_real.json').is_file()


def _run_script(words, **environment):
    name, *arguments = map(str, words)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, 'argv', [name, *arguments])
        # As Python does; at the end, so that no module of a test is hidden.
        folder = str(Path(name).resolve().parent)
        patch.setattr(sys, 'path', [*sys.path, folder])
        for key, value in environment.items():
            patch.setenv(key, value)
        try:
            runpy.run_path(str(Path(name).resolve()), run_name='__main__')
        except SystemExit as end:
            _check_exit(end.code, words)


def _check_exit(code, words):
    # 1 is what a check says of data that it has found wanting.
    assert not code or (code == 1 and 'verify' in words), (code, words)


def _expand(word):
    if '*' not in word:
        return [word]
    return [path.name for path in sorted(Path.cwd().glob(word))]


# -- which command gets which ------------------------------------------------

HELP = Elsewhere(
    'tests/documents/test_documented_commands.py',
    'test_scripts_explain_themselves',
)
GPU_SPEEDS = Elsewhere('tests/tools/test_launchers.py', 'test_benchmark_gpu')
TWO_PROCESSES = Elsewhere(
    'tests/tools/test_distributed.py', 'test_two_processes_train_together'
)
SIZES = Elsewhere(
    'tests/zoo/test_zoo_documents.py',
    'test_size_tool_prints_ours_beside_the_paper_s',
)
TABLE = Elsewhere(
    'tests/zoo/test_zoo_documents.py', 'test_table_tool_checks_and_writes'
)
DOWNLOAD = Elsewhere(
    'tests/zoo/test_released_checkpoints.py',
    'test_download_names_the_state_of_the_bucket',
)
UPGRADE = Elsewhere(
    'tests/zoo/test_released_checkpoints.py', 'test_tool_converts_a_file'
)
RETRIEVAL = Elsewhere(
    'tests/deepfashion2/test_retrieval_baseline.py',
    'test_identical_garments_come_first',
)
DEMO = Elsewhere('tests/tools/test_demo.py', 'test_second_run_calls_no_tool')

TRIALS = [
    (r'^pip install ', install),
    (r'^(uv|conda) ', environment),
    (r'^make [a-z-]+( [A-Z]+=\S+)*$', target),
    (r'^mmdet-cppe5 [a-z0-9-]+$', mention),
    (r'^(mmdet-cppe5 prepare|python \S+prepare_cppe5.py)', fresh),
    (r'^mmdet-cppe5 convert from-parquet ', with_parquet),
    (r'^mmdet-cppe5 (evaluate|compare|report|verify) ', Run()),
    (r'^mmdet-cppe5 (stats|split|browse) ', Run()),
    (r'^mmdet-cppe5 convert ', Run()),
    (r'^mmdet-cppe5 deepfashion2-', Run()),
    (r'^python tools/test\.py configs/deepfashion2/retrieval_', RETRIEVAL),
    (r'default_hooks\.report', Run('default_hooks.report.resamples=0')),
    (r'^--cfg-options ', Run()),
    (r'^python tools/(train|test|image_demo)\.py ', Run()),
    (r'^bash tools/dist_', TWO_PROCESSES),
    (r'benchmark\.py --compare ', Run()),
    (r'benchmark\.py --all ',
     Run('--all', 'rtmdet_tiny', *SMALL, *SHORT_SPEED)),
    (r'benchmark\.py .*--synthetic ', Run(*SMALL, *SHORT_SPEED)),
    # What it writes must not take the place of a record to compare.
    (r'benchmark\.py .*--task (inference|train)',
     Run(*SHORT_SPEED, **{'a.json': 'measured.json'})),
    (r'^scripts/benchmark_gpu\.sh', GPU_SPEEDS),
    (r'^python benchmarks/evaluation\.py',
     Run('--images', '29', '--rounds', '1', '--no-memory', '--tools', 'core')),
    (r'^python benchmarks/inference_overhead\.py',
     Run('--size', '64', '64', '--images', '7')),
    (r'^python benchmarks/image_loading\.py', Run('--rounds', '1')),
    (r'^python benchmarks/verify_large\.py',
     Run('--images', '20', '--boxes', '50')),
    (r'^python benchmarks/deepfashion2\.py', HELP),
    (r'^python tools/analysis_tools/get_flops\.py ', SIZES),
    (r'^python tools/analysis_tools/zoo_table\.py', TABLE),
    (r'^python tools/model_converters/download_released\.py ', DOWNLOAD),
    (r'^python tools/model_converters/upgrade_cppe5_checkpoint\.py ', UPGRADE),
    # Of the Makefile:
    (r'^python3? scripts/(set_up|try_environment)\.py ', HELP),
    (r'^python scripts/check_real\.py$', learn_little),
    (r'^python tools/demo\.py ', DEMO),
]  # fmt: skip


def all_commands():
    found = {}
    for name in DOCUMENTS:
        text = (ROOT / name).read_text(encoding='utf-8')
        for words in documented_commands(text):
            found.setdefault(tuple(words), name)
    targets = make_targets((ROOT / 'Makefile').read_text())
    for name, recipe in targets.items():
        for words in recipe:
            if not re.match(NOT_OURS, ' '.join(words)):
                found.setdefault(tuple(words), f'make {name}')
    return [
        pytest.param(words, id=f'{name}: {" ".join(words)[:70]}')
        for words, name in found.items()
    ]


@pytest.fixture(scope='module')
def stage(tmp_path_factory, drawn_dataset):
    folder = tmp_path_factory.mktemp('stage')
    build_stage(folder, ROOT, drawn_dataset.root)
    return folder


@pytest.mark.parametrize('words', all_commands())
def test_documented_command(words, stage, monkeypatch):
    command = ' '.join(words)
    trials = [do for pattern, do in TRIALS if re.search(pattern, command)]
    assert trials, f'no trial for: {command}'
    fashion = 'deepfashion2' in command and words[0] != 'make'
    monkeypatch.chdir(stage / 'fashion' if fashion else stage)
    monkeypatch.setenv('CPPE5_DATA_ROOT', str(stage / 'data' / 'cppe5'))
    trials[0](list(words), stage)


SCRIPTS = sorted(
    path.relative_to(ROOT).as_posix()
    for folder in ('tools', 'scripts', 'benchmarks')
    for path in (ROOT / folder).rglob('*.py')
    if '__main__' in path.read_text(encoding='utf-8')
)


@pytest.mark.parametrize('script', SCRIPTS)
def test_scripts_explain_themselves(script, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    _run_script([script, '--help'])
    assert 'usage: ' in capsys.readouterr().out
