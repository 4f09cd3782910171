"""What is declared of each program: programs.json and judged/."""

import dataclasses
import json
import pathlib

HERE = pathlib.Path(__file__).resolve().parent
RIGHT, WRONG, TOO_LARGE, NOT_BUILT = "right", "wrong", "too large", "not built"
STATES = (RIGHT, WRONG, TOO_LARGE, NOT_BUILT)  # too large: it is built, and not run


@dataclasses.dataclass(frozen=True)
class Judgement:
    """A report that was judged: kind, kernel, FILE:LINE, and why it is true."""
    kind: str
    kernel: str
    place: str
    reason: str


@dataclasses.dataclass(frozen=True)
class Program:
    name: str
    sources: list
    arguments: str
    expect: str  # a regular expression
    ignore: str = None  # another: what looks like a failure and is meant so
    flags: list = dataclasses.field(default_factory=list)
    inputs: list = dataclasses.field(default_factory=list)  # names in inputs.py
    state: str = RIGHT
    reason: str = ""  # why it is not right
    verdict: str = ""  # what makes it right, where neither it nor verdicts.py compares
    minutes: int = None  # that its run takes on two processors, where that is long: only --long runs it
    check_arguments: str = None  # under the checker, where those of the run take long
    check_seconds: int = None  # for which it runs under the checker, where it would take long in any case

    def __post_init__(self):
        assert self.state in STATES and (self.state == RIGHT) == (not self.reason), self.name

    @property
    def judgement_file(self):
        """None where nothing is reported."""
        file = HERE / "judged" / f"{self.name}.txt"
        return file if file.is_file() else None

    @property
    def judgements(self):
        return read_judgements(self.judgement_file) if self.judgement_file else []


def is_left_out(program, long):
    """Whether a program that was built is not run: it is too large, or takes long and that was not asked for."""
    return program.state == TOO_LARGE or bool(program.minutes and not long)


def programs():
    """By name."""
    entries = json.loads((HERE / "programs.json").read_text(encoding="utf-8"))
    return {name: Program(name=name, **entry) for name, entry in entries.items()}


def read_judgements(file):
    judgements = []
    for line in file.read_text(encoding="utf-8").splitlines():
        said, _, reason = line.partition("#")
        if not said.strip():
            continue
        kind, *kernel, place = said.split()
        judgements.append(Judgement(kind, " ".join(kernel), place, reason.strip()))
    return judgements
