#include "treadle/simt/assertion.h"

#include <fmt/core.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace treadle::simt {
namespace {

std::array<std::atomic<AssertionHandler>, 2> handlers{};

}  // namespace

void on_failed_assertion(AssertionHandler handler) {
  for (auto& entry : handlers) {
    AssertionHandler none = nullptr;
    if (entry.load() == handler || entry.compare_exchange_strong(none, handler)) return;
  }
}

}  // namespace treadle::simt

#if defined(__GLIBC__)
/// What assert() calls, instead of the C library's: hidden, so only for what is linked with the executor.
extern "C" [[noreturn, gnu::visibility("hidden")]] void __assert_fail(const char* expression,
                                                                      const char* file, unsigned line,
                                                                      const char* function) noexcept {
  {
    const std::string text = fmt::format("{}:{}: {}: Assertion `{}' failed.", file, line,
                                         function == nullptr ? "?" : function, expression);
    for (const auto& handler : treadle::simt::handlers)
      if (const auto ask = handler.load()) ask(file, line, text);
    std::fputs((text + "\n").c_str(), stderr);
  }
  std::abort();
}
#endif
