"""Builds, runs and checks one program, and says in what it is not as declared."""

import json
import re
import subprocess

import declared
import inputs
import verdicts

FAILURE = re.compile(r"\bFAIL|^Error:|Validation failed|[Mm]ismatch|dismatch|wrong results|[Ii]ncorrect\b|treadle simt: |GPUassert|CUDA error",
                     re.MULTILINE)
OUT_OF_TIME = "out of time"  # declared of none
LENIENCE = 4  # slower than declared a machine may be


def run(options, work, program):
    built, word = build(options, work, program)
    if built and declared.is_left_out(program, options.long):
        return []
    if not built:
        state = declared.NOT_BUILT
    else:
        state, word = state_of_run(options, work, program)
    return [] if state == program.state else [f"{state}, though declared as {program.state}: {word}"]


def check(options, work, program):
    """Under the forward schedule with one worker, in which a run has the same reports each time."""
    built, word = build(options, work, program, checked=True)
    if not built:
        return [f"not built for the checker: {word}"]
    outcome, word = checked_run(options, work, program)
    if outcome is None:
        return [f"no report: {word}"]
    in_time = outcome["complete"] and (program.check_seconds or not outcome["out_of_time"])
    return ([f"reported and not judged: {sentence(report)}" for report in outcome["reports"]] +
            [f"judged and not reported: {place}" for place in outcome["unused_suppressions"]] +
            ([] if in_time else ["its time under the checker was up"]))


def checked_run(options, work, program):
    """What `treadle simt check --json` says; None with its messages where it says nothing."""
    limit = program.check_seconds or options.limit
    arguments = program.arguments if program.check_arguments is None else program.check_arguments
    suppressions = ["--suppress", str(program.judgement_file)] if program.judgement_file else []
    command = [str(options.program.resolve()), "simt", "check", str(executable(work, program, True)), "--json", "--workers", "1",
               "--limit", str(limit), *suppressions, "--", *arguments.split()]
    done = subprocess.run(command, cwd=room_of(options, work, program), capture_output=True, check=False)
    # A program that was ended leaves a line without its end before.
    found = re.search(r'\{"[^\n]*\}\s*$', done.stdout.decode(errors="replace"))
    if found:
        return json.loads(found.group()), ""
    return None, done.stderr.decode(errors="replace").strip()[-200:]


def sentence(report):
    places = [f"{report['file']}:{report['line']}"]
    if report.get("other_file"):
        places.append(f"{report['other_file']}:{report['other_line']}")
    return f"{report['kind']} in {report['kernel'] or 'the host program'} at {' and '.join(places)}: {report['message']}"


def executable(work, program, checked):
    return work / f"{program.name}.{'checked' if checked else 'plain'}"


def build(options, work, program, checked=False):
    """Whether it could be built, and the first error."""
    folder = options.programs / program.name
    command = [str(options.program), "simt", "build", *(str(folder / source) for source in program.sources), f"-I{folder}",
               *(flag.replace("-I./", f"-I{folder}/") for flag in program.flags), *(["--checked"] if checked else []),
               "-o", str(executable(work, program, checked))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode == 0, first_error(done.stdout + done.stderr)


def first_error(text):
    lines = [line for line in text.splitlines() if "error" in line or "not supported" in line]
    return re.sub(r"^\S*/", "", (lines or [""])[0])[:150]


def room_of(options, work, program):
    """A folder to run in, with the program's own files and those that are made for it."""
    room = work / program.name
    if room.is_dir():
        return room
    room.mkdir()
    for file in (options.programs / program.name).iterdir():
        (room / file.name).symlink_to(file)
    for file in program.inputs:
        (room / file).parent.mkdir(parents=True, exist_ok=True)
        (room / file).write_bytes(inputs.MADE[file]())
    return room


def state_of_run(options, work, program):
    room = room_of(options, work, program)
    limit = max(options.limit, (program.minutes or 0) * 60 * LENIENCE)

    def start(arguments):
        return subprocess.run([str(executable(work, program, False)), *arguments.split()], capture_output=True, cwd=room,
                              timeout=limit, check=False)
    try:
        done = start(program.arguments)
    except subprocess.TimeoutExpired:
        return OUT_OF_TIME, f"longer than {limit:.0f} s"
    text = (done.stdout + done.stderr).decode(errors="replace")
    if program.ignore:
        text = re.sub(program.ignore, "", text)
    problem = problem_of(done.returncode, text, program)
    compare = verdicts.of(program.name)
    if not problem and compare:
        problem = compare(verdicts.Run(options.programs / program.name, room, text, start))
    return (declared.WRONG, problem) if problem else (declared.RIGHT, "")


def problem_of(code, text, program):
    if code:
        return f"exit code {code}: {text.strip().splitlines()[-1][:150] if text.strip() else ''}"
    if failure := FAILURE.search(text):
        line = next(line for line in text.splitlines() if failure.group() in line)
        return line.strip()[:150]
    if not re.search(program.expect, text):
        return f"'{program.expect}' is not in its output"
    return ""
