#!/usr/bin/env python3
"""Opens libtreadle.so and a module over it by ctypes, and computes in threads older and younger than the library.

usage: dlopen_test.py LIBTREADLE MODULE
"""

import ctypes
import sys
import threading


def require_results(compute):
    for device in (b"cpu", b"simt"):
        for n in (1, 33, 65):
            result, wanted = compute(device, n), n**3 + 1
            assert abs(result - wanted) < 0.001, f"{device}, n = {n}: {result} instead of {wanted}"


def main(library_file, module_file):
    opened, results = threading.Event(), []
    functions = {}

    def work():
        opened.wait()
        require_results(functions["compute"])
        results.append("right")

    older = threading.Thread(target=work)
    older.start()
    try:
        version = ctypes.CDLL(library_file)._ZN7treadle7versionEv
        version.restype = ctypes.c_char_p
        print("opened treadle", version().decode())
        compute = ctypes.CDLL(module_file).module_compute
        compute.restype, compute.argtypes = ctypes.c_double, [ctypes.c_char_p, ctypes.c_longlong]
        functions["compute"] = compute
    finally:
        opened.set()  # else the interpreter waits for the thread
    younger = threading.Thread(target=work)
    younger.start()
    require_results(compute)
    older.join()
    younger.join()
    assert results == ["right", "right"], results


if __name__ == "__main__":
    main(*sys.argv[1:])
