"""Results of programs that compare theirs with nothing, computed again in another way.

A function has its program's name. It gets the Run and returns what is wrong, or an empty text; the first line of its comment is
what the table says.
"""

import dataclasses
import itertools
import math
import pathlib
import re
import struct
import typing


@dataclasses.dataclass(frozen=True)
class Run:
    sources: pathlib.Path  # the program's folder
    room: pathlib.Path  # where it ran
    text: str  # what it wrote
    again: typing.Callable  # runs it with other arguments


def of(name):
    """The function for a program; None where it has none."""
    found = globals().get(re.sub(r"\W", "_", name))
    return found if callable(found) and found.__module__ == __name__ and found not in (Run, of) else None


def bsw(run):
    """scores and ends of the alignments, by Smith and Waterman's recurrences"""
    source = (run.sources / "main.cu").read_text(encoding="utf-8")
    numbers = [int(n) for n in re.search(r"scores_matrix\[\] = \{([^}]*)\}", source)[1].split(",")]
    letters = "ARNDCQEGHILKMFPSTWYVBZX"
    score = {a + b: numbers[24 * i + j] for i, a in enumerate(letters) for j, b in enumerate(letters)}
    read = [[line for line in (run.room / f"{name}.fasta").read_text().split() if line[0] != ">"] for name in ("reference", "query")]
    for number, (line, a, b) in enumerate(zip((run.room / "out.txt").read_text().splitlines(), *read)):
        best, ends = local_alignment(a, b, score, -6, -1)
        found = [int(n) for n in line.split()]
        if found[0] != best or (found[2] + 1, found[4] + 1) not in ends:
            return f"alignment {number} has score {found[0]}, ends {found[2]} and {found[4]}; {best} and {ends} were computed"
    return ""


def local_alignment(a, b, score, start, extend):
    """The best score, and all pairs of ends that have it."""
    best, ends = 0, set()
    above, gaps_above = [0] * (len(b) + 1), [-10**6] * (len(b) + 1)
    for i, x in enumerate(a, 1):
        row, gap = [0], -10**6
        for j, y in enumerate(b, 1):
            gap = max(gap + extend, row[-1] + start)
            gaps_above[j] = max(gaps_above[j] + extend, above[j] + start)
            row.append(max(0, gap, gaps_above[j], above[j - 1] + score[x + y]))
            if row[-1] > best:
                best, ends = row[-1], set()
            if row[-1] == best:
                ends.add((i, j))
        above = row
    return best, ends


def clenergy(run):
    """the potential at four of the places that it prints, of the same atoms"""
    draws = rand(2)
    atoms = [(76.8 * next(draws), 76.8 * next(draws), 0.1 * next(draws), 2 * next(draws) - 1) for _ in range(1_000_000)]
    printed = {int(place): float(value) for place, value in re.findall(r"\[(\d+)\] (\S+)", run.text)}
    for i, j in itertools.product((0, 7), repeat=2):
        expected = sum(q / math.sqrt((0.1 * i - x)**2 + (0.1 * j - y)**2 + z * z) for x, y, z, q in atoms)
        # A million terms in f32, of partial sums up to some hundreds: 2^-24 of those, and its square root.
        if not abs(printed[768 * j + i] - expected) <= 0.5:
            return f"the potential at {i}, {j} is {printed[768 * j + i]}; {expected} was computed"
    return ""


def rand(seed):
    """The GNU C library's rand() after srand(seed), as shares of RAND_MAX."""
    state = [seed]
    for _ in range(30):
        state.append(16807 * state[-1] % 2147483647)
    state += state[:3]
    while True:
        state.append((state[-31] + state[-3]) % 2**32)
        if len(state) > 344:
            yield (state[-1] >> 1) / 2147483647
        if len(state) > 100000:
            state = [*[0] * 344, *state[-31:]]


def divergence(run):
    """errors of the device's divergence against the exact one, as those of the host's"""
    pairs = [[float(word) for word in line.split()] for line in run.text.splitlines() if re.fullmatch(r"\S+    \S+", line.strip())]
    pairs = [pair for pair in pairs if len(pair) == 2] if pairs else []
    if len(pairs) < 16:
        return "no errors are printed"
    worst = max(abs(device) - abs(host) for host, device in pairs)
    return f"an error is larger by {worst}" if worst > 1e-15 else ""


