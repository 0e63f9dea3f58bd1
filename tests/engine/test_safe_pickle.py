"""The unpickler refuses everything that is not plain data."""

import io
import os
import pickle
import re
import subprocess
import sys
import tarfile
from collections import Counter, OrderedDict, defaultdict

import numpy as np
import pytest
import torch
from mmdet.registry import PARAM_SCHEDULERS
from mmengine.config import ConfigDict
from mmengine.logging import HistoryBuffer, MessageHub

from mmdet_cppe5.engine import safe_pickle
from mmdet_cppe5.engine.checkpoint import load_checkpoint_file

FORMS = pytest.mark.parametrize('zipped', [True, False], ids=['zip', 'legacy'])


class Calls:
    """Pickles into a call."""

    def __init__(self, function, *arguments):
        self.call = (function, arguments)

    def __reduce__(self):
        return self.call


def save(value, path, zipped):
    torch.save(value, path, _use_new_zipfile_serialization=zipped)


@FORMS
@pytest.mark.parametrize(
    ('call', 'name'),
    [
        ((os.system, 'touch {}'), 'posix.system'),
        ((subprocess.call, ['touch', '{}']), 'subprocess.call'),
        ((eval, "open('{}', 'w')"), 'builtins.eval'),
        ((exec, "open('{}', 'w')"), 'builtins.exec'),
        ((open, '{}', 'w'), 'io.open'),
        ((getattr, OrderedDict, 'fromkeys'), "'fromkeys' of <class"),
        ((getattr, HistoryBuffer, '__init__'), "'__init__' of <class"),
        ((torch.load, '{}'), 'torch.serialization.load'),
        ((np.load, '{}'), 'numpy.load'),
        ((np.save, '{}', 1), 'numpy.save'),
    ],
    ids=lambda value: value if isinstance(value, str) else '',
)
def test_calls_are_refused_by_name_and_do_nothing(
    tmp_path, zipped, call, name
):
    marker = tmp_path / 'marker'
    function, *arguments = call
    arguments = [
        [part.format(marker) for part in item]
        if isinstance(item, list)
        else item.format(marker)
        if isinstance(item, str)
        else item
        for item in arguments
    ]
    path = tmp_path / 'bad.pth'
    attack = Calls(function, *arguments)
    save({'state_dict': {}, 'meta': attack}, path, zipped)
    words = re.escape(f'asks for {name}')
    with pytest.raises(ValueError, match=words) as error:
        load_checkpoint_file(path)
    assert str(path) in str(error.value)
    assert list(tmp_path.iterdir()) == [path]


def test_the_marker_attack_works_on_an_open_unpickler(tmp_path):
    """Without this the test above could pass for the wrong reason."""
    marker = tmp_path / 'marker'
    torch.save(Calls(os.system, f'touch {marker}'), tmp_path / 'bad.pth')
    torch.load(tmp_path / 'bad.pth', weights_only=False)
    assert marker.exists()


PROGRAMS = {
    'inst': b"(S'touch x'\nios\nsystem\n.",
    'obj': b"(cos\nsystem\nS'touch x'\no.",
    'stack global': b'\x80\x04\x8c\x02os\x8c\x06system\x93.',
    'attribute': b'\x80\x04\x8c\x08builtins\x8c\x0ddict.fromkeys\x93.',
    'extension': b'\x80\x02\x82\x01.',
    'text persistent id': b'P1\n.',
    'persistent module': b'\x80\x02U\x06moduleU\x01xU\x01yU\x01z(tQ.',
    'attributes of a tensor type': b'ctorch\nSize\n)\x81}(U\x01aK\x01ub.',
}


@pytest.mark.parametrize('program', PROGRAMS.values(), ids=PROGRAMS)
def test_opcodes_that_reach_other_names_are_refused(program):
    reader = safe_pickle.Unpickler(io.BytesIO(program))
    reader.persistent_load = lambda saved_id: pytest.fail('was looked up')
    with pytest.raises((ValueError, KeyError)):
        reader.load()


@pytest.mark.parametrize(
    'state',
    [
        (3, '<', None, None, None, -1, -1, 1),  # numbers counted as objects
        (3, '<', None, None, None, 64, -1, 0),  # a larger number
        (3, '<', None, ('a',), {'a': 1}, -1, -1, 0),
        (3, '<', (1, 2), None, None, -1, -1, 0),
        (3, 'x', None, None, None, -1, -1, 0),
        {'a': 1},
    ],
)
def test_numpy_types_are_not_altered(state):
    class Altered:
        def __reduce__(self):
            return (np.dtype, ('f8', False, True), state)

    with pytest.raises(ValueError, match='alters the NumPy type float64'):
        safe_pickle.load(io.BytesIO(pickle.dumps(Altered(), 2)))


@pytest.mark.parametrize('value', [np.array([{}]), np.zeros(2, 'i4,f4')])
def test_arrays_of_objects_and_records_are_refused(value):
    with pytest.raises(ValueError, match='NumPy array of type'):
        safe_pickle.load(io.BytesIO(pickle.dumps(value, 2)))


def test_torchscript_is_refused(tmp_path):
    module = torch.jit.script(torch.nn.Linear(2, 2))
    torch.jit.save(module, tmp_path / 'a.pth')
    with pytest.raises(ValueError, match='TorchScript'):
        load_checkpoint_file(tmp_path / 'a.pth')


def test_tar_archive_is_not_unpacked(tmp_path, monkeypatch):
    path = tmp_path / 'a.pth'
    with tarfile.open(path, 'w') as archive:
        archive.add(__file__, 'storages')
    monkeypatch.setattr(
        tarfile.TarFile, 'extract', lambda *_, **__: pytest.fail('unpacked')
    )
    with pytest.raises(ValueError, match='plain data'):
        load_checkpoint_file(path)


