/// Stopping long calls of the library by ^C.
#pragma once

#include <nanobind/nanobind.h>
#include <signal.h>

#include <exception>
#include <stop_token>

namespace treadle::python {

namespace nb = nanobind;

/// Around work that watches token(): while one lives in Python's main thread, SIGINT requests a stop beside
/// what Python does with it. After the work Python runs its handlers, mostly raising KeyboardInterrupt. One
/// that lies within another shares its token.
class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  std::stop_token token() const { return source_->get_token(); }
  /// Does the work without the GIL and returns what it gives; throws what was kept meanwhile, and what
  /// handlers raise.
  template <class Work>
  auto around(Work work) {
    auto result = [&] {
      nb::gil_scoped_release released;
      return work();
    }();
    finish();
    return result;
  }
  /// From within the work, with or without the GIL: runs Python's handlers of signals. What they raise is
  /// kept, and a stop is requested.
  void check_signals();
  /// Keeps the exception, and requests a stop.
  void stop_with(std::exception_ptr fault);

 private:
  void finish();
  void restore();

  std::stop_source own_;
  std::stop_source* source_ = &own_;
  bool installed_ = false;
  struct sigaction before_ {};
  std::exception_ptr fault_;
};

}  // namespace treadle::python