def feynman_kac(run):
    """the distance from the exact solution (RMS), which a thousand walks from each point keep below 0.03"""
    # A walk's result has a deviation of 0.3 at most, which leaves 0.01; steps over the border leave as much.
    return "" if float(re.search(r"RMS absolute error in solution = (\S+)", run.text)[1]) < 0.03 else "the solution is off"


def henry(run):
    """the mean of the Boltzmann factors at the first 4,096 of the 262,144 points, within five standard errors"""
    values = (run.room / "crystal.cssr").read_text().splitlines()
    side = float(values[0].split()[0])
    epsilon = {"Zn": 96.152688, "O": 66.884614, "C": 88.480032, "H": 57.276566}
    sigma = {"Zn": 3.095775, "O": 3.424075, "C": 3.580425, "H": 3.150565}
    atoms = [(epsilon[w[1]], sigma[w[1]], *(side * float(x) for x in w[2:5])) for w in map(str.split, values[4:])]
    factors = [boltzmann_factor(seed * 64, atoms, side) for seed in range(4096)]
    mean = sum(factors) / len(factors)
    error = math.sqrt(sum((f - mean)**2 for f in factors)) / len(factors)
    found = float(re.search(r"Henry constant = (\S+)", run.text)[1]) * 8.314 * 298
    return f"{found} is not {mean} ± {error}" if not abs(found - mean) <= 5 * error else ""


def boltzmann_factor(seed, atoms, side):
    """Of methane at a point of the program's random sequence; images as the program takes them."""
    def draw():
        nonlocal seed
        seed = (2806196910506780709 * seed + 1) % 2**63
        return side * seed / 2**63
    point, half, energy = [draw(), draw(), draw()], side / 2, 0.0
    for epsilon, sigma, *atom in atoms:
        dx, dy, dz = (p - a for p, a in zip(point, atom))
        for _ in range(2):
            dx -= side if dx > half else 0
        dy -= side if dy > half else 0
        dy -= side if dy <= -half else 0
        for _ in range(2):
            dz -= side if dz <= -half else 0
        six = (sigma**2 / (dx * dx + dy * dy + dz * dz))**3
        energy += 4 * epsilon * (six * six - six)
    return math.exp(-energy / (8.314 * 298))


def heat(run):
    """the distance from the exact solution (L2), which an explicit step of this size keeps below 1e-6"""
    return "" if float(re.search(r"Error \(L2norm\): (\S+)", run.text)[1]) < 1e-6 else "the solution is off"


def lr(run):
    """the line that the host fits, coefficients and all"""
    lines = re.findall(r"Equation: (.*)", run.text)
    return "" if len(lines) == 2 and lines[0] == lines[1] else f"{lines} differ"


def mpc(run):
    """its own decompression, which gives the input's bytes"""
    run.again("compression.txt")
    same = (run.room / "decompression.txt").read_bytes() == (run.room / "doubles.bin").read_bytes()
    return "" if same else "what was compressed is another file after decompression"


def mriQ(run):
    """Q at every pixel, summed in double precision"""
    data = (run.room / "trajectory.bin").read_bytes()
    samples, pixels = struct.unpack_from("<ii", data)
    numbers = struct.unpack_from(f"<{5 * samples + 3 * pixels}f", data, 8)
    parts = iter(numbers)
    kx, ky, kz, x, y, z, phi_r, phi_i = (list(itertools.islice(parts, n)) for n in [samples] * 3 + [pixels] * 3 + [samples] * 2)
    out = (run.room / "out.bin").read_bytes()
    found = struct.unpack_from(f"<{2 * pixels}f", out, len(out) - 8 * pixels)
    magnitudes = [r * r + i * i for r, i in zip(phi_r, phi_i)]
    # Each angle of up to 20 is rounded to float (2e-6), each of the 64 terms is a magnitude of at most 2.
    bound = 64 * 2 * 4e-6
    for pixel in range(pixels):
        angles = [2 * math.pi * (a * x[pixel] + b * y[pixel] + c * z[pixel]) for a, b, c in zip(kx, ky, kz)]
        for wave, got in ((math.cos, found[pixel]), (math.sin, found[pixels + pixel])):
            exact = sum(m * wave(angle) for m, angle in zip(magnitudes, angles))
            if not abs(got - exact) <= bound:
                return f"Q at pixel {pixel} is {got}, {exact} was computed"
    return ""


