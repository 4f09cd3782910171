"""How each contender is started: command and environment. All run one at a time, each in a process of its own."""

import json
import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import machine
import text_data

PEERS = Path(__file__).resolve().parent
ROOT = PEERS.parents[1]
PYTHON = Path(os.environ.get("TREADLE_PEERS_VENV") or PEERS / ".venv") / "bin" / "python"
CACHE = PEERS / ".cache"

GIB = 2**30
ALLOCATOR = {
    "MALLOC_MMAP_THRESHOLD_": str(4 * GIB),
    "MALLOC_TRIM_THRESHOLD_": str(4 * GIB),
    "MALLOC_TOP_PAD_": str(GIB // 4),
}
TUNED = ALLOCATOR | {"OMP_PROC_BIND": "true"}

LEARNING_RATE = "1e-3"  # small, so that a bench of SGD ends with the weights it began with


class ContenderFailed(Exception):
    pass


class Skipped(Exception):
    """The program cannot do this yet; the message says what is missing."""


@dataclass(frozen=True, eq=False)  # a contender is a key: itself, not its settings
class Contender:
    name: str
    library: str
    options: tuple = ()
    environment: dict = field(default_factory=dict)


TREADLE = Contender("", "Treadle")
PYTORCH = {
    "default layout": Contender("default layout", "PyTorch", ("--config", "eager")),
    "as installed": Contender("channels_last", "PyTorch", ("--config", "channels_last")),
    "tuned": Contender("channels_last, tuned", "PyTorch", ("--config", "channels_last", "--fused"), TUNED),
    "compile": Contender("compile, tuned", "PyTorch", ("--config", "compile", "--fused"), TUNED),
}
# Small steps may be faster without a second thread.
ONE_THREAD = Contender(
    "default layout, tuned, 1 thread", "PyTorch", ("--config", "eager", "--fused", "--threads", "1"), ALLOCATOR
)
AS_EXPORTED = Contender("as exported", "ONNX Runtime")
RELU_FIRST = Contender("ReLU before pooling", "ONNX Runtime", ("--relu-first",))
ONNX_RUNTIME = [AS_EXPORTED, RELU_FIRST]


def contenders_of(cell, quick):
    """Returns the contenders of a step cell, Treadle first."""
    peers = [PYTORCH["tuned"]] if quick else list(PYTORCH.values())
    if cell.batch == 1:
        peers.append(ONE_THREAD)
    if cell.mode == "inference":
        peers += ONNX_RUNTIME if cell.relu_behind_pooling else [AS_EXPORTED]
    return [TREADLE, *peers]


def environment_of(contender):
    """This process's environment without settings of other libraries' threads, plus the contender's own."""
    foreign = ("OPENBLAS_", "OMP_", "MKL_", "MALLOC_", "KMP_", "GOMP_")
    kept = {key: value for key, value in os.environ.items() if key in machine.AVX2_ONLY or not key.startswith(foreign)}
    return kept | contender.environment


def run(command, environment=None):
    return subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True)


def last_json(result, command):
    """Returns the JSON object on the last line of a finished process."""
    try:
        if result.returncode == 0:
            return json.loads(result.stdout.strip().splitlines()[-1])
    except (ValueError, IndexError):
        pass
    command = " ".join(map(str, command))
    raise ContenderFailed(f"`{command}` failed with status {result.returncode}: {result.stderr.strip()[-500:]}")


def run_json(command, environment=None):
    return last_json(run(command, environment), command)


def data_of(cell):
    """Returns what --data is given."""
    if cell.data != text_data.NAME:
        return cell.data
    path = CACHE / f"{text_data.NAME}.txt"
    try:
        text_data.write(path)
    except text_data.NoText as reason:
        raise Skipped(str(reason)) from reason
    return str(path)


def weights_of(treadle, cell, quick):
    """Returns the file with a model's weights after its first epoch, or the cell's batches of it, trained once and kept."""
    batches = cell.trained_batches or (200 if quick else 0)
    whole, part = CACHE / cell.network, CACHE / f"{cell.network}-{batches}"
    known = (whole / "last.safetensors").exists() or not batches
    folder, limit = (whole, []) if known else (part, ["--limit-batches", str(batches)])
    weights = folder / "last.safetensors"
    if not weights.exists():
        recipe = ["--epochs", "1", "--optimizer", "adam", "--lr", "1e-3", "--schedule", "constant", "--batch-size", "32"]
        # Into another folder first: an interrupted training must not be taken for a whole one.
        scratch = folder.with_name(f"{folder.name}.{os.getpid()}")
        model = [cell.model, *model_options(cell)]
        command = [treadle, "train", *model, "--data", data_of(cell), *recipe, *limit, "--out", scratch]
        run_json([*command, "--quiet", "--json"])
        scratch.rename(folder)
    return weights


def model_options(cell):
    return [word for name, value in cell.options for word in ("--model-option", f"{name}={value}")]


def graph_of(contender, cell, weights):
    """Returns the ONNX file of a contender, exported by another process and kept while the weights are the same."""
    graph = CACHE / "graphs" / f"{cell.network}-{cell.batch}{''.join(contender.options)}.onnx"
    if not graph.exists() or graph.stat().st_mtime < weights.stat().st_mtime:
        graph.parent.mkdir(exist_ok=True)
        scratch = graph.with_suffix(f".{os.getpid()}")
        model = ["--model", cell.model, *model_options(cell), "--data", data_of(cell), "--batch", str(cell.batch)]
        command = [PYTHON, PEERS / "onnx_export.py", *model, "--weights", weights, *contender.options, "--out", scratch]
        result = run(command)
        if result.returncode != 0:
            raise ContenderFailed(f"no ONNX graph of {cell.network}: {result.stderr.strip()[-500:]}")
        scratch.rename(graph)
    return graph


def step_command(treadle, contender, cell, weights, seconds, threads=0):
    common = ["--model", cell.model, "--data", data_of(cell), "--batch", str(cell.batch), "--seconds", str(seconds), "--json"]
    if threads and contender is not ONE_THREAD:
        common += ["--threads", str(threads)]
    training = ["--mode", cell.mode, "--optimizer", cell.optimizer, "--lr", LEARNING_RATE]
    if contender.library == "Treadle":
        return [treadle, "bench", "step", *common, *training, "--checkpoint", weights, "--bind"]
    if contender.library == "PyTorch":
        model = [*model_options(cell), "--weights", weights]
        return [PYTHON, PEERS / "pytorch_twin.py", *common, *training, *model, *contender.options]
    return [PYTHON, PEERS / "onnxruntime_twin.py", *common, "--graph", graph_of(contender, cell, weights)]


def run_step(treadle, contender, cell, weights, seconds, threads=0):
    """`threads`: of every contender; 0: as many as there are cores."""
    return run_json(step_command(treadle, contender, cell, weights, seconds, threads), environment_of(contender))
