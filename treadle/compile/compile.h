/// compile(): records a function once for each kind of input, and replays it as a planned program.
///
///   auto step = compile([&](Tensor x, Tensor labels) {
///     optimizer.zero_grad();
///     Tensor loss = cross_entropy(model(x), labels);
///     loss.backward();
///     optimizer.step();
///     return loss;
///   });
///   Tensor loss = step(x, labels);
#pragma once  // public

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "treadle/compile/program.h"
#include "treadle/core/tensor.h"

namespace treadle {

struct CompileOptions {
  /// Choose variants by measurement, kept in a file; else in declared order, as eager calls do. Without
  /// effect under Settings::deterministic.
  bool measure = true;
  /// Put fused steps in place of chains of ops; else a program runs the ops that an eager call runs.
  bool fuse = true;
  /// Whether replays launch a graph captured on the device: on cuda by default. `always` also on simt, where
  /// a recording stands in for it.
  enum class Graph { automatic, never, always } graph = Graph::automatic;
  /// For functions of a batch: rising row numbers. The arguments' first axis is filled up with zeros to the
  /// next of them, or cut into pieces of the largest, so that a few programs serve every batch; the results'
  /// rows are those of the arguments. Rows must not depend on one another, and the function updates nothing.
  std::vector<int64_t> batch_buckets = {};
  /// Programs kept, one for each signature and each state of the surroundings, of these at most 8; the one
  /// used longest ago goes first. Not 0.
  size_t most_programs = 64;
};

/// What a program has cost and holds.
struct ProgramReport {
  std::string signature;  ///< "f32 [32, 1, 28, 28], i64 [32]"
  std::shared_ptr<const Program> program;
  size_t memory_bytes = 0;  ///< arena, scratch and outputs of one instance
  int64_t calls = 0;
  int threads = 1;  ///< that the latest call was spread over: all, or as few as were measured to be faster
};

/// Seconds of each step of a program, on one piece of its batch where it goes through several, best of
/// several replays; 0 where replays leave it out, as what it makes is there.
struct StepTimes {
  std::shared_ptr<const Program> program;
  std::vector<double> seconds;
};

/// The compiled form of a function of tensors.
///
/// The function runs while it is recorded, on the first call with a new signature (shapes, strides, dtypes,
/// device, gradient mode, settings), perhaps more than once, and on calls 2, 4, 16, 64 and so on; what it
/// does on the host besides happens then only, but for the modes of modules and learning rates that it sets,
/// which replays set again. Its tensors are symbolic meanwhile: reading one throws RecordingError. Later
/// recordings must be equal to the first one: a C++ number, a branch or a tensor that changed between the
/// calls is an error that names it.
///
/// Tensors from outside are captured: a replay reads and updates them in place, and keeps them alive. What it
/// makes of them alone may stay until an op or load writes into one: whoever writes elements by a raw pointer
/// raises the version of the storage (Storage::bump_version). A gradient that the function's own updates use
/// stays inside; one that it leaves is the leaf's grad() after the call. Results carry no graph. An argument
/// may share memory with what is captured: it has the values that it has in the plain function.
///
/// Several threads may call one compiled function; calls that update captured tensors, or depend on
/// gradients, run one after another. A call of any compiled function reads captured tensors as they were
/// before such an update or as they are after it.
class TREADLE_API CompiledFunction {
 public:
  using Function = std::function<std::vector<Tensor>(std::span<const Tensor>)>;
  /// Throws ValueError for options that cannot be met, and without a function.
  explicit CompiledFunction(Function function, const CompileOptions& options = {});

  /// Throws what the function throws, RecordingError, and what its ops throw.
  std::vector<Tensor> operator()(std::span<const Tensor> arguments);
  /// The same without a container for the results; their number must fit.
  void call(std::span<const Tensor> arguments, std::span<Tensor> results);

  /// One for each program, the latest used last.
  std::vector<ProgramReport> programs() const;
  /// Replays the program for these arguments once, then `replays` times step by step. Captured tensors change
  /// as by calls. Throws ValueError for less than one.
  StepTimes time_steps(std::span<const Tensor> arguments, int replays = 20);