def nms(run):
    """for one box in 16, whether an overlapping one of higher score suppresses it"""
    def boxes(name):
        return [tuple(float(w) for w in line.split(",")) for line in (run.room / name).read_text().split()]
    given = boxes("detections.txt")
    ranked = sorted(given, key=lambda box: -box[3])

    def is_kept(box):
        x, y, w, score = box
        for other in ranked:
            if other[3] <= score:
                return True
            ox, oy, ow, _ = other
            across = min(x + w, ox + ow) - max(x, ox) + 1
            down = min(y + w, oy + ow) - max(y, oy) + 1
            if max(0, across) * max(0, down) / (ow + 1)**2 >= 0.3:
                return False
        return True
    kept = boxes("out.txt")
    wrong = [box for box in given[::16] if is_kept(box) != (box in kept)]
    return f"{wrong} are kept, or not" if wrong else ""


def pathfinder(run):
    """the least sum of each column, row after row"""
    rows = [[int(n) for n in line.split()] for line in run.text.splitlines() if re.fullmatch(r"(\d+ )+", line)]
    *wall, first, found = rows
    sums = wall[0]
    for row in wall[1:]:
        padded = [math.inf, *sums, math.inf]
        sums = [value + min(padded[i:i + 3]) for i, value in enumerate(row)]
    return "" if first == wall[0] and found == sums else "a sum differs"


def rsmt(run):
    """the tree's length lies between half the nets' perimeters and their minimum spanning trees"""
    lines = (run.room / "nets.gr").read_text().splitlines()
    low = high = 0
    at = next(i for i, line in enumerate(lines) if line.startswith("num net")) + 1
    for _ in range(50):
        count = int(lines[at].split()[2])
        # Pins lie in tiles of 10 by 10, those in the same tile are one.
        tiles = {tuple(int(v) // 10 for v in line.split()[:2]) for line in lines[at + 1:at + 1 + count]}
        xs, ys = zip(*tiles)
        low += max(xs) - min(xs) + max(ys) - min(ys)
        high += spanning_tree(list(tiles))
        at += 1 + count
    found = int(re.search(r"total wirelength: (\d+)", run.text)[1])
    return "" if low <= found <= high else f"{found} is not within {low} and {high}"


def spanning_tree(points):
    """The length of the minimum one, by sums of coordinate differences (Prim)."""
    far = {point: abs(point[0] - points[0][0]) + abs(point[1] - points[0][1]) for point in points[1:]}
    total = 0
    while far:
        near = min(far, key=far.get)
        total += far.pop(near)
        for point in far:
            far[point] = min(far[point], abs(point[0] - near[0]) + abs(point[1] - near[1]))
    return total


def vmc(run):
    """the mean distances of the trial wave function, integrated over both radii and the distance between them"""
    steps, far = 60, 6.0
    norm, means = 0.0, {"r1": 0.0, "r2": 0.0, "r12": 0.0}
    radii = [far * (i + 0.5) / steps for i in range(steps)]
    for r1, r2 in itertools.product(radii, radii):
        for part in range(20):
            r12 = abs(r1 - r2) + (part + 0.5) / 20 * 2 * min(r1, r2)
            density = ((1 + r12 / 2) * math.exp(-2 * (r1 + r2)))**2 * r1 * r2 * r12 * min(r1, r2)
            norm += density
            for name, value in (("r1", r1), ("r2", r2), ("r12", r12)):
                means[name] += density * value
    found = {name: float(value) for name, value in re.findall(r"<(r\d+)>\s+= (\S+)", run.text)}
    # A sample of some ten thousand walkers is off by less than a hundredth.
    wrong = [name for name, mean in means.items() if not abs(found[name] - mean / norm) <= 0.01]
    return f"{wrong}: {found} against {[mean / norm for mean in means.values()]}" if wrong else ""
