#!/usr/bin/env python3
"""CUDA programs as users build, run, check and profile them: launches of all forms, several files, mistakes of the source and of kernels.

usage: simt_test.py PROGRAM
"""

import json
import os
import signal
import subprocess
import time
import unittest

from program import PROGRAM, ProgramTest, last_json, run

VECTOR_ADD = """#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void add(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

int main(int argc, char** argv) {
  int n = argc > 1 ? atoi(argv[1]) : 1000;
  std::vector<float> a(n, 1), b(n, 2), c(n);
  float *da, *db, *dc;
  cudaMalloc(&da, n * sizeof(float));
  cudaMalloc(&db, n * sizeof(float));
  cudaMalloc(&dc, n * sizeof(float));
  cudaMemcpy(da, a.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(db, b.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  add<<<(n + 255) / 256, 256>>>(da, db, dc, n);
  cudaMemcpy(c.data(), dc, n * sizeof(float), cudaMemcpyDeviceToHost);
  for (float x : c)
    if (x != 3) return 5;
  printf("%d sums are right\\n", n);
  cudaFree(da), cudaFree(db), cudaFree(dc);
}
"""

# Every form of a kernel and of shared memory, in one program; its code says which is wrong.
FORMS = """#include "forms.h"
template <class T, int N>
__global__ void __launch_bounds__(64) scale(T* x, T factor) {
  extern __shared__ __align__(16) unsigned char raw[];
  T* kept = reinterpret_cast<T*>(raw);
  __shared__ T sum[N];
  kept[threadIdx.x] = x[threadIdx.x];
  sum[threadIdx.x] = factor;
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 1; ++i) x[threadIdx.x] = kept[N - 1 - threadIdx.x] * sum[N - 1 - threadIdx.x];
}
__device__ int counter;
__constant__ int step[2];
__global__ void count() { atomicAdd(&counter, step[1]); }
__global__ void set(int* x, const int2 value, int* nothing) { *x = nothing == nullptr ? value.x + value.y : 0; }

int main() {
  float* x;
  int *y, steps[2] = {1, 2}, counted = 0, result = 0;
  float values[64];
  for (int i = 0; i < 64; ++i) values[i] = i;
  cudaMalloc(&x, sizeof values);
  cudaMalloc((void**)&y, sizeof(int));
  cudaMemcpy(x, values, sizeof values, cudaMemcpyHostToDevice);
  scale<float, 64><<<dim3(1), 64, 64 * sizeof(float)>>>(x, 2);
  cudaMemcpy(values, x, sizeof values, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 64; ++i)
    if (values[i] != 2 * (63 - i)) return 10;
  cudaMemcpyToSymbol(step, steps, sizeof steps);
  LAUNCH(count, 3, 32);
  cudaMemcpyFromSymbol(&counted, counter, sizeof counted);
  if (counted != 3 * 32 * 2) return 11;
  set<<<1, 1>>>(y, {3, 4}, 0);
  cudaMemcpy(&result, y, sizeof result, cudaMemcpyDeviceToHost);
  if (result != 7) return 12;
  void (*pointer)(int*, int2, int*) = set;
  (*pointer)<<<1, 1>>>(y, make_int2(5, 6), NULL);
  cudaMemcpy(&result, y, sizeof result, cudaMemcpyDeviceToHost);
  if (result != 11) return 13;
  if (other_file() != 42) return 14;
  cudaFree(x), cudaFree(y);
  return cudaGetLastError() == cudaSuccess ? 0 : 15;
}
"""
FORMS_HEADER = """#pragma once
#define LAUNCH(kernel, grid, block) kernel<<<grid, block>>>()
int other_file();
template <class T>
__global__ void fill(T* x, T value) {
  x[blockIdx.x] = value;
}
template <class T>
T filled(T value) {
  T *x, result;
  cudaMalloc(&x, 4 * sizeof(T));
  fill<<<4, 1>>>(x, value);
  cudaMemcpy(&result, x + 3, sizeof(T), cudaMemcpyDeviceToHost);
  cudaFree(x);
  return result;
}
"""
OTHER_FILE = """#include "forms.h"
int other_file() { return filled(VALUE); }
"""

