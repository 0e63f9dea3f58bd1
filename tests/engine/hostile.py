"""Checkpoint files made to execute, crash, hang or fill the memory.

Each is a name and the file's bytes. Programs of pickles are written opcode
by opcode, since no library writes most of them.
"""

import io
import pickle
import struct
import zipfile

CALLS = """
os system|posix system|os popen|os execv|os spawnl|os remove|os rename
os _exit|os kill|os chmod|os symlink|subprocess call|subprocess Popen
subprocess check_output|shutil rmtree|shutil move|pty spawn|sys exit
__builtin__ eval|builtins eval|builtins exec|builtins compile|builtins open
io open|io FileIO|_io open_code|builtins __import__|builtins getattr
builtins setattr|builtins type|builtins globals|builtins map
builtins memoryview|builtins classmethod|importlib import_module
importlib.util spec_from_file_location|runpy run_path|runpy run_module
code interact|pdb run|timeit timeit|cProfile run|types FunctionType
types CodeType|functools partial|functools reduce|operator attrgetter
operator methodcaller|operator itemgetter|pickle loads|_pickle loads
marshal loads|copyreg _reconstructor|copyreg __newobj__|copyreg add_extension
ctypes CDLL|ctypes string_at|socket socket|urllib.request urlopen
webbrowser open|logging.config fileConfig|multiprocessing Process
threading Thread|signal raise_signal|atexit register|asyncio run
numpy load|numpy fromfile|numpy memmap|numpy save|numpy frombuffer
numpy.core.multiarray fromfile|numpy.lib.npyio load
numpy.testing._private.utils runstring|torch load|torch.serialization load
torch.jit load|torch._C _jit_set_profiling_mode|torch.hub load
torch.utils.cpp_extension load_inline|torch.storage _load_from_bytes
torch._utils _rebuild_sparse_tensor|torch._tensor _rebuild_from_type_v2
torch._utils _rebuild_wrapper_subclass|torch.nn.modules.linear Linear
torch.Tensor numpy|mmengine.config.config Config
mmengine.fileio.io load|mmengine.runner.checkpoint _load_checkpoint
mmengine.registry.registry Registry|mmengine.logging.message_hub os
mmengine.utils.misc get_object_from_string|mmdet_cppe5.files write_text
""".replace('\n', '|').split('|')


def text(value):
    data = value.encode('utf-8', 'surrogatepass')
    return b'X' + struct.pack('<I', len(data)) + data


def name(dotted):
    module, _, attribute = dotted.partition(' ')
    return f'c{module}\n{attribute}\n'.encode()


def program(body, protocol=2):
    return bytes([0x80, protocol]) + body + b'.'


def zip_form(pickled, records=(), compression=zipfile.ZIP_STORED):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, 'w', compression) as archive:
        archive.writestr('a/data.pkl', pickled)
        archive.writestr('a/version', '3\n')
        for path, data in records:
            archive.writestr(path, data)
    return stream.getvalue()


NO_KEYS = pickle.dumps([], 2)


def legacy_form(pickled, after=NO_KEYS):
    head = [0x1950A86A20F9469CFC6C, 1001, {'little_endian': True}]
    return b''.join(pickle.dumps(part, 2) for part in head) + pickled + after


def calls(marker):
    """Every callable in both forms, by the four ways to call it."""
    for target in filter(None, CALLS):
        argument = text(f'touch {marker}') + b'\x85'
        yield f'reduce {target}', program(name(target) + argument + b'R')
        yield f'newobj {target}', program(name(target) + argument + b'\x81')
        module, _, attribute = target.partition(' ')
        stacked = text(module) + text(attribute) + b'\x93'
        yield f'stack {target}', program(stacked + argument + b'R', 4)
    for target in ('os system', 'builtins eval', 'posix system'):
        module, _, attribute = target.partition(' ')
        touch = f"S'touch {marker}'\n".encode()
        inst = b'(' + touch + f'i{module}\n{attribute}\n'.encode()
        yield f'inst {target}', program(inst)
        yield f'obj {target}', program(b'(' + name(target) + touch + b'o')
        hidden = b'}' + text('meta') + name(target) + text(str(marker))
        yield f'inside {target}', program(hidden + b'\x85Rs')
        state = name('collections OrderedDict') + b')R' + name(target)
        yield f'state {target}', program(state + text('x') + b'\x85Rb')


