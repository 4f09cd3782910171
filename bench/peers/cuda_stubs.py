#!/usr/bin/env python3
"""Builds empty stand-ins for the CUDA libraries that PyTorch links to but never calls on a CPU.

The wheel on PyPI depends on about two gigabytes of CUDA libraries. A comparison on the CPU needs none of them,
only names the loader can resolve. For each library of STUBBED this reads which of its symbols PyTorch imports and
compiles a shared library in which each of them is a function that returns 1, an error code in all these
interfaces. The CUDA runtime is not among them: PyTorch does call it while loading, so it is installed for real.

Usage: cuda_stubs.py SITE_PACKAGES    (needs gcc, nm and readelf)
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

# Library name without version -> prefix of the symbols it defines. The longest matching prefix wins.
STUBBED = {
    "libcublas": "cublas",
    "libcublasLt": "cublasLt",
    "libcudnn": "cudnn",
    "libcufft": "cufft",
    "libcufile": "cuFile",
    "libcupti": "cupti",
    "libcusolver": "cusolver",
    "libcusparse": "cusparse",
    "libcusparseLt": "cusparseLt",
    "libnccl": "nccl",
    "libnvrtc": "nvrtc",
    "libnvshmem_host": "nvshmem",
}


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def needed_libraries(library):
    """Returns the sonames a shared library is linked to."""
    return re.findall(r"\(NEEDED\).*\[(.+)\]", output_of("readelf", "-d", library))


def imported_symbols(library):
    """Returns the undefined dynamic symbols of a shared library as (name, version or '')."""
    names = (line.split()[-1] for line in output_of("nm", "-D", "--undefined-only", library).splitlines())
    return [tuple((name.replace("@@", "@") + "@").split("@")[:2]) for name in names]


def owner(symbol):
    """Returns the library of STUBBED that defines a symbol, or None."""
    candidates = [(len(prefix), name) for name, prefix in STUBBED.items() if symbol.startswith(prefix)]
    return max(candidates)[1] if candidates else None


def version_script(symbols):
    """Returns a linker version script that gives each symbol the version PyTorch asks for."""
    versions = {}
    for name, version in sorted(symbols):
        versions.setdefault(version, []).append(name)
    return "\n".join(f"{key} {{ global: {'; '.join(names)}; }};" for key, names in versions.items() if key)


def build_stub(folder, soname, symbols):
    """Compiles one stand-in library with the given soname into a folder."""
    with tempfile.TemporaryDirectory() as scratch:
        source, versions = Path(scratch, "stub.c"), Path(scratch, "stub.map")
        names = sorted({name for name, _ in symbols})
        source.write_text("".join(f"int {name}(void) {{ return 1; }}\n" for name in names))
        versions.write_text(version_script(symbols))
        command = ["gcc", "-shared", "-fPIC", "-w", f"-Wl,-soname,{soname}", "-o", folder / soname, source]
        if versions.read_text():
            command.append("-Wl,--version-script," + str(versions))
        subprocess.run(command, check=True)


def main():
    site_packages = Path(sys.argv[1])
    sonames, symbols = {}, {name: set() for name in STUBBED}
    for library in sorted((site_packages / "torch" / "lib").glob("*.so")):
        sonames.update({soname.split(".so")[0]: soname for soname in needed_libraries(library)})
        for name, version in imported_symbols(library):
            if owner(name):
                symbols[owner(name)].add((name, version))
    folder = site_packages / "nvidia" / "cu13" / "lib"  # on the run path of every library in the wheel
    folder.mkdir(parents=True, exist_ok=True)
    for name in STUBBED:
        if name in sonames:
            build_stub(folder, sonames[name], symbols[name])


if __name__ == "__main__":
    main()