# A race on line 4, and memory that is never freed, of line 9.
FAULTY = """#include <cstdio>
__global__ void reverse(const int* x, int* y) {
  __shared__ int part[64];
  part[threadIdx.x] = x[threadIdx.x];
  y[threadIdx.x] = part[63 - threadIdx.x];
}
int main() {
  int *x, *y, values[64] = {};
  cudaMalloc(&x, sizeof values);
  cudaMalloc(&y, sizeof values);
  cudaMemcpy(x, values, sizeof values, cudaMemcpyHostToDevice);
  reverse<<<1, 64>>>(x, y);
  cudaDeviceSynchronize();
  cudaFree(y);
  return 0;
}
"""


class Simt(ProgramTest):
    def file(self, name, text):
        (self.folder / name).write_text(text, encoding="utf-8")
        return name

    def simt(self, *words, **options):
        return run("simt", *words, cwd=self.folder, **options)


class Running(Simt):
    def test_vector_add(self):
        result = self.simt("run", self.file("add.cu", VECTOR_ADD), "--", 300)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "300 sums are right\n", ""))

    def test_the_programs_code_is_the_commands(self):
        result = self.simt("run", self.file("seven.cu", "int main() { return 7; }"))
        self.assertEqual(result.returncode, 7, result.stderr)

    def test_forms_of_launches_and_several_files(self):
        self.file("forms.h", FORMS_HEADER)
        result = self.simt("run", self.file("forms.cu", FORMS), self.file("other.cu", OTHER_FILE), "-DVALUE=42", "-std=c++17")
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_a_built_program_runs_in_any_order(self):
        built = self.simt("build", self.file("add.cu", VECTOR_ADD), "-o", "program", "--dependencies", "program.d")
        self.assertEqual((built.returncode, built.stdout), (0, "program\n"), built.stderr)
        self.assertIn("program: add.cu", (self.folder / "program.d").read_text())
        self.assertEqual(subprocess.run([self.folder / "program"], capture_output=True, check=False).returncode, 0)
        for words in (["--schedule", "reverse"], ["--seed", 3], ["--workers", 2]):
            result = self.simt("run", "program", *words, "--", 70)
            self.assertEqual((result.returncode, result.stdout), (0, "70 sums are right\n"), result.stderr)

    def test_a_program_without_end_is_ended(self):
        source = self.file("endless.cu", "#include <unistd.h>\nint main() { for (;;) pause(); }")
        self.assertEqual(self.simt("build", source, "-o", "endless").returncode, 0)
        process = subprocess.Popen([PROGRAM, "simt", "run", "endless"], cwd=self.folder)
        time.sleep(0.5)  # whenever it comes, it ends the program
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=60), 130)


class Building(Simt):
    def refused(self, text, *words):
        result = self.simt("build", self.file("a.cu", text), *words)
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertFalse((self.folder / "a").exists())
        return result.stderr

    def test_mistakes_are_told_with_the_programs_own_line(self):
        message = self.refused('__global__ void k(int* x) { *x = 1; }\n#include "cstdio"\nint main() {\n  k<<<1, 1>>>(wrong);\n}\n')
        self.assertIn("a.cu:4:", message)
        self.assertIn("k<<<1, 1>>>(wrong);", message)
        self.assertIn("'wrong' was not declared", message.replace("‘", "'").replace("’", "'"))

    def test_a_launch_with_wrong_arguments_names_its_line(self):
        self.assertIn("a.cu:3:", self.refused("__global__ void k(int* x);\nint main() {\n  k<<<1, 1>>>(1.5, 2);\n}\n"))

    def test_what_is_missing_at_linking_is_named(self):
        self.assertIn("undefined reference", self.refused("void f();\nint main() { f(); }\n"))

    def test_what_is_not_supported_is_refused_with_its_line(self):
        self.assertIn("a.cu:2: inline PTX is not supported", self.refused('__device__ void f() {\n  asm("trap;");\n}\n'))
        self.assertIn("a.cu:1: cublas_v2.h belongs to cuBLAS", self.refused("#include <cublas_v2.h>\n"))

    def test_files_that_are_not_there(self):
        result = self.simt("build", "none.cu")
        self.assertEqual((result.returncode, result.stderr), (1, "treadle: none.cu: there is no such file\n"))
        self.assertEqual(self.simt("build").returncode, 2)


