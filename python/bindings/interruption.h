/// Stopping long calls of the library by ^C.
#pragma once

#include <nanobind/nanobind.h>
#include <signal.h>

#include <exception>
#include <stop_token>

namespace treadle::python {

namespace nb = nanobind;

/// Around a call that watches token(): while one lives in Python's main thread, SIGINT requests a stop beside
/// what Python does with it. After the call finish() has Python run its handlers, mostly raising
/// KeyboardInterrupt. One that lies within another shares its token.
class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  std::stop_token token() const { return source_->get_token(); }
  /// From within the call, with or without the GIL: runs Python's handlers of signals. What they raise is
  /// kept for finish(), and a stop is requested.
  void check_signals();
  /// Requests a stop; finish() throws the exception.
  void stop_with(std::exception_ptr fault);
  /// With the GIL, once the call is done: throws what was kept, and what handlers raise.
  void finish();

 private:
  void restore();

  std::stop_source own_;
  std::stop_source* source_ = &own_;
  bool installed_ = false;
  struct sigaction before_ {};
  std::exception_ptr fault_;
};

}  // namespace treadle::python
