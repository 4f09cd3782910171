"""Times steps of a peer and reports them under the names of `treadle bench step --json`."""

import resource
import time


def add_options(parser, models=None):
    """Adds the options that every peer's twin has. `models`: those that it knows."""
    parser.add_argument("--model", choices=models, default="fashion_cnn")
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--data", default="fashion-mnist", help="a data set's name, or a folder with IDX files")
    parser.add_argument("--seconds", type=float, default=3, help="time for timed steps; a fifth of it again warms up")
    parser.add_argument("--threads", type=int, default=0, help="0: one for each core")
    parser.add_argument("--json", action="store_true", help="print one JSON object on the last line")


def repeat(step, first, budget, least):
    """Calls step(first), step(first + 1), … until the budget is spent, at least so often; returns the seconds of each."""
    seconds, total = [], 0
    while total < budget or len(seconds) < least:
        start = time.perf_counter()
        step(first + len(seconds))
        seconds.append(time.perf_counter() - start)
        total += seconds[-1]
    return seconds


def time_steps(step, arguments):
    """Returns the sorted seconds of the timed steps."""
    # Compiling happens in the first steps and must not use up the warm-up.
    done = len(repeat(step, 0, 0, 20))
    done += len(repeat(step, done, arguments.seconds / 5, 0))
    return sorted(repeat(step, done, arguments.seconds, 10))


def report(seconds, arguments):
    median, p10, p90 = (seconds[int(share * (len(seconds) - 1))] for share in (0.5, 0.1, 0.9))
    return {
        "model": arguments.model,
        "batch": arguments.batch,
        "steps": len(seconds),
        "images_per_second_median": arguments.batch / median,
        "images_per_second_p90": arguments.batch / p10,
        "step_seconds_median": median,
        "step_seconds_p10": p10,
        "step_seconds_p90": p90,
        "peak_memory_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }
