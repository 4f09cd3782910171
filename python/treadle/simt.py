"""CUDA programs on any machine: built as they are, run, checked for races and other mistakes, and counted line by line.

    found = td.simt.check("reduce.cu", ["4096"])
    for report in found.reports:
        print(report)                          # race: … at reduce.cu:12 and reduce.cu:15, in reduce
    counts = td.simt.profile("transpose.cu", card="A100")
    print(counts.kernels[0].line(14)["sectors"])

Sources are a file, several, or the text of one: a text has an end of line in it. Nothing of a GPU is needed; a C++ compiler is.
What is found, and what the words mean: docs/simt.md.
"""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import re
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from treadle.__main__ import program

__all__ = ["BuildError", "CheckResult", "KernelCounts", "Place", "ProfileResult", "Report", "RunResult", "build", "check", "profile", "run"]

_FOLDER = "treadle-text-"  # of the file that a text becomes
_ABOUT_THE_PROGRAM = ("the program ended", "the program was ended", "the program left")  # that was built, and ran
Sources = str | os.PathLike | Sequence[str | os.PathLike]


class BuildError(RuntimeError):
    """The compiler refused a program, or it uses what is not supported; says what and where."""


@dataclasses.dataclass(frozen=True)
class Place:
    """Where something happened: file and line; and which block and thread, where one is meant."""

    file: str
    line: int
    block: tuple[int, int, int] | None = None
    thread: tuple[int, int, int] | None = None

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclasses.dataclass(frozen=True)
class Report:
    """Equal mistakes at equal places; the first of them.

    kind: "race", "out-of-bounds", …; message: a sentence; kernel: "" where none runs
    place: of the access, the call; other: of the second access, of the allocation; None where there is none
    allocation, offset: which memory, in words, and the bytes from its begin; bytes: of the access
    count: how often; launch: the first that showed it, counted from 1
    """

    kind: str
    message: str
    kernel: str
    place: Place
    other: Place | None
    allocation: str
    offset: int
    bytes: int
    count: int
    launch: int

    def __str__(self) -> str:
        where = f"{self.place} and {self.other}" if self.other else str(self.place)
        return f"{self.kind}: {self.message}, at {where}" + (f", in {self.kernel}" if self.kernel else "")


@dataclasses.dataclass(frozen=True)
class RunResult:
    """How a program ended: exit_code; output, messages: what it wrote to both streams."""

    exit_code: int
    output: str
    messages: str


@dataclasses.dataclass(frozen=True)
class CheckResult(RunResult):
    """What the checker has found in a run: reports; of so many launches; whether its time was up before its end; whether it was
    looked at to its end (complete), which a program is not that crashed, or was not built for the checker.

    True where all was looked at and nothing was found.
    """

    reports: list[Report]
    launches: int
    out_of_time: bool
    complete: bool

    def __bool__(self) -> bool:
        return self.complete and not self.out_of_time and not self.reports


@dataclasses.dataclass(frozen=True)
class KernelCounts:
    """What a kernel did in all its launches.

    name; launches; grid: of the largest one; block
    lines: a dict for each line that did something: "file", "line", "requests", "sectors" and "ideal_sectors" of 32 bytes,
    "wavefronts" and "ideal_wavefronts" of shared memory, "flops", "active_lanes" of a warp, …
    bound: what holds it on the card, as far as it is known: "seconds", "bottleneck", "intensity", "occupancy", …
    """

    name: str
    launches: int
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    lines: list[dict]
    bound: dict

    def line(self, number: int, file: str | None = None) -> dict:
        """The counts of a line. Raises KeyError where it did nothing; file: the end of its path, where several have such a line."""
        for one in self.lines:
            if one["line"] == number and (file is None or one["file"].endswith(file)):
                return one
        raise KeyError(f"kernel {self.name} has no counts of line {number}" + (f" of {file}" if file else ""))


@dataclasses.dataclass(frozen=True)
class ProfileResult(RunResult):
    """What was counted in a run: kernels, and for which card their bounds are; whether to its end (complete)."""

    kernels: list[KernelCounts]
    card: str
    complete: bool


def build(
    sources: Sources,
    output: str | os.PathLike,
    *,
    define: Sequence[str] = (),
    include: Sequence[str | os.PathLike] = (),
    std: str | None = None,
    checked: bool = False,
) -> pathlib.Path:
    """Builds a program that runs on the processor, and returns its file.

    define: macros, "NAME" or "NAME=VALUE"; include: folders of headers; std: "c++17" and so on
    checked: for check(), which takes the file as it takes sources
    Raises BuildError, FileNotFoundError.
    """
    with _files(sources) as files:
        words = [*files, *_build_words(define, include, std), *["--checked"] * checked, "-o", output]
        done = _call("build", words, [])
    if done.returncode != 0:
        raise BuildError(done.stderr.strip())
    return pathlib.Path(output)


def run(sources: Sources, arguments: Sequence[object] = (), **options) -> RunResult:
    """Builds a program, runs it on the processor, and returns how it ended.

    arguments: of the program
    options: define, include, std, as build() has them; schedule: "forward", "reverse", "random", the order of blocks and threads;
    seed: of the random one; workers: threads that run blocks, 0: one for each core; limit: seconds, None: no limit
    Raises BuildError, FileNotFoundError.
    """
    with _files(sources) as files:
        done = _call("run", [*files, *_run_words(options)], arguments)
    return RunResult(done.returncode, done.stdout, done.stderr)


def check(sources: Sources, arguments: Sequence[object] = (), *, suppress: str | os.PathLike | None = None, **options) -> CheckResult:
    """Builds a program, runs it, and returns the mistakes of its kernels and of its calls.

    suppress: a file of reports that are not wanted; arguments, options: as of run()
    Raises BuildError, FileNotFoundError.
    """
    if suppress is not None:
        _require_file(suppress)
    with _files(sources) as files:
        more = ["--suppress", suppress] if suppress is not None else []
        text, found, messages = _json_of("check", [*files, *_run_words(options), *more], arguments)
    reports = [_report_of(one) for one in found["reports"]]
    return CheckResult(found["exit_code"], text, messages, reports, found["launches"], found["out_of_time"], found["complete"])


def profile(
    sources: Sources, arguments: Sequence[object] = (), *, card: str = "H100", html: str | os.PathLike | None = None, **options
) -> ProfileResult:
    """Builds a program, runs it, and returns what its kernels ask of a GPU, line by line.

    card: which one the bounds are for; html: a page to write, the source with the counters beside each line
    arguments, options: as of run()
    Raises BuildError, FileNotFoundError, ValueError for a card that is not known.
    """
    with _files(sources) as files:
        more = ["--card", card, *(["--html", html] if html is not None else [])]
        text, found, messages = _json_of("profile", [*files, *_run_words(options), *more], arguments)
    kernels = [
        KernelCounts(k["kernel"], k["launches"], tuple(k["grid"]), tuple(k["block"]), k["lines"], k["bound"]) for k in found["kernels"]
    ]
    return ProfileResult(found["exit_code"], text, messages, kernels, found["card"], found["complete"])


@contextmanager
def _files(sources: Sources) -> Iterator[list]:
    """The files that are meant: a text becomes one for as long as it is needed."""
    if isinstance(sources, str) and "\n" in sources:
        with tempfile.TemporaryDirectory(prefix=_FOLDER) as folder:
            file = pathlib.Path(folder, "source.cu")
            file.write_text(sources, encoding="utf-8")
            yield [file]
        return
    files = [sources] if isinstance(sources, (str, os.PathLike)) else list(sources)
    for file in files:
        _require_file(file)
    yield files


def _require_file(file: str | os.PathLike) -> None:
    if not os.path.exists(file):
        raise FileNotFoundError(f"{os.fspath(file)}: there is no such file")


def _build_words(define: Sequence[str], include: Sequence[str | os.PathLike], std: str | None) -> list:
    return [*(f"-D{one}" for one in define), *(f"-I{os.fspath(one)}" for one in include), *(["--std", std] if std else [])]


def _run_words(options: dict) -> list:
    known = {"define": (), "include": (), "std": None, "schedule": "forward", "seed": None, "workers": 0, "limit": 600}
    if unknown := set(options) - set(known):
        raise TypeError(f"there is no option {', '.join(sorted(unknown))}; known are {', '.join(known)}")
    o = known | options
    words = [*_build_words(o["define"], o["include"], o["std"]), "--workers", o["workers"]]
    words += ["--seed", o["seed"]] if o["seed"] is not None else ["--schedule", o["schedule"]]
    return words + (["--no-limit"] if o["limit"] is None else ["--limit", o["limit"]])


def _call(command: str, words: list, arguments: Sequence[object]) -> subprocess.CompletedProcess:
    """Runs `treadle simt COMMAND`, and raises what it says of the call itself."""
    behind = ["--", *arguments] if arguments else []
    line = [str(program()), "simt", command, *(os.fspath(word) if isinstance(word, os.PathLike) else str(word) for word in [*words, *behind])]
    done = subprocess.run(line, capture_output=True, text=True, errors="replace", check=False)
    said = [found[1] for found in re.finditer(r"^treadle(?: simt \w+)?: (.*)", done.stderr, re.MULTILINE)]
    if done.returncode == 2 and said:
        raise ValueError(said[-1])
    if done.returncode == 1 and said and not said[-1].startswith(_ABOUT_THE_PROGRAM):
        raise BuildError(done.stderr.strip())
    return done


def _json_of(command: str, words: list, arguments: Sequence[object]) -> tuple[str, dict, str]:
    """What the program wrote before the object on the last line, the object, and its messages."""
    done = _call(command, [*words, "--json"], arguments)
    done.stdout = re.sub(rf'"(?:[^"]*/)?{_FOLDER}[^/"]*/', '"', done.stdout)  # a text's file is called as it is, without its folder
    text = done.stdout.rstrip("\n")
    # The object is the longest that ends the text: before it stands what the program wrote, without an end of line where it
    # left none.
    for begin in (found.start() for found in re.finditer(r'\{"', text[text.rfind("\n") + 1 :])):
        place = text.rfind("\n") + 1 + begin
        try:
            return text[:place], json.loads(text[place:]), done.stderr
        except ValueError:
            continue
    raise BuildError(done.stderr.strip() or f"`treadle simt {command}` ended with {done.returncode}")


def _report_of(found: dict) -> Report:
    kernel = found["kernel"] if found["kernel"] != "-" else ""

    def place(before: str) -> Place:
        by = (tuple(found[f"{before}block"]), tuple(found[f"{before}thread"])) if kernel else (None, None)
        return Place(found[f"{before}file"], found[f"{before}line"], *by)

    words = {key: found[key] for key in ("kind", "message", "allocation", "offset", "bytes", "count", "launch")}
    return Report(**words, kernel=kernel, place=place(""), other=place("other_") if found.get("other_file") else None)
