"""The table for docs/: a row for each program, and each report with what was judged of it."""

import collections

import declared
import verdicts

HEAD = """# CUDA programs of others

{count} programs of the collection [HeCBench](https://github.com/zjin-lcf/HeCBench), each built unchanged by `treadle simt build`, run
with small arguments, and run under `treadle simt check`: **{built} are built, {right} are right**, {wrong} wrong, {too_large} not run. Of {reported} programs the checker reports something, at {places} places ({reports}). Each report was judged by reading the
source at the lines that it names, and all are true; what they are follows below the table.

`tests/simt/programs/run --check --long --write docs/cuda-programs.md` does it all and writes this file; it takes the collection's folder by
`--programs`. Sources, flags and arguments are in `programs.json` beside it, made inputs in `inputs.py`, judgements in `judged/`.

A program is right when it ends with 0 and says so itself by comparing with a computation on the host, unless the table says
how else. Minutes are about those of two
processors, where a size is fixed and takes that long; `--long` runs these. The checker takes threads in their own order, with one worker; of programs whose fixed sizes take it long it sees the first
seconds.

"""


def summary(programs, long):
    built = [program for program in programs if program.state != declared.NOT_BUILT]
    states = collections.Counter(program.state for program in built if not declared.is_left_out(program, long))
    left_out = len(built) - states.total()
    return f"{len(built)} built, {states[declared.RIGHT]} right, {left_out} not run, all as declared"


def document(programs):
    programs = sorted(programs, key=lambda program: program.name)
    return head(programs) + rows(programs) + judgements(programs)


def head(programs):
    states = collections.Counter(program.state for program in programs)
    reported = [program for program in programs if program.judgements]
    kinds = collections.Counter(judgement.kind for program in reported for judgement in program.judgements)
    return HEAD.format(count=len(programs), built=len(programs) - states[declared.NOT_BUILT], right=states[declared.RIGHT],
                       wrong=states[declared.WRONG], too_large=states[declared.TOO_LARGE], reported=len(reported),
                       places=kinds.total(), reports=", ".join(f"{count} {kind}" for kind, count in kinds.most_common()))


def rows(programs):
    lines = ["| program | arguments | result | by what, or why not | reports |", "|---|---|---|---|---|"]
    for program in programs:
        kinds = collections.Counter(judgement.kind for judgement in program.judgements)
        reports = ", ".join(f"{count} × {kind}" for kind, count in kinds.items())
        if program.state != declared.NOT_BUILT:
            reports = reports or "none"
        if program.check_seconds:
            reports += f" in {program.check_seconds} s"
        lines.append(f"| {program.name} | {cell(program.arguments)} | {result(program)} | {cell(why(program))} | {reports} |")
    return "\n".join(lines) + "\n"


def result(program):
    return f"{program.state} ({program.minutes} min)" if program.minutes else program.state


def why(program):
    compare = verdicts.of(program.name)
    return program.reason or program.verdict or (f"computed again: {compare.__doc__.splitlines()[0]}" if compare else "")


def cell(text):
    return text.replace("|", "\\|")


def judgements(programs):
    lines = ["", "## What was reported", ""]
    for program in programs:
        if not program.judgements:
            continue
        lines += [f"**{program.name}**", ""]
        for j in program.judgements:
            where = f" in `{j.kernel}`" if j.kernel != "*" else ""
            lines.append(f"- {j.kind}{where}, `{j.place}`: {j.reason}")
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"
