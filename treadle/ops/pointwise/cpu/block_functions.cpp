#include "treadle/ops/pointwise/cpu/block_functions.h"

#include <unordered_map>

#include "treadle/core/error.h"

namespace treadle {
namespace {

/// Filled while ops are registered, and then only read.
std::unordered_map<std::string, BlockFunction>& block_functions() {
  static auto& functions = *new std::unordered_map<std::string, BlockFunction>;
  return functions;
}

}  // namespace

void add_block_function(const std::string& op, BlockFunction function) { block_functions()[op] = function; }

BlockFunction block_function_of(const std::string& op) {
  const auto found = block_functions().find(op);
  require<ValueError>(found != block_functions().end(), "{} is not taken into chains", op);
  return found->second;
}

}  // namespace treadle