class Checking(Simt):
    def check(self, *words):
        result = self.simt("check", *words)
        self.assertIn(result.returncode, (0, 1, 4), result.stderr)
        return result

    def test_a_clean_program(self):
        result = self.check(self.file("add.cu", VECTOR_ADD), "--", 300)
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertEqual(result.stdout.splitlines()[:1], ["300 sums are right"])
        self.assertIn("nothing was found in 1 launch(es)", result.stdout)

    def test_a_program_that_fails_by_itself(self):
        result = self.check(self.file("seven.cu", "int main() { return 7; }"))
        self.assertEqual(result.returncode, 1)
        self.assertIn("the program ended with 7", result.stdout)

    def test_reports_name_lines_and_threads(self):
        result = self.check(self.file("faulty.cu", FAULTY))
        self.assertEqual(result.returncode, 4)
        for part in ("race: ", "at faulty.cu:4 in reverse", "4 |   part[threadIdx.x] = x[threadIdx.x];\n", "|   ^~~~",
                     "at faulty.cu:5 in reverse", "by block (0, 0, 0), thread (", "__shared__ part", "leak: ", "at faulty.cu:9 in main",
                     "2 reports: 1 leak, 1 race in 1 launch(es), --schedule forward"):
            self.assertIn(part, result.stdout)

    def test_an_atomic_access_outside_is_one_report_of_an_atomic_access(self):
        text = "__global__ void count(int* x) { atomicAdd(x + 4, 1); }\nint main() {\n  int* x;\n  cudaMalloc(&x, 16);\n  count<<<1, 1>>>(x);\n  cudaFree(x);\n}\n"
        result = self.check(self.file("count.cu", text))
        self.assertIn("out-of-bounds: atomic access of 4 bytes outside of what was allocated", result.stdout)
        self.assertIn("1 report: 1 out-of-bounds", result.stdout)
        self.assertNotIn("2 times", result.stdout)

    def test_json_and_sarif(self):
        self.file("faulty.cu", FAULTY)
        result = self.check("faulty.cu", "--json", "--sarif", "found.sarif", "--seed", 5)
        found = last_json(result)
        self.assertEqual((found["program"], found["schedule"], found["seed"], found["exit_code"], found["launches"]), ("faulty.cu", "random", 5, 0, 1))
        race = next(report for report in found["reports"] if report["kind"] == "race")
        self.assertEqual({race["line"], race["other_line"]}, {4, 5})
        self.assertEqual((race["file"], race["kernel"], race["bytes"]), ("faulty.cu", "reverse", 4))
        self.assertEqual(len(race["thread"]), 3)
        sarif = json.loads((self.folder / "found.sarif").read_text(encoding="utf-8"))
        self.assertEqual(sarif["version"], "2.1.0")
        run_of_it = sarif["runs"][0]
        self.assertEqual({rule["id"] for rule in run_of_it["tool"]["driver"]["rules"]}, {"race", "leak"})
        places = [result["locations"][0]["physicalLocation"] for result in run_of_it["results"]]
        self.assertEqual({place["artifactLocation"]["uri"] for place in places}, {"faulty.cu"})
        self.assertTrue({place["region"]["startLine"] for place in places} <= {4, 5, 9})

    def test_suppressions(self):
        self.file("faulty.cu", FAULTY)
        known = "race reverse faulty.cu:4  # it is meant so\nleak * faulty.cu:*  # the system frees it\nrace scan other.cu:1  # gone\n"
        result = self.check("faulty.cu", "--suppress", self.file("known", known))
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertIn("2 report(s) suppressed", result.stdout)
        self.assertIn("known:3: this suppression fits no report", result.stdout)
        result = self.simt("check", "faulty.cu", "--suppress", self.file("known", "race reverse faulty.cu:4\n"))
        self.assertEqual((result.returncode, result.stderr), (2, "treadle: known:1: a suppression needs a reason, behind #\n"))

    def test_what_was_found_before_its_time_was_up(self):
        text = FAULTY.replace("reverse<<<1, 64>>>", "reverse<<<1000000000, 64>>>")
        self.assertNotEqual(text, FAULTY)
        result = self.check(self.file("long.cu", text), "--limit", 0.1)
        self.assertEqual(result.returncode, 4, result.stdout)
        for part in ("race: ", "1 report: 1 race in 1 launch(es)", "the program was ended because its time (--limit) was up"):
            self.assertIn(part, result.stdout)

    def test_a_checked_program_that_was_built_before(self):
        self.assertEqual(self.simt("build", self.file("faulty.cu", FAULTY), "--checked", "-o", "faulty").returncode, 0)
        self.assertEqual(self.check("faulty").returncode, 4)


