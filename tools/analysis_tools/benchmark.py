"""Time a detector: inference, training, data loading.

    python tools/analysis_tools/benchmark.py CONFIG --task inference
    python tools/analysis_tools/benchmark.py --compare A.json B.json
    python tools/analysis_tools/benchmark.py --all --out-dir speeds/

MMDetection's own options mean what they mean there. In addition: any number
of images, any device, random weights when no checkpoint is given, and a
record of everything that the number depends on.
"""

import argparse
import os
import sys
from pathlib import Path

TASKS = ('inference', 'dataloader', 'dataset', 'train')


def parse_args(argv=None):
    from mmengine.config import DictAction

    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument('config', nargs='?', help='config file')
    parser.add_argument(
        '--checkpoint', help='path or URL; random weights without'
    )
    parser.add_argument(
        '--task',
        choices=TASKS,
        default='dataloader',
        help="what to time (default as in MMDetection: 'dataloader')",
    )
    parser.add_argument('--repeat-num', type=int, default=1, help='repeats')
    parser.add_argument(
        '--max-iter', type=int, default=2000, help='iterations at most'
    )
    parser.add_argument('--log-interval', type=int, default=50)
    parser.add_argument(
        '--num-warmup', type=int, default=5, help='iterations discarded first'
    )
    parser.add_argument('--fuse-conv-bn', action='store_true')
    parser.add_argument(
        '--dataset-type', choices=['train', 'val', 'test'], default='test'
    )
    parser.add_argument('--work-dir', help='folder for benchmark.log')
    parser.add_argument('--cfg-options', nargs='+', action=DictAction)
    parser.add_argument(
        '--launcher',
        choices=['none', 'pytorch', 'slurm', 'mpi'],
        default='none',
    )
    parser.add_argument('--local_rank', '--local-rank', type=int, default=0)
    add_own_arguments(parser)
    args = parser.parse_args(argv)
    if not args.config and not args.compare and args.all is None:
        parser.error('give a CONFIG, --compare or --all')
    os.environ.setdefault('LOCAL_RANK', str(args.local_rank))
    return args


def add_own_arguments(parser):
    group = parser.add_argument_group('beyond MMDetection')
    group.add_argument(
        '--device', help='default: cuda:0 where there is one, else cpu'
    )
    group.add_argument('--threads', type=int, help='CPU threads of torch')
    group.add_argument(
        '--batch-size', type=int, nargs='+', default=[1], metavar='N'
    )
    group.add_argument(
        '--precision', nargs='+', choices=['fp32', 'fp16', 'bf16', 'amp']
    )
    group.add_argument(
        '--amp', action='store_true', help='fp16 on a GPU, bf16 on a CPU'
    )
    group.add_argument('--channels-last', action='store_true')
    group.add_argument(
        '--compile',
        action='store_true',
        help='torch.compile backbone and neck',
    )
    group.add_argument(
        '--input-size',
        type=int,
        nargs=2,
        metavar=('W', 'H'),
        help='resize every image to this; default: as the data come',
    )
    group.add_argument(
        '--synthetic',
        type=int,
        metavar='N',
        help='N noise images of --input-size in place of the data set',
    )
    group.add_argument('--include-loading', action='store_true')
    group.add_argument('--out', type=Path, help='JSON of one measurement')
    group.add_argument('--out-dir', type=Path, help='a JSON each')
    group.add_argument(
        '--compare', nargs='+', metavar='JSON', help='rank records'
    )
    group.add_argument(
        '--all',
        nargs='*',
        metavar='NAME',
        help='every config of configs/cppe5, or those named, one by one',
    )


def load_config(args):
    from mmengine.config import Config
    from mmengine.registry import init_default_scope

    cfg = Config.fromfile(args.config)
    if args.cfg_options is not None:
        cfg.merge_from_dict(args.cfg_options)
    init_default_scope(cfg.get('default_scope', 'mmdet'))
    return cfg


def make_logger(args):
    from mmengine import MMLogger

    log_file = None
    if args.work_dir:
        Path(args.work_dir).mkdir(parents=True, exist_ok=True)
        log_file = os.path.join(args.work_dir, 'benchmark.log')
    return MMLogger.get_instance('mmdet', log_file=log_file, log_level='INFO')