 private:
  class State;
  std::shared_ptr<State> state_;
};

namespace detail {

inline void append(std::vector<Tensor>& list, const Tensor& tensor) { list.push_back(tensor); }
inline void append(std::vector<Tensor>& list, const std::vector<Tensor>& tensors) {
  list.insert(list.end(), tensors.begin(), tensors.end());
}
template <class... T>
void append(std::vector<Tensor>& list, const std::tuple<T...>& tensors) {
  std::apply([&](const auto&... tensor) { (list.push_back(tensor), ...); }, tensors);
}
inline void append(std::vector<Tensor>& list, const std::pair<Tensor, Tensor>& tensors) {
  list.push_back(tensors.first), list.push_back(tensors.second);
}

/// Turns results into what the function returned.
template <class R>
struct ResultOf;
template <>
struct ResultOf<Tensor> {
  static Tensor call(CompiledFunction& function, std::span<const Tensor> arguments) {
    Tensor result;
    function.call(arguments, {&result, 1});
    return result;
  }
};
template <>
struct ResultOf<void> {
  static void call(CompiledFunction& function, std::span<const Tensor> arguments) {
    function.call(arguments, {});
  }
};
template <>
struct ResultOf<std::vector<Tensor>> {
  static std::vector<Tensor> call(CompiledFunction& function, std::span<const Tensor> arguments) {
    return function(arguments);
  }
};
template <>
struct ResultOf<std::pair<Tensor, Tensor>> {
  static std::pair<Tensor, Tensor> call(CompiledFunction& function, std::span<const Tensor> arguments) {
    Tensor results[2];
    function.call(arguments, results);
    return {results[0], results[1]};
  }
};
template <class... T>
struct ResultOf<std::tuple<T...>> {
  static std::tuple<T...> call(CompiledFunction& function, std::span<const Tensor> arguments) {
    std::array<Tensor, sizeof...(T)> results;
    function.call(arguments, results);
    return std::apply([](const auto&... tensor) { return std::tuple<T...>(tensor...); }, results);
  }
};

template <class F>
struct Signature : Signature<decltype(&F::operator())> {};
template <class R, class C, class... A>
struct Signature<R (C::*)(A...) const> {
  using Result = R;
  static constexpr size_t kArguments = sizeof...(A);
};
template <class R, class C, class... A>
struct Signature<R (C::*)(A...)> : Signature<R (C::*)(A...) const> {};
template <class R, class... A>
struct Signature<R (*)(A...)> {
  using Result = R;
  static constexpr size_t kArguments = sizeof...(A);
};

template <class F, size_t... i>
std::vector<Tensor> call_with(F& function, std::span<const Tensor> arguments, std::index_sequence<i...>) {
  std::vector<Tensor> results;
  if constexpr (std::is_void_v<typename Signature<F>::Result>)
    function(arguments[i]...);
  else
    append(results, function(arguments[i]...));
  return results;
}

}  // namespace detail

/// What compile() returns: called as the function itself, with its result.
template <class F>
class Compiled {
 public:
  using Result = typename detail::Signature<F>::Result;
  Compiled(F function, const CompileOptions& options)
      : function_(
            [f = std::move(function)](std::span<const Tensor> arguments) mutable {
              return detail::call_with(f, arguments,
                                       std::make_index_sequence<detail::Signature<F>::kArguments>{});
            },
            options) {}

  template <class... A>
  Result operator()(const A&... arguments) {
    static_assert(sizeof...(A) == detail::Signature<F>::kArguments,
                  "the function takes another number of tensors");
    const std::array<Tensor, sizeof...(A)> list{arguments...};
    return detail::ResultOf<Result>::call(function_, list);
  }

  CompiledFunction& untyped() { return function_; }
  std::vector<ProgramReport> programs() const { return function_.programs(); }

 private:
  CompiledFunction function_;
};

/// The compiled form of `function`, which takes tensors and returns a Tensor, a pair, tuple or vector of
/// tensors, or nothing.
template <class F>
Compiled<F> compile(F function, const CompileOptions& options = {}) {
  return Compiled<F>(std::move(function), options);
}

}  // namespace treadle