class Profiling(Simt):
    def profile(self, *words):
        result = self.simt("profile", *words)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result

    def test_lines_and_the_bound(self):
        result = self.profile(self.file("add.cu", VECTOR_ADD), "--card", "rtx 4090", "--registers", 16, "--", 1024)
        for part in ("1024 sums are right", "kernel add: 1 launch, grid (4, 1, 1), block (256, 1, 1)", "384",
                     "if (i < n) c[i] = a[i] + b[i];", "on RTX4090: at best bound by ",
                     "48 of 48 warps of an SM, limited by threads; 16 registers"):
            self.assertIn(part, result.stdout)

    def test_json_and_the_page(self):
        self.file("add.cu", VECTOR_ADD.replace("sums are right", "<sums>"))
        result = self.profile("add.cu", "--json", "--json-file", "add.json", "--html", "add.html", "--", 1024)
        found = last_json(result)
        self.assertEqual(json.loads((self.folder / "add.json").read_text(encoding="utf-8")), found)
        self.assertEqual((found["program"], found["card"], found["complete"], found["launches"]), ("add.cu", "H100", True, 1))
        kernel = found["kernels"][0]
        self.assertEqual((kernel["kernel"], kernel["block"], kernel["grid"], kernel["warps"]), ("add", [256, 1, 1], [4, 1, 1], 32))
        self.assertIsNone(kernel["registers"])
        line = next(line for line in kernel["lines"] if line["line"] == 7)
        self.assertEqual((line["file"], line["requests"], line["sectors"], line["ideal_sectors"], line["flops"]),
                         ("add.cu", 96, 384, 384, 1024))
        self.assertEqual(line["global_stores"]["sectors"], 128)
        # Three arrays of 4,096 bytes.
        self.assertEqual((kernel["total"]["read_sectors"], kernel["total"]["written_sectors"]), (256, 128))
        page = (self.folder / "add.html").read_text(encoding="utf-8")
        self.assertIn("prefers-color-scheme: dark", page)
        self.assertIn("if (i &lt; n) c[i]", page)
        self.assertNotIn("http", page)  # it needs nothing else

    def test_programs_that_were_built_before(self):
        self.file("add.cu", VECTOR_ADD)
        self.assertEqual(self.simt("build", "add.cu", "--profiled", "-o", "counted").returncode, 0)
        self.assertIn("kernel add", self.profile("counted").stdout)
        self.assertEqual(self.simt("build", "add.cu", "-o", "plain").returncode, 0)
        result = self.simt("profile", "plain")
        self.assertEqual(result.returncode, 1)
        self.assertIn("left no counters: build it with --profiled", result.stderr)

    def test_a_program_that_fails_by_itself(self):
        result = self.simt("profile", self.file("seven.cu", "int main() { return 7; }"))
        self.assertEqual((result.returncode, result.stderr), (1, "treadle: the program ended with 7\n"))

    def test_options_that_are_wrong(self):
        self.file("add.cu", VECTOR_ADD)
        for words, part in ((("--card", "Voodoo2"), "there is no card 'Voodoo2'; known are H100, H200"),
                            (("--registers", "many"), "many is neither a number of registers nor nvcc")):
            result = self.simt("profile", "add.cu", *words)
            self.assertEqual(result.returncode, 2)
            self.assertIn(part, result.stderr)


if __name__ == "__main__":
    if os.environ.get("TREADLE_SANITIZED"):
        raise SystemExit(0)  # programs are linked with libraries that were built for the sanitizers
    unittest.main()