def config_texts(marker):
    """Plain data whose text is executed by those who trust it."""
    run = f"__import__('os').system('touch {marker}')"
    touch = f"type='os.system', command='touch {marker}'"
    for number, config in enumerate(
        [
            f'import os\nos.system("touch {marker}")',
            f'x = {run}',
            f'model = dict(a=[{run}])',
            f'#\nx = {run}',
            f'# \r x = {run}',
            f'model = dict({touch})',
            f'model = dict(type="ResNet", neck=dict({touch}))',
            f'_base_ = {run}',
            "custom_imports = dict(imports=['antigravity'])",
            f'model = dict(test_cfg=dict(nms=dict(type="{run}")))',
            f"model = '{{{{$X:'+{run}+'}}}}'",
            f'x = f"{{{run}}}"',
            f'class A:\n    x = {run}',
            f'x = [{run} for _ in (1,)]',
            f'def f(x={run}): pass',
            'x = ' + '[' * 30_000,
            'x = ' + '-' * 100_000 + '1',
            'x = ' + '1+' * 50_000 + '1',
            'x = ' + '{' * 50_000,
            'x = "' + 'y' * 1_000_000 + '"',
            'x = ' + '[],' * 80_000,
        ]
    ):
        config = text(config)
        meta = b'}' + text('meta') + b'}'
        hub = b'}' + text('message_hub') + b'}' + text('runtime_info') + b'}'
        for place, start, key, end in (
            ('meta.config', meta, 'config', b'ss'),
            ('meta.cfg', meta, 'cfg', b'ss'),
            ('hub.cfg', hub, 'cfg', b'sss'),
        ):
            yield (
                f'text {number} as {place}',
                program(start + text(key) + config + end),
            )


def paths():
    """File names that MMEngine's checkpoint hook would delete."""
    hub = b'}' + text('message_hub') + b'}' + text('runtime_info') + b'}'
    for key in ('best_ckpt', 'best_ckpt_coco/bbox_mAP', 'last_ckpt'):
        for path in ('/etc/passwd', '/', '..', '../x.pth', 'a\0b.pth', ''):
            item = text(key) + text(path)
            yield f'{key} {path!r}', program(hub + item + b'sss')
    ids = text('keep_ckpt_ids') + b']' + text('../../x') + b'a'
    yield 'keep_ckpt_ids', program(hub + ids + b'sss')


BYTES = b'\xff' * 4
ARRAY = name('numpy.core.multiarray _reconstruct') + (
    name('numpy ndarray') + b'K\0\x85C\x01b\x87R'
)
FLOAT = name('numpy dtype') + text('f8') + b'\x89\x88\x87R'


