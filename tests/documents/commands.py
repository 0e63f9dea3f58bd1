"""The commands that the documents tell a reader to type."""

import re
import shlex

BLOCK = re.compile(r'^```(\w*)\n(.*?)^```$', re.MULTILINE | re.DOTALL)
SPAN = re.compile(r'`((?:python|mmdet-cppe5|make|bash|pip) [^`]+)`')
LOOP = re.compile(r'^for (\w+) in ([^;]+); do\n(.*?)^done$', re.M | re.S)
# How the Makefile names things.
RECIPE = {'$(PYTHON)': 'python', '$(RUN)': 'python', '$(BIN)/': ''}


def documented_commands(text):
    """Return each command of a Markdown text as a list of words."""
    lines = []
    for kind, block in BLOCK.findall(text):
        if kind == 'bash':
            lines += _lines(_unroll(block))
        if kind == 'text':
            shown = _lines(block)
            lines += [line[2:] for line in shown if line.startswith('$ ')]
    prose = BLOCK.sub('', text)
    lines += [' '.join(span.split()) for span in SPAN.findall(prose)]
    commands = [shlex.split(line, comments=True) for line in lines]
    return [words for words in commands if words]


def make_targets(text):
    """Return the words of each command of each target of a Makefile."""
    targets = {}
    for name, recipe in re.findall(
        r'^([a-z-]+):.*\n((?:\t.*\n?)*)', text, re.MULTILINE
    ):
        lines = [line.strip().lstrip('@') for line in _lines(recipe)]
        for made, meant in RECIPE.items():
            lines = [line.replace(made, meant) for line in lines]
        targets[name] = [shlex.split(line) for line in lines if line]
    return targets


def _lines(block):
    return re.sub(r'\\\n\s*', '', block).splitlines()


def _unroll(block):
    """Write a shell loop out."""

    def turns(match):
        name, values, body = match.groups()
        return ''.join(body.replace(f'${name}', v) for v in values.split())

    return LOOP.sub(turns, block)