@FORMS
def test_plain_data_comes_back_as_it_was(tmp_path, zipped):
    state = torch.nn.BatchNorm2d(3).state_dict()  # has _metadata
    schedule = torch.optim.lr_scheduler.MultiStepLR(
        torch.optim.SGD([torch.zeros(1)], lr=1), [2, 2, 5]
    ).state_dict()
    value = {
        'state_dict': state,
        'tensors': [
            torch.arange(6, dtype=kind).reshape(2, 3).t()
            for kind in (torch.float16, torch.bfloat16, torch.int64)
        ],
        'parameter': torch.nn.Parameter(torch.ones(2)),
        'milestones': schedule['milestones'],
        'numbers': (np.float64(1.5), np.int64(-3), np.bool_(True)),
        'arrays': [np.arange(6.0).reshape(2, 3), np.array(['a', 'bc'])],
        'swapped': np.arange(3, dtype='>f8'),
        'factory': defaultdict(list, a=[1]),
        'config': ConfigDict(a=dict(b=1)),
        'other': [torch.Size([1, 2]), torch.device('cpu'), torch.float32,
                  b'\xff', {1}, 1j, slice(1)],
    }  # fmt: skip
    save(value, tmp_path / 'a.pth', zipped)
    back = load_checkpoint_file(tmp_path / 'a.pth')

    assert back['state_dict'].keys() == state.keys()
    assert all(torch.equal(back['state_dict'][k], state[k]) for k in state)
    assert back['state_dict']._metadata == state._metadata
    for mine, theirs in zip(back['tensors'], value['tensors']):
        assert mine.dtype == theirs.dtype
        assert torch.equal(mine, theirs)
    assert isinstance(back['parameter'], torch.nn.Parameter)
    assert back['milestones'] == Counter([2, 2, 5])
    assert back['numbers'] == value['numbers']
    assert [type(n) for n in back['numbers']] == [
        np.float64, np.int64, np.bool_,
    ]  # fmt: skip
    for mine, theirs in zip(back['arrays'], value['arrays']):
        np.testing.assert_array_equal(mine, theirs, strict=True)
    assert back['swapped'].tolist() == [0, 1, 2]
    assert np.dtype('f8').byteorder == '='  # NumPy's own was not touched
    for key in ('factory', 'config', 'other'):
        assert back[key] == value[key]
        assert type(back[key]) is type(value[key])


def test_logs_of_a_run_come_back(tmp_path):
    buffer = HistoryBuffer()
    for number in (1.0, 2.0, 6.0):
        buffer.update(number)
    hub = MessageHub('test_logs_of_a_run_come_back')
    hub.update_scalar('loss', 4.0)
    torch.save({'buffer': buffer, 'hub': hub}, tmp_path / 'a.pth')
    HistoryBuffer._statistics_methods.clear()  # as in a new process
    back = load_checkpoint_file(tmp_path / 'a.pth')
    assert back['buffer'].statistics('mean') == (1 + 2 + 6) / 3
    assert back['hub'].get_scalar('loss').current() == 4.0


@pytest.mark.parametrize(
    ('name', 'options'),
    [
        ('MultiStepLR', {'milestones': [1, 2]}),
        ('StepLR', {'step_size': 2}),
        ('ExponentialLR', {'gamma': 0.9}),
        ('OneCycleLR', {'eta_max': 1, 'total_steps': 5}),
        (
            'OneCycleLR',
            {'eta_max': 1, 'total_steps': 5, 'anneal_strategy': 'linear'},
        ),
        ('CosineAnnealingLR', {'T_max': 4}),
        ('LinearLR', {}),
        ('ConstantLR', {'factor': 0.5}),
        ('PolyLR', {}),
        (
            'CosineRestartLR',
            {'periods': [2, 2], 'restart_weights': [1, 1], 'eta_min': 0},
        ),
        ('ReduceOnPlateauLR', {'monitor': 'loss'}),
        ('QuadraticWarmupLR', {'end': 3}),
    ],
)
def test_states_of_all_schedules_come_back(tmp_path, name, options):
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=0.1)
    schedule = PARAM_SCHEDULERS.get(name)(optimizer=optimizer, **options)
    torch.save(schedule.state_dict(), tmp_path / 'a.pth')
    assert load_checkpoint_file(tmp_path / 'a.pth') == schedule.state_dict()


def test_a_class_with_allowed_methods_is_not_made():
    program = (
        b'cmmengine.optim.scheduler.param_scheduler\n'
        b'OneCycleParamScheduler\n)R.'
    )
    with pytest.raises(TypeError, match='not callable'):
        safe_pickle.load(io.BytesIO(program))


def test_names_from_numpy_1_and_2_are_both_known():
    for module in ('numpy.core.multiarray', 'numpy._core.multiarray'):
        program = pickle.dumps(np.float64(2.5), 2)
        own = np.float64(2.5).__reduce__()[0].__module__.encode()
        program = program.replace(own, module.encode())
        assert safe_pickle.load(io.BytesIO(program)) == 2.5


def test_nothing_in_the_table_is_a_general_tool():
    tools = {eval, exec, getattr, setattr, open, compile, __import__, type}
    assert not tools & set(safe_pickle.ALLOWED.values())


def test_module_is_not_left_in_sys_modules_by_a_refused_name():
    assert 'this' not in sys.modules
    with pytest.raises(ValueError, match=r'this\.s'):
        safe_pickle.load(io.BytesIO(b'cthis\ns\n.'))
    assert 'this' not in sys.modules