def precisions(args, device):
    from mmdet_cppe5.benchmark.settings import amp_precision

    wanted = args.precision or (['amp'] if args.amp else ['fp32'])
    return [amp_precision(device) if p == 'amp' else p for p in wanted]


def settings_grid(args):
    from mmdet_cppe5.benchmark.settings import (
        BenchmarkSettings,
        default_device,
    )

    device = args.device or default_device()
    return [
        BenchmarkSettings(
            device=device,
            batch_size=batch_size,
            precision=precision,
            channels_last=args.channels_last,
            compile=args.compile,
            fuse_conv_bn=args.fuse_conv_bn,
            input_size=tuple(args.input_size) if args.input_size else None,
            synthetic=args.synthetic,
            include_loading=args.include_loading,
        )
        for precision in precisions(args, device)
        for batch_size in args.batch_size
    ]


def output_path(args, name, settings):
    if args.out:
        return args.out
    if args.out_dir:
        return args.out_dir / (
            f'{name}_{settings.precision}_batch{settings.batch_size}.json'
        )
    return None


def inference(args, logger):
    from mmdet_cppe5.benchmark.record import record_text
    from mmdet_cppe5.benchmark.run import describe_model, run_inference
    from mmdet_cppe5.files import write_json

    grid = settings_grid(args)
    if args.out and len(grid) > 1:
        raise ValueError(
            f'{len(grid)} measurements do not fit into one --out file; use '
            '--out-dir.'
        )
    model = describe_model(load_config(args), args.checkpoint)
    for settings in grid:
        record = run_inference(
            load_config(args),
            args.checkpoint,
            settings,
            repeat_num=args.repeat_num,
            max_iter=args.max_iter,
            num_warmup=args.num_warmup,
            log_interval=args.log_interval,
            logger=logger,
            model=model,
        )
        print(record_text(record))
        path = output_path(args, record['model']['name'], settings)
        if path:
            write_json(path, record, indent=1)
            print(f'wrote {path}')


def train(args, logger):
    from mmdet_cppe5.benchmark.training import TrainingBenchmark, text
    from mmdet_cppe5.files import write_json

    (settings,) = settings_grid(args)
    result = TrainingBenchmark(
        load_config(args), settings, args.max_iter, args.num_warmup
    ).run()
    print(text(result))
    if args.out:
        write_json(args.out, result, indent=1)


def dataloader(args, logger):
    from mmdet_cppe5.benchmark.loading import DataLoaderBenchmark

    DataLoaderBenchmark(
        load_config(args),
        args.launcher != 'none',
        args.dataset_type,
        args.max_iter,
        args.log_interval,
        args.num_warmup,
        logger=logger,
    ).run(args.repeat_num)


def dataset(args, logger):
    from mmdet_cppe5.benchmark.loading import DatasetBenchmark

    DatasetBenchmark(
        load_config(args),
        args.dataset_type,
        args.max_iter,
        args.log_interval,
        args.num_warmup,
        logger=logger,
    ).run(args.repeat_num)


def run_task(args):
    import torch

    if args.threads:
        torch.set_num_threads(args.threads)
    if args.launcher != 'none':
        from mmengine.dist import init_dist

        env = load_config(args).get('env_cfg', {})
        init_dist(args.launcher, **env.get('dist_cfg', {}))
    tasks = {
        'inference': inference,
        'dataloader': dataloader,
        'dataset': dataset,
        'train': train,
    }
    tasks[args.task](args, make_logger(args))


def compare(args):
    from mmdet_cppe5.benchmark.compare import ranking_text, read_record

    records = [read_record(path) for path in args.compare]
    print(ranking_text(records))


def run_all(argv, args):
    from mmdet_cppe5.benchmark.zoo import run_every_config

    only = argparse.ArgumentParser(add_help=False)
    only.add_argument('--all', nargs='*')
    _, rest = only.parse_known_args(argv)
    return run_every_config(
        [sys.executable, __file__], rest, args.out_dir, names=args.all
    )


def main():
    args = parse_args()
    try:
        if args.compare:
            compare(args)
        elif args.all is not None:
            return run_all(sys.argv[1:], args)
        else:
            run_task(args)
    except (ValueError, FileNotFoundError) as error:
        print(f'benchmark: {error}', file=sys.stderr)
        return 2
    return 0


if __name__ == '__main__':
    sys.exit(main())
