/// Bytes between shared variables that belong to none, so that a checker sees an index beyond one of them.
#pragma once

#include <string>
#include <string_view>

namespace treadle::simt::driver {

inline constexpr int kRedZoneBytes = 128;

/// The compiler's assembly with a zone before each thread-local variable, which keeps its alignment.
std::string with_red_zones(std::string_view assembly);

}  // namespace treadle::simt::driver
