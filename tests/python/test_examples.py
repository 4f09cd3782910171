"""The examples of examples/python run as a user runs them, and print what they promise."""

import os
import pathlib
import re
import subprocess
import sys

import pytest
import treadle as td

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples" / "python"
PROMISES = {
    "check_a_kernel.py": [r"race: .* in transpose\n", r"\{'seed': 7\} clean - all elements are right", "padding 0: 4096 wavefronts where 128", "padding 1: 128 "],
    "numpy_and_pytorch.py": [r"shared: \[\[100\.0", r"copied: \[\[100\.0", r"norms by NumPy: \[ 5\. 10\.\]", "refused: "],
    "ten_minute_tour.py": [r"d²\(w³\)/dw² = 6w: \[6\.0, -12\.0, 3\.0\]", r"\n9\d\.\d % of the points"],
    "train_fashion_cnn.py": [r"epoch 1  loss \d\.\d+", r"accuracy on \d+ test images: [78]\d\.\d %", "wrote .*safetensors"],
    "write_an_op.py": ["gradcheck: True", "the gradient of element 0 of input 0 is", "compiled: ", r"constant: -0\.577216"],
}


def test_each_example_is_tried():
    assert sorted(PROMISES) == sorted(path.name for path in EXAMPLES.glob("*.py"))


@pytest.mark.parametrize("name", PROMISES)
def test_an_example_keeps_its_promises(name, tmp_path):
    package = str(pathlib.Path(td.__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": package, "PYTHONIOENCODING": "utf-8", "IMAGES": "3000"}
    run = subprocess.run(
        [sys.executable, EXAMPLES / name], capture_output=True, encoding="utf-8", cwd=tmp_path, env=environment
    )
    assert run.returncode == 0, run.stderr
    for promise in PROMISES[name]:
        assert re.search(promise, run.stdout), f"{promise} is not in\n{run.stdout}"
