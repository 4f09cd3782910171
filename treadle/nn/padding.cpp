#include "treadle/nn/padding.h"

#include <fmt/core.h>

#include "treadle/ops/layout/pad.h"

namespace treadle {
namespace {

std::string describe_pads(const char* name, const Pads& pads, const std::string& more = "") {
  return fmt::format("{}({} {} {} {}{})", name, pads.top, pads.left, pads.bottom, pads.right, more);
}

Dims before(const Pads& pads) { return {0, 0, pads.top, pads.left}; }
Dims after(const Pads& pads) { return {0, 0, pads.bottom, pads.right}; }

}  // namespace

Tensor ConstantPad2d::forward(const Tensor& x) { return pad(x, {before(padding_), after(padding_), value_}); }
std::string ConstantPad2d::describe() const {
  return describe_pads("ConstantPad2d", padding_, fmt::format(", {}", value_));
}

Tensor ReflectionPad2d::forward(const Tensor& x) { return pad_reflect(x, before(padding_), after(padding_)); }
std::string ReflectionPad2d::describe() const { return describe_pads("ReflectionPad2d", padding_); }

Tensor ReplicationPad2d::forward(const Tensor& x) {
  return pad_replicate(x, before(padding_), after(padding_));
}
std::string ReplicationPad2d::describe() const { return describe_pads("ReplicationPad2d", padding_); }

}  // namespace treadle
