#include "cli/save_interval.h"

#include <charconv>
#include <cmath>

#include "cli/option_checks.h"
#include "treadle/core/error.h"

namespace treadle::cli {

SaveInterval read_save_interval(const std::string& text) {
  double count = -1;
  const char* end = text.data() + text.size();
  auto [rest, code] = std::from_chars(text.data(), end, count);
  const bool seconds = std::string_view(rest, size_t(end - rest)) == "s";
  const bool steps = rest == end && count == std::floor(count) && count <= double(kMostCounted);
  require<ValueError>(code == std::errc() && std::isfinite(count) && count >= 0 && (seconds || steps),
                      "'{}' is neither a number of steps nor seconds as in 30s", text);
  return seconds ? SaveInterval{0, count} : SaveInterval{int64_t(count), 0};
}

OptionCheck save_interval() {
  return {[](std::string& text) -> std::string {
            try {
              read_save_interval(text);
              return "";
            } catch (const ValueError& error) {
              return error.what();
            }
          },
          "STEPS|SECONDSs"};
}

}  // namespace treadle::cli