def arrays():
    """Arrays and numbers whose parts do not fit together."""
    forged = name('numpy ndarray') + b'(K\x08\x85' + text('O') + b'C\x08AAAA'
    yield 'ndarray over bytes', program(forged + b'AAAAtR')
    yield 'ndarray new', program(name('numpy ndarray') + b'K\x08\x85\x81')
    for kind in ('O', 'V8', 'M8', 'i4,f4', 'f3', 'U' + '9' * 30, 'O8', '|O'):
        made = name('numpy dtype') + text(kind) + b'\x89\x88\x87R'
        yield f'type {kind}', program(made)
        state = b'(K\x01K\x01\x85' + made + b'\x89C\x08AAAAAAAAtb'
        yield f'array of {kind}', program(ARRAY + state, 3)
    for count, data in (
        (b'J\xff\xff\xff\x7f', b'C\x08AAAAAAAA'), (b'K\x02', b'C\x08AAAAAAAA'),
        (b'J\xff\xff\xff\xff', b'C\0'), (b'K\x01', b'C\0'), (b'K\x01', b']'),
        (b'K\x01', b'N'), (b'K\x01', text('AAAAAAAA')), (b'N', b'C\0'),
        (b'\x8a\x08' + b'\xff' * 7 + b'\x7f', b'C\0'), (b'G' + b'\0' * 8,
        b'C\0'),
    ):  # fmt: skip
        state = b'(K\x01' + count + b'\x85' + FLOAT + b'\x89' + data + b'tb'
        yield f'array {count} {data}', program(ARRAY + state, 3)
    for state in (b'N', b')', b'}', b'(K\x01tb', b'K\x01', text('x')):
        yield f'array state {state}', program(ARRAY + state + b'b', 3)
        yield f'type state {state}', program(FLOAT + state + b'b', 3)
    fields = b'(K\x03' + text('<') + b'NN}' + b'J\xff\xff\xff\xff' * 2
    yield 'type with fields', program(FLOAT + fields + b'K\x3ftb')
    scalar = name('numpy.core.multiarray scalar')
    for arguments in (
        FLOAT + b'C\x04AAAA', FLOAT + b'C\0', FLOAT + b'N', b'NC\x08AAAAAAAA',
        name('numpy dtype') + text('U1') + b'\x89\x88\x87RC\x04' + BYTES,
    ):  # fmt: skip
        yield (
            f'scalar {arguments[-9:]}',
            program(scalar + arguments + b'\x86R', 3),
        )
    huge = b'\x8a\x05\0\0\0\0\x20'  # 137,438,953,472
    for kind in ('bytearray', 'bytes', 'list', 'tuple', 'str', 'complex'):
        made = name(f'builtins {kind}') + huge + b'\x85R'
        yield f'{kind} of a size', program(made, 3)
    yield 'size', program(name('torch Size') + b'(' + huge * 40 + b'tR')
    yield 'device', program(name('torch device') + text('x' * 999) + b'\x85R')
    for count in range(20):
        parts = ALLOWED_NAMES[count * 2 : count * 2 + 2]
        for part in parts:
            nones = b'(' + b'N' * (count % 5) + b'tR'
            yield f'{part} of {count % 5}', program(name(part) + nones, 3)


ALLOWED_NAMES = (
    """
collections OrderedDict|collections defaultdict|collections Counter
_codecs encode|builtins getattr|numpy dtype|torch Size|torch device
torch._utils _rebuild_tensor|torch._utils _rebuild_tensor_v2
torch._utils _rebuild_tensor_v3|torch._utils _rebuild_parameter
mmengine.config.config ConfigDict|mmengine.logging.message_hub MessageHub
mmengine.logging.history_buffer HistoryBuffer|builtins bool
builtins bytearray|builtins bytes|builtins complex|builtins dict
builtins float|builtins frozenset|builtins int|builtins list|builtins set
builtins slice|builtins str|builtins tuple|torch FloatStorage|torch float32
numpy.core.multiarray _reconstruct|numpy.core.multiarray scalar
numpy ndarray|mmengine.optim.scheduler.param_scheduler OneCycleParamScheduler
""".strip()
    .replace('\n', '|')
    .split('|')
)


