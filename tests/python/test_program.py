"""The command-line program, as the package starts it."""

import subprocess
import sys

import treadle as td


def run(*arguments):
    return subprocess.run([sys.executable, "-m", "treadle", *arguments], capture_output=True, text=True, check=False)


def test_the_package_starts_the_program_of_its_version():
    result = run("--version")
    assert (result.returncode, result.stdout.strip()) == (0, f"treadle {td.__version__}")


def test_arguments_and_exit_codes_are_the_programs():
    result = run("no-such-command")
    assert result.returncode == 2 and "no-such-command" in result.stderr
