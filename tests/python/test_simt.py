"""treadle.simt: CUDA programs built, run, checked and counted from Python."""

import pytest
import treadle as td

REVERSE = """#include <cstdio>
__global__ void reverse(float* x) {
  __shared__ float part[64];
  part[threadIdx.x] = x[threadIdx.x];
  BARRIER
  x[threadIdx.x] = part[63 - threadIdx.x];
}
int main(int count, char** words) {
  float* x;
  cudaMalloc(&x, 64 * sizeof(float));
  cudaMemset(x, 0, 64 * sizeof(float));
  reverse<<<1, 64>>>(x);
  cudaDeviceSynchronize();
  printf("reversed %s\\n", count > 1 ? words[1] : "nothing");
  cudaFree(x);
  return FACTOR;
}
"""
RIGHT, FAULTY = (REVERSE.replace("BARRIER", barrier) for barrier in ("__syncthreads();", ""))
ENDS_WELL = {"define": ["FACTOR=0"]}


def test_a_program_is_built_and_run(tmp_path):
    source = tmp_path / "reverse.cu"
    source.write_text(RIGHT)
    done = td.simt.run(source, ["all"], define=["FACTOR=7"], schedule="reverse")
    assert isinstance(done, td.simt.RunResult)
    assert (done.exit_code, done.output, done.messages) == (7, "reversed all\n", "")
    file = td.simt.build([source], tmp_path / "reverse", define=["FACTOR=3"], std="c++17", include=[tmp_path])
    assert file == tmp_path / "reverse" and td.simt.run(file).exit_code == 3


def test_mistakes_have_places(tmp_path):
    source = tmp_path / "faulty.cu"
    source.write_text(FAULTY)
    found = td.simt.check(source, ["all"], **ENDS_WELL)
    assert isinstance(found, td.simt.CheckResult) and not found
    assert (found.exit_code, found.output, found.launches, found.out_of_time) == (0, "reversed all\n", 1, False)
    (report,) = found.reports
    assert isinstance(report, td.simt.Report) and isinstance(report.place, td.simt.Place)
    assert (report.kind, report.kernel, {report.place.line, report.other.line}) == ("race", "reverse", {4, 6})
    assert report.allocation.startswith("__shared__ part") and report.place.block == (0, 0, 0)
    assert str(report).startswith("race: ") and "faulty.cu:" in str(report) and str(report).endswith("in reverse")
    reasons = tmp_path / "known"
    reasons.write_text(f"race reverse faulty.cu:{report.place.line}  # it is meant so\n")
    assert td.simt.check(source, suppress=reasons, **ENDS_WELL)


def test_a_text_is_a_source():
    assert td.simt.check(RIGHT, seed=5, **ENDS_WELL)
    found = td.simt.check(FAULTY, workers=1, limit=None, **ENDS_WELL)
    assert [report.place.file for report in found.reports] == ["source.cu"]


def test_a_leak_has_no_kernel():
    (report,) = td.simt.check("int main() {\n  int* x;\n  cudaMalloc(&x, 4);\n}\n").reports
    assert (report.kind, report.kernel, report.place) == ("leak", "", td.simt.Place("source.cu", 3))
    assert str(report).endswith("at source.cu:3")


def test_what_was_not_looked_at_is_not_clean(tmp_path):
    unchecked = td.simt.build(RIGHT, tmp_path / "unchecked", **ENDS_WELL)
    assert not td.simt.check(unchecked)
    assert td.simt.check(td.simt.build(RIGHT, tmp_path / "checked", checked=True, **ENDS_WELL))
    crashed = td.simt.check("#include <cstdlib>\nint main() { abort(); }\n")
    assert not crashed and not crashed.reports


def test_what_the_program_writes_is_its_own():
    text = '#include <cstdio>\nint main() { fputs("operation not supported\\n", stderr); printf("{\\"a\\":1}"); return 1; }\n'
    for function in td.simt.check, td.simt.profile:
        result = function(text)
        assert (result.exit_code, result.output) == (1, '{"a":1}') and "not supported" in result.messages


def test_counts_of_lines(tmp_path):
    page = tmp_path / "page.html"
    counts = td.simt.profile(RIGHT, card="A100", html=page, **ENDS_WELL)
    assert isinstance(counts, td.simt.ProfileResult) and counts.card == "A100"
    (kernel,) = counts.kernels
    assert isinstance(kernel, td.simt.KernelCounts)
    assert (kernel.name, kernel.launches, kernel.grid, kernel.block) == ("reverse", 1, (1, 1, 1), (64, 1, 1))
    # 64 floats are eight sectors of 32 bytes, two requests of a warp.
    assert (kernel.line(4)["sectors"], kernel.line(4, "source.cu")["ideal_sectors"], kernel.line(6)["wavefronts"]) == (8, 8, 2)
    assert kernel.bound["seconds"] > 0 and "<html" in page.read_text()
    with pytest.raises(KeyError, match="line 1000"):
        kernel.line(1000)


def test_what_is_wrong_is_said(tmp_path):
    with pytest.raises(FileNotFoundError, match="none.cu"):
        td.simt.check(tmp_path / "none.cu")
    for function in (td.simt.run, td.simt.check, td.simt.profile):
        with pytest.raises(td.simt.BuildError, match="'?foo'? was not declared|foo"):
            function("int main() { foo(); }\n")
    with pytest.raises(td.simt.BuildError, match="foo"):
        td.simt.build("int main() { foo(); }\n", tmp_path / "program")
    with pytest.raises(td.simt.BuildError, match="no kernel"):
        td.simt.run("int main() {\n  <<<1, 1>>>();\n}\n")
    with pytest.raises(FileNotFoundError, match="none"):
        td.simt.check(RIGHT, suppress=tmp_path / "none")
    with pytest.raises(ValueError, match="H900"):
        td.simt.profile(RIGHT, card="H900", **ENDS_WELL)
    with pytest.raises(ValueError, match="sideways"):
        td.simt.run(RIGHT, schedule="sideways", **ENDS_WELL)
    with pytest.raises(TypeError, match="speed"):
        td.simt.run(RIGHT, speed=2)
