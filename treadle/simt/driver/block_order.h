/// In which order the stretches of a function's code come to be run.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace treadle::simt::driver {

/// The nodes of a graph with a way from node 0, in an order in which what can follow comes behind, but for
/// the ways back in loops; and each loop stands together, before what comes behind it. `successors[i]` are
/// those of node i.
std::vector<size_t> order_of_code(const std::vector<std::vector<size_t>>& successors);

/// The compiler's assembly with a table beside each function: which stretch of its code (those that
/// -fsanitize-coverage=trace-pc counts) comes first. The counters let lanes go on in that order, so that
/// lanes which have parted wait where their ways meet again (simt/profile/runtime/warp_trace.h). The order in
/// which the compiler lays out code is another: it puts what it thinks rare behind the end.
std::string with_block_order(std::string_view assembly);

}  // namespace treadle::simt::driver
