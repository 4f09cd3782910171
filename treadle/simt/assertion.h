/// assert() in kernels.
#pragma once

#include <string>

namespace treadle::simt {

/// Asked about each assertion that fails, with its text as assert() prints it: does not return where a kernel
/// runs.
using AssertionHandler = void (*)(const char* file, unsigned line, const std::string& text);

/// `handler` is asked from now on, in any thread. At most two can be.
void on_failed_assertion(AssertionHandler handler);

}  // namespace treadle::simt
