/// K<<<grid, block, shared, stream>>>(args) of programs, after driver/translate.h has taken it apart.
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "treadle/simt/launch.h"

struct CUstream_st;  // what a program's cudaStream_t points to

namespace treadle::TREADLE_TARGET {

/// What stands between <<< and >>>.
struct LaunchShape {
  dim3 grid, block;
  size_t shared_bytes;
  CUstream_st* stream;

  LaunchShape(dim3 grid, dim3 block, size_t shared_bytes = 0, CUstream_st* stream = nullptr)
      : grid(grid), block(block), shared_bytes(shared_bytes), stream(stream) {}
};

/// Launches as run_grid() does, from a program: dynamic shared memory is the area that the driver has made of
/// its `extern __shared__` arrays, a captured stream takes the launch into its graph, and an error becomes
/// the host API's. `kernel` is the function, null where it is not known.
void run_program_grid(const KernelLaunch& launch, CUstream_st* stream, const void* kernel);

/// The name of a kernel that a launch has by a pointer: the program's symbol for it, else `otherwise`.
const char* name_of_kernel(const void* kernel, const char* otherwise);

/// A kernel and its arguments, as they are kept until all threads have run. `Kernel` gives what is called;
/// where it is of an empty type the compiler knows the kernel, and can put it in place of the call.
template <class Kernel, class... P>
struct LaunchPack {
  Kernel kernel;
  std::tuple<P...> arguments;

  static void run_threads(const void* bytes) {
    const auto& pack = *static_cast<const LaunchPack*>(bytes);
    do std::apply(pack.kernel, pack.arguments);
    while (start_next_thread());
  }
};

template <class Pack>
void launch_pack(LaunchKind kind, const char* name, const LaunchShape& shape, const Pack& pack,
                 const void* kernel) {
  run_program_grid(
      {kind, shape.grid, shape.block, shape.shared_bytes, name, &pack, sizeof pack, Pack::run_threads},
      shape.stream, kernel);
}

/// What a launch of a kernel with known parameters is called with.
template <class... P>
struct KernelOf {
  void (*kernel)(P...);
};
template <class... P>
KernelOf<P...> kernel_of(void (*kernel)(P...)) {
  return {kernel};
}

/// Calls what `Find` finds, where that needs nothing of the place of the launch.
template <class Find>
struct FoundKernel {
  Find find;
  template <class... A>
  void operator()(const A&... arguments) const {
    find().kernel(arguments...);
  }
};

/// A launch that has yet to be given its arguments, which are converted to the kernel's parameters.
template <class Find, class Known>
class PendingLaunch;

template <class Find, class... P>
class PendingLaunch<Find, KernelOf<P...>> {
 public:
  PendingLaunch(const char* name, const LaunchShape& shape, Find find)
      : name_(name), shape_(shape), find_(find) {}

  void operator()(P... arguments) const {
    if constexpr (std::is_empty_v<Find>)
      launch(FoundKernel<Find>{find_}, arguments...);
    else
      launch(find_().kernel, arguments...);
  }

 private:
  template <class Kernel>
  void launch(Kernel kernel, const P&... arguments) const {
    const auto* function = reinterpret_cast<const void*>(find_().kernel);
    launch_pack(LaunchKind::general, std::is_empty_v<Find> ? name_ : name_of_kernel(function, name_), shape_,
                LaunchPack<Kernel, P...>{kernel, {arguments...}}, function);
  }

  const char* name_;
  LaunchShape shape_;
  Find find_;
};

/// The same of a template whose arguments are deduced: `Call` is called with the launch's arguments.
template <class Call>
class DeducedLaunch {
 public:
  DeducedLaunch(const char* name, const LaunchShape& shape, Call call)
      : name_(name), shape_(shape), call_(call) {}

  template <class... A>
  void operator()(A&&... arguments) const {
    launch_pack(LaunchKind::general, name_, shape_,
                LaunchPack<Call, std::decay_t<A>...>{call_, {std::forward<A>(arguments)...}}, nullptr);
  }

 private:
  const char* name_;
  LaunchShape shape_;
  Call call_;
};

/// `find()` gives kernel_of(K) and is no valid call where K is a template whose arguments are deduced, or
/// overloaded; `call(args…)` calls K. Both come from the place of the launch.
template <class Find, class Call>
auto launch_syntax(const char* name, Find find, Call call, const LaunchShape& shape) {
  if constexpr (std::is_invocable_v<Find>)
    return PendingLaunch<Find, std::invoke_result_t<Find>>(name, shape, find);
  else
    return DeducedLaunch<Call>(name, shape, call);
}

}  // namespace treadle::TREADLE_TARGET
