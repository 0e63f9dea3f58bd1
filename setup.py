"""Package metadata; configs and tools travel in ``mmdet_cppe5/.mim``."""

import re
import shutil
from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent.resolve()
MIM_ASSETS = ('configs', 'tools', 'model-index.yml')


class BuildWithMim(build_py):
    """Copy what ``mim`` and users of a wheel need beside the code.

    An editable install keeps using the clone, so nothing is copied then.
    """

    def run(self):
        """Build the package, then add the ``.mim`` folder to the build."""
        super().run()
        if self.editable_mode:
            return
        target = Path(self.build_lib) / 'mmdet_cppe5' / '.mim'
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        for name in MIM_ASSETS:
            source = ROOT / name
            if source.is_dir():
                shutil.copytree(
                    source,
                    target / name,
                    ignore=shutil.ignore_patterns('__pycache__', '*.pyc'),
                )
            elif source.exists():
                shutil.copy2(source, target / name)


def version():
    """Read the version without importing the package."""
    text = (ROOT / 'mmdet_cppe5' / '__init__.py').read_text()
    return re.search(r"__version__ = '([^']+)'", text).group(1)


# Evaluation from files needs no framework.
CORE = ['numpy>=1.26,<3', 'pycocotools>=2.0.8', 'msgspec>=0.18']
FRAMEWORK = [
    'torch>=2.1',
    'mmcv>=2.1.0,<2.2.0',
    'mmengine>=0.10.7,<0.11',
    'mmdet>=3.3.0,<3.4.0',
    # mmengine 0.10.7 finds `mmdet::` configs through pkg_resources, which
    # setuptools 82 removed.
    'setuptools<82',
]
# The living fork of the same three, importable under the same names; never
# beside them in one environment.
ONEDL = [
    'torch>=2.4',
    'onedl-mmcv>=2.3.6,<2.4',
    'onedl-mmengine>=0.10.12,<0.11',
    'onedl-mmdetection>=3.5.1,<3.6',
]
PLOT = ['matplotlib>=3.7']
REPORT = [*PLOT, 'jinja2>=3.1', 'pillow>=10.1']
NOTEBOOK = [*PLOT, 'pandas>=1.5']
DATA = ['pillow>=10.1', 'imagehash>=4.3', 'tqdm', 'pyyaml', 'pyarrow>=14']
BENCHMARK = ['psutil>=5.9']
COMPLETION = ['argcomplete>=3.1']
# MM-Grounding-DINO's text encoder.
GROUNDING = ['transformers>=4.35,<5']
# All but a stack: the one that is there stays.
EVERYTHING = [*GROUNDING, *REPORT, *DATA, *BENCHMARK]
LINT = ['ruff==0.17.6', 'mypy>=1.10']
TESTS = [
    'pytest>=8', 'pytest-xdist>=3.5', 'hypothesis>=6.100', 'tensorboard',
    'playwright',
]  # fmt: skip
PARITY = ['tidecv==1.0.1', 'hotcoco==1.3.0', 'faster-coco-eval==1.8.0']

setup(
    name='mmdet-cppe5',
    version=version(),
    description='MMDetection plugin for CPPE-5: train, evaluate, compare '
    'and time detectors of medical protective equipment',
    long_description=(ROOT / 'README.md').read_text(encoding='utf-8'),
    long_description_content_type='text/markdown',
    license='Apache-2.0',
    python_requires='>=3.9',
    packages=find_packages(include=['mmdet_cppe5', 'mmdet_cppe5.*']),
    include_package_data=True,
    install_requires=CORE,
    extras_require={
        # MMDetection's analyze_logs.py asks for seaborn.
        'plot': [*PLOT, 'seaborn>=0.12'],
        'report': REPORT,
        'notebook': NOTEBOOK,
        'data': DATA,
        'benchmark': BENCHMARK,
        'completion': COMPLETION,
        'framework': FRAMEWORK,
        'onedl': ONEDL,
        'tests': [*TESTS, *EVERYTHING],
        'dev': [*LINT, *TESTS, *EVERYTHING],
        'grounding': GROUNDING,
        'parity': PARITY,
        'mim': FRAMEWORK,
    },
    entry_points={
        'console_scripts': ['mmdet-cppe5=mmdet_cppe5.cli.main:main'],
    },
    cmdclass={'build_py': BuildWithMim},
    license_files=['LICENSE'],
    project_urls={
        'Data set': 'https://github.com/Rishit-dagli/CPPE-Dataset',
        'Paper': 'https://arxiv.org/abs/2112.09569',
    },
    keywords=[
        'object detection',
        'MMDetection',
        'CPPE-5',
        'COCO',
        'average precision',
        'TIDE',
        'medical personal protective equipment',
    ],
    classifiers=[
        'Development Status :: 4 - Beta',
        'Intended Audience :: Science/Research',
        'License :: OSI Approved :: Apache Software License',
        'Operating System :: POSIX',
        'Programming Language :: Python :: 3',
        'Programming Language :: Python :: 3.9',
        'Programming Language :: Python :: 3.10',
        'Programming Language :: Python :: 3.11',
        'Programming Language :: Python :: 3.12',
        'Programming Language :: Python :: 3.13',
        'Topic :: Scientific/Engineering :: Artificial Intelligence',
        'Topic :: Scientific/Engineering :: Image Recognition',
    ],
)