def sizes():
    """Programs that take long, nest deep or copy much."""
    yield 'lists nested', program(b']' * 200_000 + b'a' * 199_999)
    yield 'tuples nested', program(b')' + b'\x85' * 300_000)
    yield 'dicts nested', program(b'}K\0' * 90_000 + b'N' + b's' * 90_000)
    yield 'tuple as a key', program(b'})' + b'\x85' * 300_000 + b'Ns')
    twice = b')' + b'2\x86' * 60
    yield 'doubled tuples as a key', program(b'}' + twice + b'Ns')
    yield 'doubled tuples in a set', program(b'\x8f(' + twice + b'\x90', 4)
    yield 'doubled tuples', program(twice)
    yield 'doubled lists', program(b']' + b'q\0]h\0ah\0a0' * 60 + b'N', 2)
    pair = b'q\0(h\0h\0l'
    yield 'lists of twice the last', program(b']' + pair * 60)
    yield 'itself', program(b']q\0h\0a')
    yield 'itself in a dict', program(b'}q\0K\0h\0s')
    yield 'marks', program(b'(' * 390_000)
    yield 'steps', program(b'N0' * 1_500_000 + b'N')
    yield 'dicts', program(b'(' + b'}' * 390_000 + b'l')
    colliding = b''.join(
        b'\x8a\x10' + (k * (2**61 - 1)).to_bytes(16, 'little') + b'N'
        for k in range(30_000)
    )
    yield 'colliding keys', program(b'}(' + colliding + b'u')
    long = text('x' * 1_000_000)
    once = name('_codecs encode') + b'h\0' + text('latin1') + b'\x86R'
    yield 'copies', program(long + b'q\0(' + once * 3000 + b'l')
    more = name('builtins list') + b'h\0\x85R'
    yield (
        'copied lists',
        program(b'](' + b'N' * 100_000 + b'eq\0(' + more * 3000 + b'l'),
    )
    for code, size in ((b'X', 4), (b'B', 4), (b'\x8d', 8), (b'\x8e', 8),
                       (b'\x96', 8), (b'\x8b', 4), (b'T', 4)):  # fmt: skip
        for claim in (b'\xff' * (size - 1) + b'\x7f', b'\xff' * size):
            yield f'{code} of {claim}', program(code + claim, 5)
    yield (
        'long integer',
        program(b'\x8b' + struct.pack('<I', 10**6) + b'9' * 10**6),
    )
    yield 'long decimal', program(b'L' + b'9' * 10**6 + b'L\n')
    yield 'long name', program(b'c' + b'x' * 10**6 + b'\nx\n')
    yield 'memo', program(b'Nr\xff\xff\xff\xff')
    yield 'unknown memo', program(b'h\x07')
    yield 'frames', program(b'\x95' + b'\xff' * 8 + b'N', 4)
    yield 'next buffer', program(b'\x97', 5)
    yield 'extension', program(b'\x82\x01')
    yield 'no stack', program(b'R')
    yield 'no mark', program(b't')
    yield 'pops', program(b'0' * 100)
    yield 'tensor attribute', program(b'ctorch\nSize\n)\x81}(U\x01aK\x01ub')
    buffer = name('mmengine.logging.history_buffer HistoryBuffer') + b')\x81'
    for state in (
        b'}', b'}' + text('max_length') + b'K\0s', b'N',
        b'}' + text('x') + b'Ns',
        b'}' + text('__class__') + b'Ns', b'}' + text('statistics_methods')
        + b'}' + text('mean') + name('builtins getattr') + b'ss',
    ):  # fmt: skip
        yield f'history {state[:40]}', program(buffer + state + b'b')


def storage(count=b'K\x01', key='0', kind='torch FloatStorage', extra=b''):
    return (
        b'(' + text('storage') + name(kind) + text(key) + text('cpu')
        + count + extra + b'tQ'
    )  # fmt: skip


def tensor(saved, offset=b'K\0', size=b'K\x01\x85', stride=b'K\x01\x85'):
    hooks = b'\x89' + name('collections OrderedDict') + b')R'
    rebuild = name('torch._utils _rebuild_tensor_v2')
    return rebuild + b'(' + saved + offset + size + stride + hooks + b'tR'


