/// What the programs of the lessons need beside their kernels: memory on the device, numbers to compute with,
/// and a table of kernels, each run, compared with what is expected and timed. Plain CUDA C++, for nvcc, too.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

/// Ends the program with a sentence when a call of the CUDA runtime fails.
#define MUST(call) lab::must(call, #call, __FILE__, __LINE__)

namespace lab {

inline void must(cudaError_t error, const char* call, const char* file, int line) {
  if (error == cudaSuccess) return;
  fprintf(stderr, "%s:%d: %s: %s\n", file, line, call, cudaGetErrorString(error));
  exit(1);
}

/// Memory on the device for a number of elements, freed at the end of its scope.
template <class T>
class Array {
 public:
  explicit Array(size_t count) : count_(count) { MUST(cudaMalloc(&data_, count * sizeof(T))); }
  /// With a copy of the values.
  explicit Array(const std::vector<T>& values) : Array(values.size()) { set(values); }
  ~Array() { cudaFree(data_); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  T* data() const { return data_; }
  operator T*() const { return data_; }
  size_t count() const { return count_; }
  size_t bytes() const { return count_ * sizeof(T); }
  void set(const std::vector<T>& values) {
    MUST(cudaMemcpy(data_, values.data(), bytes(), cudaMemcpyHostToDevice));
  }
  void clear() { MUST(cudaMemset(data_, 0, bytes())); }
  /// Waits for the device.
  std::vector<T> values() const {
    std::vector<T> values(count_);
    MUST(cudaMemcpy(values.data(), data_, bytes(), cudaMemcpyDeviceToHost));
    return values;
  }

 private:
  T* data_ = nullptr;
  size_t count_;
};

/// The same numbers in every run: a multiplicative hash (Knuth) of the seed and the place.
inline unsigned hash(unsigned seed, unsigned i) {
  unsigned x = (i + 1) * 2654435761u ^ seed * 2246822519u;
  x = (x ^ x >> 15) * 2246822519u;
  return x ^ x >> 13;
}

/// In [-1, 1).
inline std::vector<float> numbers(size_t count, unsigned seed = 1) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = float(hash(seed, unsigned(i)) >> 8) / (1 << 23) - 1;
  return values;
}

/// In [0, end).
inline std::vector<int> whole_numbers(size_t count, int end, unsigned seed = 1) {
  std::vector<int> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = int((hash(seed, unsigned(i)) >> 8) % unsigned(end));
  return values;
}

/// Kernels that compute the same, a row for each.
class Table {
 public:
  explicit Table(const char* title) {
    setvbuf(stdout, nullptr, _IOLBF, 0);  // a row can be read when it is there, in a pipe, too
    printf("%s\n%-24s %-7s %12s %14s\n", title, "kernel", "result", "time", "largest error");
  }

  /// Calls `prepare` and then `launch` with memory for the result, compares it, and prints a row. An element
  /// may be off by `tolerance`. The time is that of one launch. On a GPU the first launch of a kernel loads
  /// it, too: LAB_REPEATS=20 in the environment takes the fastest of 20.
  template <class T, class Launch, class Prepare>
  void row(const char* kernel, const std::vector<T>& expected, double tolerance, Launch launch,
           Prepare prepare) {
    const Array<T> result(expected.size());
    float least = INFINITY;
    for (int i = 0; i < repeats(); ++i) {
      prepare(result.data());
      least = std::min(least, milliseconds(launch, result.data()));
    }
    const double error = largest_error(result.values(), expected);
    const bool right = error <= tolerance;
    all_right_ &= right;
    printf("%-24s %-7s %9.3f ms %14.1e\n", kernel, right ? "right" : "WRONG", least, error);
  }
  /// The same for a kernel whose result need not be prepared.
  template <class T, class Launch>
  void row(const char* kernel, const std::vector<T>& expected, double tolerance, Launch launch) {
    row(kernel, expected, tolerance, launch, [](T*) {});
  }

  /// The program's exit code.
  int end() const { return all_right_ ? 0 : 1; }

 private:
  template <class Launch, class T>
  static float milliseconds(Launch launch, T* result) {
    cudaEvent_t begin, end;
    MUST(cudaEventCreate(&begin));
    MUST(cudaEventCreate(&end));
    MUST(cudaEventRecord(begin));
    launch(result);
    MUST(cudaGetLastError());
    MUST(cudaEventRecord(end));
    MUST(cudaEventSynchronize(end));
    float time = 0;
    MUST(cudaEventElapsedTime(&time, begin, end));
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    return time;
  }

  static int repeats() {
    const char* text = getenv("LAB_REPEATS");
    return text ? std::max(1, atoi(text)) : 1;
  }

  /// Infinite where a value is no number.
  template <class T>
  static double largest_error(const std::vector<T>& values, const std::vector<T>& expected) {
    double largest = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      const double error = std::fabs(double(values[i]) - double(expected[i]));
      largest = error >= 0 ? std::max(largest, error) : INFINITY;
      if (std::isinf(largest)) break;
    }
    return largest;
  }

  bool all_right_ = true;
};

/// Argument number `place` as a number of at least 1, `otherwise` where it is not given; others end the
/// program with a sentence.
inline int positive_argument(int count, char** words, int place, int otherwise) {
  if (count <= place) return otherwise;
  constexpr int kMost = 1 << 27;
  char* end = nullptr;
  const long value = strtol(words[place], &end, 10);
  if (end != words[place] && *end == 0 && value >= 1 && value <= kMost) return int(value);
  fprintf(stderr, "argument %d is a number from 1 to %d, not '%s'\n", place, kMost, words[place]);
  exit(2);
}

}  // namespace lab
