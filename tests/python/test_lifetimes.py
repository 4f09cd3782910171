"""Who holds memory, for how long, and that nothing is left behind."""

import gc
import os
import pathlib
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest
import treadle as td

PAGE = 4096


def resident_bytes() -> int:
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * PAGE


class Owner(np.ndarray):
    """An array that can be watched."""


def watched(count=1000):
    array = np.arange(count, dtype="f").view(Owner)
    return array, weakref.ref(array)


def test_an_array_lives_as_long_as_tensors_over_it():
    array, alive = watched()
    x = td.from_numpy(array)
    view = x[10:20]
    del array, x
    gc.collect()
    assert alive() is not None and view.tolist() == list(range(10, 20))
    del view
    gc.collect()
    assert alive() is None


def test_a_gradient_graph_keeps_what_it_needs():
    array, alive = watched(3)
    w = td.tensor([1.0, 1.0, 1.0], requires_grad=True)
    y = (td.from_numpy(array) * w).sum()
    del array
    gc.collect()
    assert alive() is not None
    y.backward()
    assert w.grad.tolist() == [0, 1, 2]
    del y
    gc.collect()
    assert alive() is None


def test_a_tensor_is_freed_before_its_view_and_its_arrays():
    x = td.tensor(np.arange(1000, dtype="f"))
    view, array, buffer, given = x[5:8], x.numpy(), memoryview(x), np.from_dlpack(x)
    del x
    gc.collect()
    td.zeros(1000)  # takes the memory, if it was given back
    assert view.tolist() == [5, 6, 7] and array[7] == buffer[7] == given[7] == 7
    del array, buffer, given
    assert view.tolist() == [5, 6, 7]


def test_a_consumer_of_dlpack_outlives_the_producer():
    produced, alive = watched()
    consumed = td.from_dlpack(produced)
    del produced
    gc.collect()
    assert alive() is not None and consumed[999].item() == 999
    again = np.from_dlpack(consumed)
    del consumed
    gc.collect()
    assert alive() is not None and again[999] == 999
    del again
    gc.collect()
    assert alive() is None


def test_capsules_that_nobody_takes_give_back_what_they_hold():
    array, alive = watched()
    for version in (None, (1, 0)):
        capsule = td.from_numpy(array).__dlpack__(max_version=version)
        del capsule
    del array
    gc.collect()
    assert alive() is None


def test_a_buffer_survives_other_memory():
    layer = td.nn.Linear(3, 3, bias=False)
    buffer, before = memoryview(layer.weight), layer.weight.tolist()
    layer.to("float64")  # the same tensor over other memory
    others = [td.full((3, 3), 7.0) for _ in range(100)]  # which take the memory, if it was given back
    assert layer.weight.dtype == td.float64 and len(others) == 100
    assert buffer.tolist() == before


def test_memory_is_given_back_by_other_threads():
    array, alive = watched()
    box = [td.from_numpy(array)]
    del array
    thread = threading.Thread(target=box.clear)
    thread.start()
    thread.join()
    gc.collect()
    assert alive() is None


def test_tensors_at_the_end_of_the_program():
    code = "import numpy, treadle; x = treadle.from_numpy(numpy.zeros(3)); y = x.numpy(); treadle.kept = [x, y, x.__dlpack__()]"
    subprocess.run([sys.executable, "-c", code], check=True)


def small_calls(count: int) -> None:
    a, b = td.tensor([1.0, 2.0, 3.0, 4.0]), td.tensor([0.5, 0.5, 0.5, 0.5])
    w = td.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
    array = np.ones(4, "f")
    kinds = (
        lambda: a + b,
        lambda: a[1:3],
        lambda: a * 2.0,
        lambda: td.from_numpy(array),
        lambda: a.numpy(),
        lambda: (w * b).sum(),
        lambda: a.shape,
        lambda: np.from_dlpack(a),
        lambda: memoryview(a),
        lambda: a.reshape(2, 2),
    )
    for _ in range(count // len(kinds)):
        for call in kinds:
            call()


@pytest.mark.skipif("asan" in os.environ.get("LD_PRELOAD", ""), reason="the address sanitizer keeps what is freed for a while")
def test_a_million_small_calls_leave_nothing():
    small_calls(50_000)  # caches, free lists and the interpreter's pools have their size
    gc.collect()
    before = resident_bytes()
    small_calls(1_000_000)
    gc.collect()
    # The smallest that a call could leave is a Python object of 16 bytes; one kind in ten left alone is 100,000 of them.
    assert resident_bytes() - before < 100_000 * 16


@pytest.mark.parametrize("indexing", ["view", "array"])
def test_threads_compute_the_same(indexing):
    """Many threads at once, each with its own graph and shared operands."""
    shared = td.tensor(np.arange(256, dtype="f"))
    failures = []

    def work(seed: int) -> None:
        w = td.tensor(np.full(256, seed, "f"), requires_grad=True)
        for _ in range(50):
            w.grad = None
            y = (shared * w + 1.0)[::2] if indexing == "view" else (shared * w + 1.0)[np.arange(0, 256, 2)]
            y.sum().backward()
            expected = np.where(np.arange(256) % 2 == 0, np.arange(256), 0)
            if not np.array_equal(w.grad.numpy(), expected) or y[3].item() != 6 * seed + 1:
                failures.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_other_threads_run_while_ops_compute():
    """The interpreter's lock is free during an op: a thread that waits for it comes in before the op ends."""
    a = td.tensor(np.ones((1500, 1500), "f"))
    came_in = threading.Event()
    inside = threading.Event()
    done = threading.Event()

    def look() -> None:
        inside.wait()
        came_in.set() if not done.is_set() else None

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)  # nobody is interrupted: only who lets go of the lock gives it away
    try:
        thread = threading.Thread(target=look)
        thread.start()
        inside.set()  # wakes the other thread, which needs the lock that this one holds until matmul() lets go of it
        for _ in range(20):
            a @ a
            if came_in.is_set():
                break
        done.set()
    finally:
        sys.setswitchinterval(interval)
    thread.join()
    assert came_in.is_set()
