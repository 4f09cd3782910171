// Labels and indices out of range: every device refuses what the cpu refuses, and goes on.
#include "tests/contract/contract.h"
#include "treadle/compile/compile.h"
#include "treadle/core/error.h"
#include "treadle/core/runtime.h"
#include "treadle/graph/autograd.h"

namespace treadle::contract {
namespace {

/// "ValueError: …" where `work` throws it, "other: …" for other exceptions, else "nothing".
template <class Work>
std::string thrown_by(Work work) {
  try {
    work();
  } catch (const ValueError& error) {
    return std::string("ValueError: ") + error.what();
  } catch (const std::exception& error) {
    return std::string("other: ") + error.what();
  }
  return "nothing";
}

/// Inputs whose values name something: of a whole type of their own.
bool names_something(const Trial& trial, size_t i) {
  const TestInput& input = trial.test_case.inputs[i];
  return input.fill.kind == TestFill::integers && !input.dtype.empty() && input.shape.numel() > 0 &&
         (trial.input_dtypes[i] == DType::i32 || trial.input_dtypes[i] == DType::i64);
}

/// An op that has nothing to compute is not run, and looks at nothing.
bool computes_something(const Trial& trial) {
  for (const ReferenceTensor& output : trial.expected)
    if (output.shape.numel() > 0) return true;
  return false;
}

/// The trial with its last label or index replaced.
Trial with_value(Trial trial, size_t input, double value) {
  trial.inputs[input].values.back() = value;
  return trial;
}

/// What the first variant on the cpu says, which the others are held against.
std::string expected_of(const Trial& trial) {
  return thrown_by([&] { run_variant(trial, *variants_for(trial, kCpu).at(0), kCpu); });
}

class Checker {
 public:
  Checker(const Trial& trial, Device device, Tally& tally) : trial_(trial), device_(device), tally_(tally) {}

  void check(size_t input, double value) {
    const Trial mistaken = with_value(trial_, input, value);
    what_ = fmt::format("{} on {} with {} in input {}", trial_.name(), to_string(device_), value, input);
    expected_ = expected_of(mistaken);
    for (const Variant* variant : variants_for(trial_, device_)) {
      compare(variant->name, thrown_by([&] { run_variant(mistaken, *variant, device_); }));
      compare("after it", thrown_by([&] { run_variant(trial_, *variant, device_); }), "nothing");
    }
    if (expected_ != "nothing") check_calls(mistaken);
  }

 private:
  void compare(const char* where, const std::string& thrown, const std::string& expected) {
    if (thrown == expected)
      tally_.passed("mistakes", device_);
    else
      tally_.failed(fmt::format("{}, {}: throws {}, expected {}", what_, where, thrown, expected));
  }
  void compare(const char* where, const std::string& thrown) { compare(where, thrown, expected_); }

  /// Eager and compiled, the right inputs before, between and after. On devices with graphs the mistakes
  /// after the first meet the recording, a replay step by step, and a captured graph.
  void check_calls(const Trial& mistaken) {
    const auto right = trial_.tensors(device_), wrong = mistaken.tensors(device_);
    const std::vector<Tensor> good = OneCall::defined(right), bad = OneCall::defined(wrong);
    const OneCall call(trial_, right);
    CompiledFunction compiled(call, {.measure = false, .graph = CompileOptions::Graph::always});
    const std::vector<Tensor> wanted = call(good);
    for (int replay = 0; replay < 4; ++replay) {
      compare("eager", thrown_by([&] { static_cast<void>(call(bad)), runtime(device_).synchronize(); }));
      compare("compiled",
              thrown_by([&] { static_cast<void>(compiled(bad)), runtime(device_).synchronize(); }));
      if (auto message = differences(wanted, call(good)) + differences(wanted, compiled(good));
          !message.empty())
        tally_.failed(fmt::format("{}, afterwards: {}", what_, message));
    }
  }

  const Trial& trial_;
  Device device_;
  Tally& tally_;
  std::string what_, expected_;
};

}  // namespace

void check_mistakes(const Trial& trial, Device device, Tally& tally) {
  if (trial.op.direct || !computes_something(trial)) return;
  NoGrad no_grad;
  Checker checker(trial, device, tally);
  for (size_t i = 0; i < trial.inputs.size(); ++i) {
    if (!names_something(trial, i)) continue;
    for (double value : {-1., -1e6, trial.test_case.inputs[i].fill.high + 1, 1e6}) checker.check(i, value);
  }
}

}  // namespace treadle::contract
