#include "treadle/compile/replay_host_work.h"

#include "treadle/core/runtime.h"

namespace treadle {
namespace {

constexpr size_t kNumbersPerBuffer = 8;  ///< so that each lies on a cache line of its own

}  // namespace

ReplayHostWork::ReplayHostWork(const Program& program) : program_(program) {
  if (program.numbers.empty()) return;
  host_numbers_.resize(program.numbers.size() * kNumbersPerBuffer);
  numbers_ = Tensor::zeros({int64_t(host_numbers_.size())}, DType::f64, program.device);
}

double* ReplayHostWork::numbers(int number) const {
  return numbers_.data<double>() + size_t(number) * kNumbersPerBuffer;
}

void ReplayHostWork::run() {
  size_t done = 0;
  try {
    for (const HostWork& work : program_.host_work) {
      if (work.work) work.work();
      ++done;
      write_numbers(work);
    }
    send_numbers();
  } catch (...) {
    undo(done);
    throw;
  }
}

void ReplayHostWork::send_numbers_alone() {
  for (const HostWork& work : program_.host_work) write_numbers(work);
  send_numbers();
}

void ReplayHostWork::write_numbers(const HostWork& work) {
  if (work.number < 0) return;
  program_.numbers[size_t(work.number)].write(host_numbers_.data() + size_t(work.number) * kNumbersPerBuffer);
}

void ReplayHostWork::send_numbers() {
  if (numbers_.defined())
    runtime(program_.device)
        .copy_from_host(numbers_.raw(), host_numbers_.data(), host_numbers_.size() * sizeof(double));
}

void ReplayHostWork::undo(size_t count) {
  for (size_t i = count; i-- > 0;)
    if (program_.host_work[i].undo) program_.host_work[i].undo();
}

}  // namespace treadle
