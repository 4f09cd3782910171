"""The machine under measurement: whether it is idle, who disturbs it, and what it is."""

import os
import platform
import re
import resource
import sys
import time
from pathlib import Path

BUSY_LIMIT = 0.10


def cpu_ticks():
    """Returns (busy, all) processor ticks since boot; time that a hypervisor took away counts as busy."""
    ticks = [int(field) for field in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    return sum(ticks) - ticks[3] - ticks[4], sum(ticks)


def busy_share(seconds=1.0):
    """Returns the share of processor time in use during the next seconds."""
    busy, total = cpu_ticks()
    time.sleep(seconds)
    later_busy, later_total = cpu_ticks()
    return (later_busy - busy) / max(1, later_total - total)


def wait_until_idle(limit):
    """Waits up to limit seconds for an idle machine; returns whether it is."""
    deadline = time.monotonic() + limit
    while True:
        busy = busy_share()
        if busy < BUSY_LIMIT:
            return True
        if time.monotonic() >= deadline:
            print(f"The machine is still {busy:.0%} busy after {limit} s: figures will be off.", file=sys.stderr)
            return False


def children_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def watch(run):
    """Calls run and returns (its result, the share of processor time that other processes used meanwhile)."""
    busy, total = cpu_ticks()
    own = children_seconds()
    result = run()
    later_busy, later_total = cpu_ticks()
    own_ticks = (children_seconds() - own) * os.sysconf("SC_CLK_TCK")
    return result, max(0.0, later_busy - busy - own_ticks) / max(1, later_total - total)


class Turns:
    """Contenders one after the other, each on an idle machine, and how many of these runs others disturbed."""

    def __init__(self, gate):
        """gate: the longest wait before each, in seconds."""
        self.gate, self.runs, self.disturbed = gate, 0, 0

    def run(self, run, name, summary=lambda result: ""):
        """Calls run and returns its result; the name, and what summary says of the result, are for stderr."""
        idle = wait_until_idle(self.gate)
        result, others = watch(run)
        self.runs += 1
        self.disturbed += not idle or others >= BUSY_LIMIT
        print(f"{name}: {summary(result)}others used {others:.0%} of the machine", file=sys.stderr)
        return result

    def describe(self):
        return f"runs disturbed by other processes: {self.disturbed} of {self.runs}"


def first_match(pattern, path):
    match = re.search(pattern, Path(path).read_text())
    return match.group(1) if match else ""


def cache_sizes():
    """Returns the first core's data caches, nearest first, such as "32K + 512K + 32768K"."""
    sizes = []
    for index in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        if (index / "type").read_text().strip() != "Instruction":
            sizes.append((index / "size").read_text().strip())
    return " + ".join(sizes)


def flags():
    return first_match(r"flags\s*:\s*(.+)", "/proc/cpuinfo").split()


# What holds Treadle, oneDNN, PyTorch and MKL back to AVX2. ONNX Runtime has no such setting. torch.compile goes by PyTorch's,
# but takes loops that it has kept for wider vectors and then indices out of bounds: they are kept apart.
AVX2_ONLY = {
    "TREADLE_SIMD": "avx2",
    "ONEDNN_MAX_CPU_ISA": "AVX2",
    "ATEN_CPU_CAPABILITY": "avx2",
    "MKL_ENABLE_INSTRUCTIONS": "AVX2",
    "TORCHINDUCTOR_CACHE_DIR": str(Path(__file__).resolve().parent / ".cache" / "torch-compile-avx2"),
}


def switch_off_avx512():
    """Has all processes that are started from now on compute as on a processor that has AVX2 and nothing wider."""
    if "avx2" not in flags():
        raise NoAvx2("this processor has no AVX2")
    os.environ.update(AVX2_ONLY)


class NoAvx2(Exception):
    pass


def is_held_back():
    return "avx512f" in flags() and AVX2_ONLY.items() <= os.environ.items()


def vectors():
    """Returns the widest vectors that programs use, which say which variants run."""
    if is_held_back():
        return "AVX2"
    return "AVX-512" if "avx512f" in flags() else "AVX2" if "avx2" in flags() else platform.machine()


def describe():
    """Returns one line: processor, cores, caches, memory, kernel."""
    model = first_match(r"model name\s*:\s*(.+)", "/proc/cpuinfo") or platform.machine()
    virtual = ", virtual machine" if "hypervisor" in flags() else ""
    width = "AVX2: AVX-512 is switched off, but for ONNX Runtime" if is_held_back() else vectors()
    memory = int(first_match(r"MemTotal:\s*(\d+) kB", "/proc/meminfo") or 0) / 2**20
    kernel = ".".join(platform.release().split(".")[:2])
    cores = len(os.sched_getaffinity(0))
    return (
        f"{model} ({width}{virtual}), {cores} cores, caches {cache_sizes() or 'unknown'}, {memory:.0f} GiB, "
        f"Linux {kernel}"
    )