BIG = b'J\xff\xff\xff\x7f'
TENSORS = {
    'larger than its record': tensor(storage(BIG), size=BIG + b'\x85'),
    'past its storage': tensor(storage(), size=BIG + b'\x85'),
    'offset': tensor(storage(), offset=BIG),
    'negative offset': tensor(storage(), offset=b'J\xff\xff\xff\xff'),
    'negative size': tensor(storage(), size=b'J\xff\xff\xff\xff\x85'),
    'negative stride': tensor(storage(), stride=b'J\xff\xff\xff\xff\x85'),
    'repeated': tensor(storage(), size=BIG + b'\x85', stride=b'K\0\x85'),
    'two strides': tensor(storage(), stride=b'K\0K\0\x86'),
    'no storage': tensor(b'N'),
    'no record': tensor(storage(key='../../etc/passwd')),
    'no such type': tensor(storage(kind='torch UntypedStorage')),
    'many dimensions': tensor(storage(), size=b'(' + b'K\x01' * 99 + b't'),
    'text size': tensor(storage(), size=text('x') + b'\x85'),
    'count as text': tensor(storage(count=text('x'))),
    'negative count': tensor(storage(count=b'J\xff\xff\xff\xff')),
    'module': b'(' + text('module') + b'NNNNtQ',
    'short id': b'(' + text('storage') + b'tQ',
    'id of a list': b']Q',
}


def archives():
    """Zip archives whose parts lie about each other."""
    good = program(tensor(storage()))
    record = ('a/data/0', b'\0\0\x80?')
    for what, body in TENSORS.items():
        yield f'tensor {what}', zip_form(program(body), [record])
        yield f'old tensor {what}', legacy_form(program(body))
        older = body.replace(b'tQ', b'NtQ')
        yield f'older tensor {what}', legacy_form(program(older))
    deflated = zipfile.ZIP_DEFLATED
    bomb = [('a/data/0', bytes(100 << 20))]
    yield 'compressed', zip_form(good, [record], deflated)
    yield 'bomb', zip_form(good, bomb, deflated)
    yield 'bomb of a pickle', zip_form(bytes(100 << 20), (), deflated)
    yield 'twice', zip_form(good, [record, ('b/data.pkl', good)])
    yield 'code', zip_form(good, [('a/code/x.py', b'x'), record])
    yield 'constants', zip_form(good, [('a/constants.pkl', b'x'), record])
    yield 'other order', zip_form(good, [('a/byteorder', b'big'), record])
    yield 'long order', zip_form(good, [('a/byteorder', b'x' * 999), record])
    yield 'empty', zip_form(b'', [record])
    many = [(f'a/{"x" * 200}{number}', b'') for number in range(20_000)]
    yield 'many records', zip_form(good, [record, *many])
    whole = zip_form(good, [record])
    yield 'no end', whole[:-30]
    yield 'magic only', whole[:4]
    yield 'wrong data', whole.replace(b'\0\0\x80?', b'\0\0\x80@', 1)
    at = whole.rindex(b'PK\x01\x02')
    for offset in (20, 24, 42):  # sizes and place in the list of records
        broken = bytearray(whole)
        broken[at + offset : at + offset + 4] = b'\xff\xff\xff\x7f'
        yield f'list field {offset}', bytes(broken)
    for number in range(0, len(whole), 29):
        broken = bytearray(whole)
        broken[number] ^= 0x55
        yield f'flipped {number}', bytes(broken)
    old = legacy_form(good)
    for length in range(0, len(old), 23):
        yield f'old cut at {length}', old[:length]
    keys = pickle.dumps(['0'], 2)
    claim = legacy_form(program(tensor(storage(BIG, extra=b'N'))), keys)
    yield 'old with gigabytes', claim + struct.pack('<q', 1 << 31)
    yield (
        'tar',
        b'storages'.ljust(100, b'\0') + bytes(157) + b'ustar' + bytes(999),
    )
    yield 'page', b'<html><body>404</body></html>'
    yield 'nothing', b''


def hostile_files(marker):
    """Yield the name and the bytes of every file."""
    for source in (
        calls(marker), config_texts(marker), paths(), arrays(), sizes(),
    ):  # fmt: skip
        for number, (what, pickled) in enumerate(source):
            form = zip_form if number % 2 else legacy_form
            yield what, form(pickled)
    yield from archives()
