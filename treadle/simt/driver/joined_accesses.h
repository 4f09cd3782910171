/// Accesses of one statement that the compiler has taken apart, and a GPU's would not have.
#pragma once

#include <string>
#include <string_view>

namespace treadle::simt::driver {

/// The compiler's assembly, in which the second call for a load and each one after it that the same place of
/// the source makes (`*p = make_float4(x, y, z, w)` makes four) is one of `__treadle_read4_more`: the
/// counters join those that lie side by side. Likewise stores.
std::string with_joined_accesses(std::string_view assembly);

}  // namespace treadle::simt::driver
