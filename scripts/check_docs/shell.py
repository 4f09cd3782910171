"""Runs the commands of a document and compares what they print with what the document shows."""

import os
import pathlib
import re
import subprocess
import tempfile

from .blocks import ROOT, DocumentError

TIME_LIMIT_SECONDS = 900
ANYTHING = "…"
TIME = re.compile(r"\d[\d.,]* (ms|µs|s)\b")
PROGRAM = "build/release/treadle"


def normalised(text):
    """Lines without what differs from run to run: times, and the spaces that follow from their widths."""
    lines = (" ".join(TIME.sub(r"# \1", line).split()) for line in text.splitlines())
    return [line for line in lines if line]


def shows(output, expected):
    """Whether the expected lines are in the output, one behind the other; … stands for any text of a line, or for any lines."""
    pattern = ""
    for line in normalised(expected):
        pattern += "(?:.*\n)*?" if line == ANYTHING else ".*".join(map(re.escape, line.split(ANYTHING))) + "\n"
    return re.search("^" + pattern, "".join(line + "\n" for line in normalised(output)), re.MULTILINE) is not None


def script_of(blocks, folder, program):
    """Before each block its number is written to the file `at`; what a block with an expected output prints goes to a file."""
    parts = ["set -euo pipefail\n"]
    for number, block in enumerate(blocks):
        text = block.text.replace(PROGRAM, program)
        redirected = "" if block.output is None else f" >'{folder}/{number}' 2>&1"
        parts.append(f"echo '-- {block.place()}'; echo {number} >'{folder}/at'\n")
        if block.ends_with:
            parts.append(f"code=0; (\n{text}\n){redirected} || code=$?\n[[ $code -eq {block.ends_with} ]]\n")
        else:
            parts.append(f"{{\n{text}\n}}{redirected}\n")
    return "".join(parts)


def run_shell(document, blocks, settings=None, quiet=False):
    """Runs the blocks of one document in one shell, so that `cd` and variables carry over as for a reader. With `quiet` the
    output is seen only when something fails. $TREADLE_PROGRAM is the program in place of build/release/treadle."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        script = script_of(blocks, folder, os.environ.get("TREADLE_PROGRAM", PROGRAM))
        try:
            result = subprocess.run(["bash", "-c", script], cwd=ROOT, stdin=subprocess.DEVNULL, timeout=TIME_LIMIT_SECONDS,
                                    env=os.environ | (settings or {}), text=True, check=False,
                                    stdout=subprocess.PIPE if quiet else None, stderr=subprocess.STDOUT if quiet else None)
        except subprocess.TimeoutExpired as error:
            raise DocumentError(f"{document}: not done after {TIME_LIMIT_SECONDS} s", 1) from error
        if result.returncode != 0:
            number = int((folder / "at").read_text())
            printed = folder / str(number)
            seen = (result.stdout or "") + (printed.read_text() if printed.exists() else "")
            wanted = f"another exit code than {blocks[number].ends_with}" if blocks[number].ends_with else f"exit code {result.returncode}"
            raise DocumentError(f"{seen}{blocks[number].place()}: {wanted}", 1)
        for number, block in enumerate(blocks):
            if block.output is not None and not shows(output := (folder / str(number)).read_text(), block.output):
                raise DocumentError(f"{output}{block.place()}: above is what these commands print; the document shows\n{block.output}", 1)
