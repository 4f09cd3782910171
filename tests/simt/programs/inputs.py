"""Small input files for programs whose own data is not at hand, by name: each the same in every run."""

import random
import struct


LETTERS = "ARNDCQEGHILKMFPSTWYV"


def queries():
    draw = random.Random(2)
    return ["".join(draw.choice(LETTERS) for _ in range(64)) for _ in range(16)]


def references():
    """Each ends with its query, some letters in the middle exchanged: the best alignment is of the whole query, and the block's
    warps are whole in both directions. Of others the program's shuffles are by lanes outside of their mask."""
    draw = random.Random(1)
    result = []
    for query in queries():
        changed = list(query)
        for at in draw.sample(range(12, 52), 10):
            changed[at] = draw.choice(LETTERS)
        result.append("".join(draw.choice(LETTERS) for _ in range(64)) + "".join(changed))
    return result


def fasta(sequences):
    return "".join(f">{i}\n{sequence}\n" for i, sequence in enumerate(sequences)).encode()


def points_around_centres():
    """Near enough to their centre that none is without neighbours within the program's radius, whose square is 60."""
    draw = random.Random(5)
    centres = [(0, 0, 0), (400, 0, 0), (0, 400, 400)]
    return "".join(",".join(f"{draw.gauss(c, 1.5):.4f}" for c in centres[i % 3]) + "\n" for i in range(10000)).encode()


def expressions():
    """Genes in three groups that rise and fall together in 24 samples."""
    draw = random.Random(6)
    rows = ["\t".join(["gene", *(f"s{j}" for j in range(24))])]
    base = [draw.uniform(-1, 1) for _ in range(24)]
    rows += ["\t".join([f"g{i}", *(f"{v * (1 + i % 3) + draw.gauss(0, 0.05):.4f}" for v in base)]) for i in range(40)]
    return ("\n".join(rows) + "\n").encode()


def crystal():
    draw = random.Random(7)
    atoms = [f"{i} {draw.choice(['Zn', 'O', 'C', 'H'])} {draw.random():.5f} {draw.random():.5f} {draw.random():.5f}" for i in range(20)]
    return ("\n".join(["25.832 25.832 25.832", "90 90 90", "20 0", "0 made"] + atoms) + "\n").encode()


def doubles():
    draw = random.Random(8)
    value, values = 0.0, []
    for _ in range(20000):
        value += draw.choice([0.5, -0.25, 0.125])
        values.append(value)
    return struct.pack(f"<{len(values)}d", *values)


def trajectory():
    draw = random.Random(9)
    samples, pixels = 64, 256
    numbers = [draw.uniform(-1, 1) for _ in range(5 * samples + 3 * pixels)]
    return struct.pack("<ii", samples, pixels) + struct.pack(f"<{len(numbers)}f", *numbers)


def nets():
    draw = random.Random(10)
    lines = ["grid 100 100 1", "vertical capacity 10", "horizontal capacity 10", "minimum width 1", "minimum spacing 1",
             "via spacing 1", "0 0 10 10", "num net 50"]
    for i in range(50):
        pins = [(draw.randrange(1000), draw.randrange(1000)) for _ in range(draw.randrange(2, 20))]
        lines += [f"n{i} {i} {len(pins)} 1"] + [f"{x} {y} 1" for x, y in pins]
    return ("\n".join(lines) + "\n0\n").encode()


def twisters(whole):
    """Parameters of 4096 Mersenne twisters: as the program's reference reads them, or as its kernel does."""
    draw = random.Random(11)
    records = []
    for _ in range(4096):
        matrix, mask_b, mask_c = draw.getrandbits(32), draw.getrandbits(32), draw.getrandbits(32)
        if whole:
            records.append(struct.pack("<I4i3I4i2Iii", matrix, 9, 19, 1, 32, 0xFFFFFFFF, 0xFFFFFFFE, 1, 12, 18, 7, 15, mask_b, mask_c, 0, 0))
        else:
            records.append(struct.pack("<4I", matrix, mask_b, mask_c, 0))
    return b"".join(records)


def temperatures():
    draw = random.Random(12)
    return "".join(f"{i % 400 / 10:.3f}\t{i % 400 / 20 + draw.gauss(3, 1):.3f}\n" for i in range(96453)).encode()


MADE = {
    "reference.fasta": lambda: fasta(references()),
    "query.fasta": lambda: fasta(queries()),
    "points.csv": points_around_centres,
    "centres.csv": lambda: b"0,0,0\n400,0,0\n0,400,400\n",
    "expressions.txt": expressions,
    "crystal.cssr": crystal,
    "doubles.bin": doubles,
    "trajectory.bin": trajectory,
    "nets.gr": nets,
    "data/MersenneTwister.dat": lambda: twisters(False),
    "data/MersenneTwister.raw": lambda: twisters(True),
    "../lr-sycl/assets/temperature.txt": temperatures,
}
