"""Turns measurements into the rows of the table, and puts the table into a document."""

import statistics
from dataclasses import dataclass

from cells import DENSE_OPERATIONS
from contenders import PYTORCH


class NoMarkers(Exception):
    pass


@dataclass
class Row:
    cell: str
    treadle: str = "–"
    reference: str = "–"
    which: str = ""
    ratio: str = "–"
    rounds: str = "–"
    goal: str = "–"
    met: str = "–"


TEXT, FIGURES = "---", "---:"  # what a column holds: figures stand at its right
COLUMNS = {
    "cell": TEXT, "Treadle": FIGURES, "reference": FIGURES, "which": TEXT,
    "ratio": FIGURES, "range over rounds": FIGURES, "goal": FIGURES, "met": TEXT,
}  # fmt: skip
MEDIAN, FAST = "images_per_second_median", "images_per_second_p90"


def yes(met):
    return "yes" if met else "**no**"


def median_of(results, key):
    return statistics.median(result[key] for result in results)


def speed_text(results):
    unit = "windows" if results[0].get("unit") == "windows" else "img"
    text = f"{median_of(results, MEDIAN):,.0f} / {median_of(results, FAST):,.0f} {unit}/s"
    if results[0]["batch"] == 1:
        text += f", {1e6 * median_of(results, 'step_seconds_median'):,.0f} µs"
    return text


def best(contenders, results, key):
    """Returns the contender whose median over the rounds is the highest."""
    return max(contenders, key=lambda contender: median_of(results[contender], key))


def round_ratios(ours, theirs):
    ratios = [a[MEDIAN] / b[MEDIAN] for a, b in zip(ours, theirs)]
    return f"{min(ratios):.2f}–{max(ratios):.2f}×"


def against_contenders(name, goal, candidates, ours, results):
    """A row against the best of some configurations; median and p10 may have different best ones."""
    peer, fast_peer = (best(candidates, results, key) for key in (MEDIAN, FAST))
    ratio = median_of(ours, MEDIAN) / median_of(results[peer], MEDIAN)
    fast_ratio = median_of(ours, FAST) / median_of(results[fast_peer], FAST)
    return Row(
        name,
        speed_text(ours),
        speed_text(results[peer]),
        f"{peer.library}: {peer.name}",
        f"{ratio:.2f}× / {fast_ratio:.2f}×",
        round_ratios(ours, results[peer]),
        str(goal) if goal else "–",
        (yes(goal.met(ratio)) + (" (p10: yes)" if goal.met(fast_ratio) and not goal.met(ratio) else ""))
        if goal
        else "–",
    )


def against_roofline(name, goal, cell, ours, peak):
    limit = peak / DENSE_OPERATIONS[cell.model]
    ratio, fast = median_of(ours, MEDIAN) / limit, median_of(ours, FAST) / limit
    which = f"dense at {peak / 1e9:,.0f} GF/s"
    met = yes(goal.met(ratio))
    return Row(name, speed_text(ours), f"{limit:,.0f} img/s", which, f"{ratio:.2f}× / {fast:.2f}×", "–", str(goal), met)


def against_memory(name, goal, ours, results, peers):
    memory = {c: min(r["peak_memory_bytes"] for r in results[c]) for c in peers}
    peer = min(peers, key=memory.get)
    own = max(result["peak_memory_bytes"] for result in ours)
    ratio = own / memory[peer]
    texts = f"{own / 2**20:,.0f} MiB", f"{memory[peer] / 2**20:,.0f} MiB"
    return Row(name, *texts, f"{peer.library}: {peer.name}", f"{ratio:.2f}×", "–", str(goal), yes(goal.met(ratio)))


def step_rows(cell, results, peak):
    """Returns the rows of a step cell; results: contender -> one result for each round, Treadle first."""
    treadle, *peers = results
    ours = results[treadle]
    libraries = list(dict.fromkeys(peer.library for peer in peers))
    rows, seen = [], set()
    for goal in cell.goals:
        name = cell.name if not rows else f"{cell.name}, {goal.reference}"
        seen.add(goal.reference)
        if goal.reference in libraries:
            candidates = [peer for peer in peers if peer.library == goal.reference]
            rows.append(against_contenders(name, goal, candidates, ours, results))
        elif goal.reference in PYTORCH and PYTORCH[goal.reference] in peers:
            rows.append(against_contenders(name, goal, [PYTORCH[goal.reference]], ours, results))
        elif goal.reference == "dense roofline" and peak:
            rows.append(against_roofline(name, goal, cell, ours, peak))
        elif goal.reference == "memory":
            rows.append(against_memory(name, goal, ours, results, [p for p in peers if p.library == "PyTorch"]))
    for library in libraries:
        if library not in seen:
            candidates = [peer for peer in peers if peer.library == library]
            rows.append(against_contenders(f"{cell.name}, {library}", None, candidates, ours, results))
    return rows


def recipe_row(cell, pairs):
    """Returns the row of a recipe; pairs: (program's result, PyTorch's result) for each round."""
    goal = cell.goals[0]
    ours, theirs = ([pair[i]["process_seconds"] for pair in pairs] for i in (0, 1))
    accuracy = [statistics.mean(pair[i]["test_accuracy"] for pair in pairs) for i in (0, 1)]
    ratio = statistics.median(theirs) / statistics.median(ours)
    ratios = [b / a for a, b in zip(ours, theirs)]
    reached = accuracy[0] >= cell.accuracy
    return Row(
        cell.name,
        f"{statistics.median(ours):.1f} s, {accuracy[0]:.2%}",
        f"{statistics.median(theirs):.1f} s, {accuracy[1]:.2%}",
        "PyTorch: channels_last, tuned; same recipe",
        f"{ratio:.2f}×",
        f"{min(ratios):.2f}–{max(ratios):.2f}×",
        f"{goal}, accuracy ≥ {cell.accuracy:.1%}",
        yes(goal.met(ratio) and reached) + ("" if reached else " (accuracy)"),
    )


def ratio_row(name, goal, pairs, which, unit="img/s"):
    """A row of one figure beside another; pairs: (ours, the reference's) for each round."""
    ratios = [ours / theirs for ours, theirs in pairs]
    ours, theirs = (statistics.median(pair[i] for pair in pairs) for i in (0, 1))
    spread = f"{min(ratios):.2f}–{max(ratios):.2f}×"
    texts = f"{ours:,.0f} {unit}", f"{theirs:,.0f} {unit}"
    return Row(name, *texts, which, f"{ours / theirs:.2f}×", spread, str(goal), yes(goal.met(ours / theirs)))


def run_rows(cell, rounds):
    """rounds: images per second of the training, of PyTorch's, and of the program's own steps."""
    peer, own = cell.goals
    return [
        ratio_row(cell.name, peer, [(ours, theirs) for ours, theirs, _ in rounds], "PyTorch: channels_last, tuned; same training"),
        ratio_row(f"{cell.name}, own steps", own, [(ours, steps) for ours, _, steps in rounds], "`bench step` from its end"),
    ]


def long_rows(cell, rounds):
    """rounds: images per second in each tenth of the steps."""
    which = f"first tenth of {cell.steps:,} steps; slowest tenth at the left"
    return [ratio_row(cell.name, cell.goals[0], [(min(tenths), tenths[0]) for tenths in rounds], which)]


def busy_rows(cell, rounds):
    """rounds: images per second alone, and beside a busy process."""
    return [ratio_row(cell.name, cell.goals[0], [(busy, alone) for alone, busy in rounds], "the same alone")]


def arena_row(cell, arena, eager):
    goal, ratio = cell.goals[0], arena / eager
    texts = f"{arena / 2**20:.1f} MiB", f"{eager / 2**20:.1f} MiB"
    return Row(cell.name, *texts, "Treadle op by op", f"{ratio:.2f}×", "–", str(goal), yes(goal.met(ratio)))


def absent_row(cell, reason):
    return Row(cell.name, goal=str(cell.goals[0]), met=reason)


def markdown_table(columns, rows):
    """columns: name -> what it holds; rows: the texts of each."""
    return "\n".join("| " + " | ".join(line) + " |" for line in [columns, columns.values(), *rows])


def table_of(rows):
    return "\n".join([*head_lines(), *(line_of(row) for row in rows)])


def between_markers(path, name):
    """Returns what stands between the markers of a table in a document."""
    _, _, rest = path.read_text().partition(f"<!-- table: {name} -->")
    return rest.partition("<!-- /table -->")[0].strip()


def merged_table(earlier, rows, cells, conditions):
    """Returns a table in which the rows of the cells measured now stand in place of theirs, or at the end; what is said
    below the table of earlier ones stays, and that of these follows."""
    lines = earlier.split("\n")
    table = [line for line in lines if line.startswith("| ")][2:]
    said = [left for line in lines if not line.startswith("| ") and (left := without_cells(line, cells))] if table else []
    name_of = lambda line: line[2:].partition(" |")[0]
    merged, missing = [], {name: [row for row in rows if row_belongs(row.cell, name)] for name in cells}
    for line in table:
        owner = next((name for name in cells if row_belongs(name_of(line), name)), None)
        merged += [line] if owner is None else [line_of(row) for row in missing.pop(owner, [])]
    merged += [line_of(row) for left in missing.values() for row in left]
    return "\n".join([*head_lines(), *merged]) + "\n\n" + "\n\n".join([*said, f"Of these {', '.join(cells)}: {conditions}"] if table else [conditions])


def without_cells(line, cells):
    """Returns what is said of earlier cells without those that are measured again; nothing, if it was of these alone."""
    if not line.startswith("Of these "):
        return line
    names, _, conditions = line.removeprefix("Of these ").partition(": ")
    left = [name for name in names.split(", ") if name not in cells]
    return f"Of these {', '.join(left)}: {conditions}" if left else ""


def row_belongs(row, cell):
    return row == cell or row.startswith(f"{cell}, ")


def line_of(row):
    return "| " + " | ".join(vars(row).values()) + " |"


def head_lines():
    return [f"| {' | '.join(line)} |" for line in (COLUMNS, COLUMNS.values())]


def require_markers(path, names):
    """Throws NoMarkers unless a document has them all: better before what is to stand there is measured than after."""
    document = path.read_text()
    if missing := [name for name in names if f"<!-- table: {name} -->" not in document]:
        raise NoMarkers(f"{path} lacks the markers <!-- table: {' -->, <!-- table: '.join(missing)} -->.")


def write_between_markers(path, name, text):
    """Replaces what stands between the markers of a table in a document."""
    start, end = f"<!-- table: {name} -->", "<!-- /table -->"
    document = path.read_text()
    before, marker, rest = document.partition(start)
    _, closing, after = rest.partition(end)
    if not marker or not closing:
        raise NoMarkers(f"{path} lacks the markers {start} and {end}.")
    path.write_text(f"{before}{start}\n{text}\n{end}{after}")
